#include "tests/ledger/support/child.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <exception>
#include <stdexcept>

#include "prover/errors.hpp"

namespace ledger::test {

void write_all(int output, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(output, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) ::_exit(3);
    if (n > 0) done += static_cast<size_t>(n);
  }
}

Child::Child(const std::function<void(int output)>& work) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("no child process");
  if (pid_ == 0) {
    ::close(ends[0]);
    try {
      work(ends[1]);
    } catch (const stwo::Error& e) {
      write_all(ends[1], e.code() + " " + e.what());
    } catch (const std::exception& e) {
      write_all(ends[1], std::string("exception ") + e.what());
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  input_ = ends[0];
}

Child::~Child() {
  kill();
  wait();
  ::close(input_);
}

std::string Child::read_all() {
  std::string out;
  for (;;) {
    std::array<char, 4096> buffer;
    const ssize_t n = ::read(input_, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return out;
    out.append(buffer.data(), static_cast<size_t>(n));
  }
}

std::string Child::read_some(size_t n, int timeout_ms) {
  std::string out;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  while (out.size() < n) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd wanted{input_, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return out;
    std::string part(n - out.size(), '\0');
    const ssize_t got = ::read(input_, part.data(), part.size());
    if (got <= 0) return out;
    out.append(part, 0, static_cast<size_t>(got));
  }
  return out;
}

void Child::kill() {
  if (!ended_) ::kill(pid_, SIGKILL);
}

bool Child::wait() {
  if (ended_) return well_;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  ended_ = true;
  well_ = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return well_;
}

std::string in_child(const std::function<std::string()>& work) {
  Child child([&](int output) { write_all(output, work()); });
  const std::string out = child.read_all();
  return child.wait() ? out : out + "crashed";
}

}  // namespace ledger::test
