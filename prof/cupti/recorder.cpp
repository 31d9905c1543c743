#include "prof/cupti/recorder.hpp"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "prof/cupti/buffer_pool.hpp"
#include "prof/cupti/cupti_api.hpp"
#include "prof/cupti/cupti_version.hpp"
#include "prof/cupti/module_digests.hpp"
#include "prof/cupti/process_facts.hpp"
#include "prof/cupti/record_converter.hpp"
#include "prof/cupti/recorder_kinds.hpp"
#include "prof/cupti/recorder_settings.hpp"
#include "prof/cupti/resource_events.hpp"

namespace prof {
namespace {

constexpr auto kTick = std::chrono::milliseconds(500);
constexpr int kTicksPerClockPair = 2;
/// How long the end of the process waits for our thread.
constexpr auto kStopLimit = std::chrono::seconds(2);
constexpr uint32_t kFlushPeriodMs = 500;
/// Device memory for times: CUPTI's own default takes 100 000 operations per buffer and makes new
/// ones on the program's thread. Room for four times as many costs 13 MB a buffer.
constexpr size_t kDeviceBufferBytes = 12'800'000;
constexpr size_t kDeviceBufferLimit = 250;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

class Recorder {
 public:
  void start();

 private:
  // CUPTI's callbacks have no room for an object.
  static Recorder* instance_;

  bool set_up_cupti(const std::string& cupti, LogHeader& header);
  void set_attributes();
  bool subscribe();
  void enable_everything(bool latency, bool whole_graphs);
  bool succeeded(CUptiResult result, LogProblem::Kind kind, const char* subject, bool required);
  void start_thread();
  void tick_until_stopped() noexcept;
  void collect_dropped() noexcept;
  void flush_all(uint32_t flags) noexcept;
  void finish() noexcept;
  bool is_ours() const noexcept { return !in_child_ && ::getpid() == pid_; }

  void on_resource(CUpti_CallbackId id, const CUpti_ResourceData& data) noexcept;
  void on_buffer(uint8_t* buffer, size_t valid) noexcept;
  void settle() noexcept;
  void on_fatal(const CUpti_StateData& data) noexcept;

  static void CUPTIAPI request_buffer(uint8_t** buffer, size_t* size, size_t* max_records);
  static void CUPTIAPI complete_buffer(CUcontext context, uint32_t stream, uint8_t* buffer,
                                       size_t size, size_t valid);
  static void CUPTIAPI call_back(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                 const void* data);
  static const char* callback_name(CUpti_CallbackDomain domain, uint32_t id);

