#include "prof/target/process_group.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <string_view>
#include <system_error>

#include "prof/target/programs.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

extern char**
    environ;  // NOLINT(readability-redundant-declaration): unistd.h has it as an extension

namespace prof {
namespace {

/// How long a process that was killed may take to go.
constexpr int64_t kGoneNs = 5'000'000'000;

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  out.reserve(strings.size() + 1);
  for (const std::string& s : strings) out.push_back(const_cast<char*>(s.c_str()));
  out.push_back(nullptr);
  return out;
}

/// Attributes and file actions of posix_spawn.
class SpawnSettings {
 public:
  SpawnSettings(int stdout_fd, int stderr_fd) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, stdout_fd, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, stderr_fd, STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes_, 0);
    // We ignore SIGPIPE; and TERM must be able to end it.
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGTERM);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  int spawn(pid_t* pid, const std::string& program, const std::vector<std::string>& command,
            const std::vector<std::string>& environment) const {
    return ::posix_spawn(pid, program.c_str(), &actions_, &attributes_, pointers(command).data(),
                         pointers(environment).data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::vector<std::string> target_environment(
    const std::vector<std::pair<std::string, std::string>>& set,
    const std::vector<std::string>& unset) {
  const auto replaced = [&](std::string_view name) {
    return std::find(unset.begin(), unset.end(), name) != unset.end() ||
           std::any_of(set.begin(), set.end(), [&](const auto& s) { return s.first == name; });
  };
  std::vector<std::string> out;
  for (char** line = environ; line != nullptr && *line != nullptr; ++line) {
    const std::string_view text(*line);
    if (!replaced(text.substr(0, text.find('=')))) out.emplace_back(text);
  }
  for (const auto& [name, value] : set) {
    STWO_CHECK(!name.empty() && name.find('=') == std::string::npos,
               "a variable's name is empty or has an equals sign");
    out.push_back(name + "=" + value);
  }
  return out;
}

ProcessGroup::ProcessGroup(const std::string& program, const std::vector<std::string>& command,
                           const std::vector<std::string>& environment, int stdout_fd,
                           int stderr_fd)
    : ended_(make_pipe()) {
  const int error = SpawnSettings(stdout_fd, stderr_fd).spawn(&pid_, program, command, environment);
  if (error == ENOEXEC || error == EACCES || error == ENOENT) {
    not_a_program(program, std::strerror(error),
                  "give a program this machine can run; a script needs a #! line");
  }
  if (error != 0) {
    throw stwo::EnvironmentError("TARGET_START", "cannot start " + stwo::one_line(program) + ": " +
                                                     std::strerror(error) +
                                                     "; free memory or processes, or shorten the "
                                                     "command");
  }
  // Orphans of the group come to us, so that we know when they are gone.
  ::prctl(PR_GET_CHILD_SUBREAPER, &previous_subreaper_);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // The program stays a zombie: as long as it is one, nobody else gets the group's number.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    waiter_ = std::thread([this] { wait_for_end(); });
  } catch (const std::system_error& e) {
    // There is no destructor to end it.
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::prctl(PR_SET_CHILD_SUBREAPER, previous_subreaper_);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw stwo::EnvironmentError("TARGET_START", std::string("cannot start a thread: ") + e.what() +
                                                     "; free some processes");
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ProcessGroup::wait_for_end() {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) != 0 &&
         errno == EINTR) {
  }
  end_ns_ = monotonic_ns();
  ended_.write.close();
}

ProcessGroup::~ProcessGroup() {
  if (finished_) return;
  signal(SIGKILL);
  finish(0, [] {});
}

void ProcessGroup::signal(int number) const {
  ::kill(-pid_, number);
  // A stopped process takes no other signal.
  if (number != SIGKILL) ::kill(-pid_, SIGCONT);
}

int ProcessGroup::finish(int64_t deadline_ns, const std::function<void()>& pause) {
  waiter_.join();
  finished_ = true;
  bool killed = monotonic_ns() >= deadline_ns;
  if (killed) ::kill(-pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  // Children that came to us when their parent ended, then members whose parent left the group. As
  // long as one is alive the group's number is taken; an empty group gets signal 0 only.
  std::exception_ptr failure;
  const int64_t give_up_ns = std::max(deadline_ns, monotonic_ns()) + kGoneNs;
  while (monotonic_ns() < give_up_ns) {
    const pid_t one = ::waitpid(-pid_, nullptr, WNOHANG);
    if (one > 0) continue;
    if (one < 0 && ::kill(-pid_, 0) != 0) break;
    if (!killed && monotonic_ns() >= deadline_ns) {
      ::kill(-pid_, SIGKILL);
      killed = true;
    }
    try {
      if (!failure) pause();
    } catch (...) {
      failure = std::current_exception();
      ::kill(-pid_, SIGKILL);
    }
    ::poll(nullptr, 0, 2);
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, previous_subreaper_);
  if (failure) std::rethrow_exception(failure);
  return status;
}

}  // namespace prof
