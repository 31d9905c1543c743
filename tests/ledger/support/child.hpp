// Work in a child process: to kill it, to limit it, or to let it meet another one.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace ledger::test {

/// A forked process that runs `work` and ends without running anything else. What `work` throws is
/// the end of its output: "CODE message". Killed and waited for by the destructor.
class Child {
 public:
  /// `work` gets a descriptor whose other end is read by read_all() or read_some().
  explicit Child(const std::function<void(int output)>& work);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  /// Everything the child writes until it ends.
  std::string read_all();
  /// Up to `n` bytes, as many as come within the time; less: the child has ended, or time is up.
  std::string read_some(size_t n, int timeout_ms);
  /// SIGKILL.
  void kill();
  /// Waits for the end. True: it came to the end of `work`, or `work` threw.
  bool wait();

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  bool ended_ = false;
  bool well_ = false;
};

/// Runs `work` in a child, returns what it wrote: its return value, or "CODE message" of what it
/// threw, or "crashed".
std::string in_child(const std::function<std::string()>& work);

/// Writes all of a text; for `work`.
void write_all(int output, const std::string& text);

}  // namespace ledger::test