  CuptiApi cupti_;
  LogWriter log_;
  BufferPool buffers_;
  ModuleDigests modules_{log_};
  ResourceEvents resources_{cupti_, log_, modules_};
  std::optional<RecordConverter> converter_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  pid_t pid_ = 0;
  std::atomic<bool> in_child_{false};
  std::atomic<bool> finished_{false};
  std::atomic<int64_t> dropped_{0};

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  bool stopped_ = true;
  std::thread thread_;
};

Recorder* Recorder::instance_ = nullptr;

void Recorder::start() {
  const std::string folder = variable(kLogFolderVariable);
  if (folder.empty()) return;
  instance_ = this;
  pid_ = ::getpid();
  LogHeader header;
  header.pid = pid_;
  header.parent_pid = ::getppid();
  header.process_name = process_name();
  header.command = command_line();
  header.start = read_clocks();
  header.cupti_header_version = CUPTI_API_VERSION;
  header.latency = variable(kLatencyVariable) == "1";
  header.whole_graphs = variable(kWholeGraphsVariable) == "1";

  const std::string cupti = variable(kCuptiVariable);
  const std::string load_error =
      cupti.empty() ? std::string(kCuptiVariable) + " is not set" : load_cupti(cupti, cupti_);
  uint32_t version = 0;
  if (load_error.empty() && cupti_.get_version(&version) == CUPTI_SUCCESS) {
    header.cupti_version = version;
  }
  // Without a log there is no place for a complaint; whoever started us sees that it is missing.
  if (!log_.open(folder, header)) return;
  if (!load_error.empty()) {
    log_.write(LogProblem{LogProblem::Kind::kLoad, cupti, 0, load_error, true});
    log_.finish(0);
    return;
  }
  if (!is_usable(cupti_fit(version, CUPTI_API_VERSION))) {
    log_.write(LogProblem{LogProblem::Kind::kVersion, cupti, version,
                          "version " + cupti_version_text(version), true});
    log_.finish(0);
    return;
  }
  converter_.emplace(log_, pid_, &Recorder::callback_name);
  ::pthread_atfork([] { instance_->log_.lock(); }, [] { instance_->log_.unlock(); },
                   [] {
                     // The log and CUPTI's threads are the parent's.
                     instance_->in_child_ = true;
                     instance_->log_.drop_in_child();
                     instance_->log_.unlock();
                   });
  succeeded(cupti_.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM),
            LogProblem::Kind::kAttribute, "thread_id_type", true);
  // Before anything is enabled: a second subscriber must leave the process as it is.
  if (!subscribe()) {
    log_.finish(0);
    return;
  }
  set_attributes();
  if (!succeeded(cupti_.register_callbacks(&Recorder::request_buffer, &Recorder::complete_buffer),
                 LogProblem::Kind::kAttribute, "buffer_callbacks", true)) {
    log_.finish(0);
    return;
  }
  enable_everything(header.latency, header.whole_graphs);
  start_thread();
  std::atexit([] { instance_->finish(); });
  log_.flush();
}

/// Notes a call that failed.
bool Recorder::succeeded(CUptiResult result, LogProblem::Kind kind, const char* subject,
                         bool required) {
  if (result == CUPTI_SUCCESS) return true;
  const char* text = nullptr;
  cupti_.result_string(result, &text);
  log_.write(LogProblem{kind, subject, result, text == nullptr ? "" : text, required});
  return false;
}

void Recorder::set_attributes() {
  const auto set = [&](CUpti_ActivityAttribute attribute, auto value, const char* name) {
    size_t size = sizeof value;
    succeeded(cupti_.set_attribute(attribute, &size, &value), LogProblem::Kind::kAttribute, name,
              false);
  };
  set(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, kDeviceBufferBytes, "device_buffer_size");
  set(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, kDeviceBufferLimit, "device_buffer_limit");
  set(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, uint8_t{1}, "per_thread_buffers");
  // Ours are zeroed: CUPTI need not do it on the program's thread.
  set(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, uint8_t{1}, "zeroed_buffers");
}

bool Recorder::subscribe() {
  std::array<char, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN> other{};
  CUpti_SubscriberParams params{};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  params.subscriberName = "stwo-prof";
  params.oldSubscriberName = other.data();
  params.oldSubscriberSize = other.size();
  const CUptiResult result = cupti_.subscribe(&subscriber_, &Recorder::call_back, this, &params);
  if (result == CUPTI_SUCCESS) return true;
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    other.back() = '\0';
    log_.write(LogProblem{LogProblem::Kind::kSubscribe, "subscriber", result, other.data(), true});
    return false;
  }
  return succeeded(result, LogProblem::Kind::kSubscribe, "subscriber", true);
}

void Recorder::enable_everything(bool latency, bool whole_graphs) {
  if (latency) {
    succeeded(cupti_.enable_latency(1), LogProblem::Kind::kAttribute, "latency", true);
  }
  for (const ActivityKind& k : kKinds) {
    succeeded(cupti_.enable(k.kind), LogProblem::Kind::kEnable, k.name, k.required);
  }
  if (whole_graphs) {
    succeeded(cupti_.enable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE), LogProblem::Kind::kEnable,
              "graph_trace", true);
  }
  succeeded(cupti_.flush_period(kFlushPeriodMs), LogProblem::Kind::kAttribute, "flush_period",
            false);
  for (const ResourceCallback& c : kCallbacks) {
    succeeded(cupti_.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE, c.id),
              LogProblem::Kind::kCallback, c.name, c.required);
  }
  succeeded(
      cupti_.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR),
      LogProblem::Kind::kCallback, "fatal_error", false);
}

