#include "prof/target/signal_relay.hpp"

#include <fcntl.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "prover/errors.hpp"

namespace prof {
namespace {

// What a signal handler may touch.
std::atomic<int> relay_fd{-1};
static_assert(std::atomic<int>::is_always_lock_free);

void relay(int signal) {
  const int saved = errno;
  const int fd = relay_fd.load();
  const auto byte = static_cast<unsigned char>(signal);
  // A full pipe holds thousands of requests to stop already.
  if (fd >= 0 && ::write(fd, &byte, 1) < 0) errno = saved;
  errno = saved;
}

}  // namespace

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw stwo::EnvironmentError("TARGET_START", std::string("cannot make a pipe: ") +
                                                     std::strerror(errno) +
                                                     "; raise the limit on open files (ulimit -n)");
  }
  Pipe out{FileHandle(ends[0]), FileHandle(ends[1])};
  for (FileHandle* end : {&out.read, &out.write}) {
    if (end->get() > 2) continue;
    const int moved = ::fcntl(end->get(), F_DUPFD_CLOEXEC, 3);
    if (moved < 0) {
      throw stwo::EnvironmentError("TARGET_START",
                                   std::string("cannot make a pipe: ") + std::strerror(errno) +
                                       "; raise the limit on open files (ulimit -n)");
    }
    *end = FileHandle(moved);
  }
  return out;
}

SignalRelay::SignalRelay() : pipe_(make_pipe()) {
  for (const FileHandle* end : {&pipe_.read, &pipe_.write}) {
    ::fcntl(end->get(), F_SETFL, O_NONBLOCK);
  }
  int free = -1;
  STWO_CHECK(relay_fd.compare_exchange_strong(free, pipe_.write.get()),
             "two programs are run at the same time");
  struct sigaction caught = {};
  caught.sa_handler = relay;
  caught.sa_flags = SA_RESTART;
  sigemptyset(&caught.sa_mask);
  for (size_t i = 0; i < std::size(kCaught); ++i) {
    ::sigaction(kCaught[i], nullptr, &previous_[i]);
    if (previous_[i].sa_handler != SIG_IGN) ::sigaction(kCaught[i], &caught, nullptr);
  }
  struct sigaction ignored = {};
  ignored.sa_handler = SIG_IGN;
  sigemptyset(&ignored.sa_mask);
  ::sigaction(SIGPIPE, &ignored, &previous_pipe_);
}

SignalRelay::~SignalRelay() {
  for (size_t i = 0; i < std::size(kCaught); ++i) ::sigaction(kCaught[i], &previous_[i], nullptr);
  ::sigaction(SIGPIPE, &previous_pipe_, nullptr);
  relay_fd.store(-1);
}

std::optional<int> SignalRelay::take() {
  unsigned char byte = 0;
  if (::read(pipe_.read.get(), &byte, 1) != 1) return std::nullopt;
  return byte;
}

}  // namespace prof
