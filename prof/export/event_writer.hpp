// Writes the events of Chrome's trace format, which ui.perfetto.dev opens. Internal to the folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "prof/export/text.hpp"

namespace prof {

/// A row of the viewer.
struct Track {
  int64_t pid = 0;
  int64_t tid = 0;
};

/// One file: the events in the order of the calls. Names and arguments are JSON already: names
/// strings with quotes, arguments the members of an object (may be empty).
class EventWriter {
 public:
  /// Times in the file count from `origin_ns`; no event lies before it.
  EventWriter(TextSink sink, int64_t origin_ns);

  void process_name(int64_t pid, std::string_view name, int64_t sort_index);
  /// A new track. Its number is unique in the file: viewers take equal numbers for one thread.
  Track track(int64_t pid, std::string_view name);

  void slice(const Track& track, std::string_view name, std::string_view category, int64_t start_ns,
             int64_t end_ns, std::string_view args);
  void instant(const Track& track, std::string_view name, std::string_view category, int64_t ns,
               std::string_view args);
  /// Both ends of an arrow; each lies in a slice of its track.
  void flow(int64_t id, const Track& from, int64_t from_ns, const Track& to, int64_t to_ns);
  void counter(int64_t pid, std::string_view name, int64_t ns, std::string_view args);

  /// Ends the file; `other_data` is a JSON object about it.
  void finish(std::string_view other_data);

 private:
  /// Begins an event: its phase and place.
  void begin(std::string_view phase, int64_t pid, int64_t tid);
  void time(std::string_view key, int64_t ns);
  /// Ends an event.
  void end();

  TextSink sink_;
  int64_t origin_ns_;
  std::string buffer_;
  bool first_ = true;
  int64_t tracks_ = 0;
};

}  // namespace prof