void Recorder::start_thread() {
  // Signals of the program are not for our thread.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  stopped_ = false;
  try {
    thread_ = std::thread([this] { tick_until_stopped(); });
    ::pthread_setname_np(thread_.native_handle(), "stwo-prof");
  } catch (const std::exception&) {
    stopped_ = true;
    log_.write(
        LogProblem{LogProblem::Kind::kRuntime, "thread", 0, "no thread for clock pairs", true});
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Recorder::tick_until_stopped() noexcept {
  std::unique_lock<std::mutex> lock(mutex_);
  for (int tick = 0; !stop_; ++tick) {
    lock.unlock();
    if (tick % kTicksPerClockPair == 0) log_.write(read_clocks());
    buffers_.prepare();
    modules_.work();
    // Hands over complete buffers that are not full: what the log misses if the process dies is
    // what happened since. CUPTI's own period returns full ones only.
    if (tick > 0) flush_all(0);
    collect_dropped();
    log_.flush();
    lock.lock();
    wake_.wait_for(lock, kTick, [this] { return stop_; });
  }
  stopped_ = true;
  wake_.notify_all();
}

void Recorder::collect_dropped() noexcept {
  size_t dropped = 0;
  if (cupti_.dropped_records(nullptr, 0, &dropped) == CUPTI_SUCCESS) {
    dropped_ += static_cast<int64_t>(dropped);
  }
}

void Recorder::flush_all(uint32_t flags) noexcept {
  // Before cuInit is through there is nothing to flush, and CUPTI says so.
  const CUptiResult result = cupti_.flush_all(flags);
  if (result == CUPTI_SUCCESS || result == CUPTI_ERROR_NOT_INITIALIZED) return;
  if (flags != 0) {
    log_.write(LogProblem{LogProblem::Kind::kRuntime, "flush", result, "", true});
  }
}

/// At the end of the process, before CUDA's own end.
void Recorder::finish() noexcept {
  if (!is_ours() || finished_) return;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    stop_ = true;
    wake_.notify_all();
    wake_.wait_for(lock, kStopLimit, [this] { return stopped_; });
  }
  if (thread_.joinable()) {
    if (stopped_) {
      thread_.join();
    } else {
      thread_.detach();
    }
  }
  flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  modules_.work();
  collect_dropped();
  log_.write(read_clocks());
  finished_ = true;
  log_.finish(dropped_);
}

void Recorder::request_buffer(uint8_t** buffer, size_t* size, size_t* max_records) {
  *max_records = 0;
  *buffer = instance_->buffers_.take();
  // Without memory CUPTI drops records and counts them.
  *size = *buffer == nullptr ? 0 : BufferPool::kBytes;
}

void Recorder::complete_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  instance_->on_buffer(buffer, valid);
}

void Recorder::on_buffer(uint8_t* buffer, size_t valid) noexcept {
  if (buffer == nullptr) return;
  if (!in_child_ && valid > 0) {
    CUpti_Activity* record = nullptr;
    CUptiResult result = CUPTI_SUCCESS;
    while ((result = cupti_.next_record(buffer, valid, &record)) == CUPTI_SUCCESS) {
      converter_->convert(record);
    }
    // A record that is incomplete or of no kind ends the buffer: those behind it are not readable.
    if (result != CUPTI_ERROR_MAX_LIMIT_REACHED) {
      log_.write(LogProblem{LogProblem::Kind::kRuntime, "next_record", result, "", true});
      log_.write(ledger::LossRow{"unreadable_buffer", 1});
    }
    log_.flush();
    settle();
  }
  buffers_.give_back(buffer, valid);
}

/// After rows that came behind our end, from what the program and the driver do while the process
/// ends: the log needs another trailer.
void Recorder::settle() noexcept {
  if (!finished_) return;
  modules_.work();
  log_.finish(dropped_);
}

void Recorder::on_resource(CUpti_CallbackId id, const CUpti_ResourceData& data) noexcept {
  resources_.add(pid_, id, data);
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
    // Times of the last context's work can't be had later. With other contexts alive a forced flush
    // would take records whose work is still going on.
    flush_all(resources_.contexts() <= 0 ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
  }
  settle();
}

const char* Recorder::callback_name(CUpti_CallbackDomain domain, uint32_t id) {
  const char* name = nullptr;
  return instance_->cupti_.callback_name(domain, id, &name) == CUPTI_SUCCESS ? name : nullptr;
}

void Recorder::call_back(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                         const void* data) {
  auto* recorder = static_cast<Recorder*>(self);
  if (recorder->in_child_ || data == nullptr) return;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    recorder->on_resource(id, *static_cast<const CUpti_ResourceData*>(data));
  } else if (domain == CUPTI_CB_DOMAIN_STATE) {
    recorder->on_fatal(*static_cast<const CUpti_StateData*>(data));
  }
}

void Recorder::on_fatal(const CUpti_StateData& data) noexcept {
  try {
    const char* text = data.notification.message;
    log_.write(LogProblem{LogProblem::Kind::kFatal, "cupti", data.notification.result,
                          text == nullptr ? "" : text, true});
  } catch (const std::exception&) {
    log_.write(ledger::LossRow{"recorder_memory", 1});
  }
  log_.flush();
}

}  // namespace

void start_recorder() noexcept {
  static std::atomic<bool> started{false};
  if (started.exchange(true)) return;
  try {
    // Lives as long as the process: CUPTI's threads and the end of other libraries still use it.
    static Recorder* const recorder = new Recorder;
    recorder->start();
  } catch (const std::exception&) {
    // No memory to begin with: the program runs unrecorded, and its log is missing or truncated.
    return;
  }
}

}  // namespace prof
