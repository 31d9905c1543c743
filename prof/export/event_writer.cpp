#include "prof/export/event_writer.hpp"

#include <utility>

#include "prover/errors.hpp"

namespace prof {
namespace {

constexpr size_t kBufferBytes = size_t{64} << 10;

/// Microseconds with three decimals.
void append_us(std::string& out, int64_t ns) {
  STWO_CHECK(ns >= 0, "an event lies before the begin of the trace");
  out += std::to_string(ns / 1000);
  const std::string rest = std::to_string(1000 + ns % 1000);
  out += '.';
  out.append(rest, 1, 3);
}

}  // namespace

EventWriter::EventWriter(TextSink sink, int64_t origin_ns)
    : sink_(std::move(sink)), origin_ns_(origin_ns) {
  buffer_ = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
}

void EventWriter::begin(std::string_view phase, int64_t pid, int64_t tid) {
  buffer_ += first_ ? "\n" : ",\n";
  first_ = false;
  buffer_ += "{\"ph\":\"";
  buffer_ += phase;
  buffer_ += "\",\"pid\":" + std::to_string(pid) + ",\"tid\":" + std::to_string(tid);
}

void EventWriter::time(std::string_view key, int64_t ns) {
  buffer_ += ",\"";
  buffer_ += key;
  buffer_ += "\":";
  append_us(buffer_, ns);
}

void EventWriter::end() {
  buffer_ += '}';
  if (buffer_.size() < kBufferBytes) return;
  sink_(buffer_);
  buffer_.clear();
}

void EventWriter::process_name(int64_t pid, std::string_view name, int64_t sort_index) {
  begin("M", pid, 0);
  buffer_ += ",\"name\":\"process_name\",\"args\":{\"name\":" + text::json_string(name) + "}";
  end();
  begin("M", pid, 0);
  buffer_ +=
      ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":" + std::to_string(sort_index) +
      "}";
  end();
}

Track EventWriter::track(int64_t pid, std::string_view name) {
  const Track track{pid, ++tracks_};
  begin("M", track.pid, track.tid);
  buffer_ += ",\"name\":\"thread_name\",\"args\":{\"name\":" + text::json_string(name) + "}";
  end();
  begin("M", track.pid, track.tid);
  buffer_ +=
      ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":" + std::to_string(track.tid) + "}";
  end();
  return track;
}

void EventWriter::slice(const Track& track, std::string_view name, std::string_view category,
                        int64_t start_ns, int64_t end_ns, std::string_view args) {
  begin("X", track.pid, track.tid);
  buffer_ += ",\"name\":";
  buffer_ += name;
  buffer_ += ",\"cat\":\"";
  buffer_ += category;
  buffer_ += '"';
  time("ts", start_ns - origin_ns_);
  time("dur", end_ns - start_ns);
  buffer_ += ",\"args\":{";
  buffer_ += args;
  buffer_ += '}';
  end();
}

void EventWriter::instant(const Track& track, std::string_view name, std::string_view category,
                          int64_t ns, std::string_view args) {
  begin("i", track.pid, track.tid);
  buffer_ += ",\"s\":\"t\",\"name\":";
  buffer_ += name;
  buffer_ += ",\"cat\":\"";
  buffer_ += category;
  buffer_ += '"';
  time("ts", ns - origin_ns_);
  buffer_ += ",\"args\":{";
  buffer_ += args;
  buffer_ += '}';
  end();
}

void EventWriter::flow(int64_t id, const Track& from, int64_t from_ns, const Track& to,
                       int64_t to_ns) {
  const std::string tail = ",\"name\":\"launch\",\"cat\":\"launch\",\"id\":" + std::to_string(id);
  begin("s", from.pid, from.tid);
  buffer_ += tail;
  time("ts", from_ns - origin_ns_);
  end();
  begin("f", to.pid, to.tid);
  // "e": it ends at the slice around it, not at the next one.
  buffer_ += tail + ",\"bp\":\"e\"";
  time("ts", to_ns - origin_ns_);
  end();
}

void EventWriter::counter(int64_t pid, std::string_view name, int64_t ns, std::string_view args) {
  begin("C", pid, 0);
  buffer_ += ",\"name\":";
  buffer_ += name;
  time("ts", ns - origin_ns_);
  buffer_ += ",\"args\":{";
  buffer_ += args;
  buffer_ += '}';
  end();
}

void EventWriter::finish(std::string_view other_data) {
  buffer_ += "\n],\"otherData\":";
  buffer_ += other_data;
  buffer_ += "}\n";
  sink_(buffer_);
  buffer_.clear();
}

}  // namespace prof
