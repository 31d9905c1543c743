#include "kernels/emulator/emulator.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>

// AddressSanitizer must be told which stack is running.
#if defined(__SANITIZE_ADDRESS__)
#define STWO_EMULATOR_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STWO_EMULATOR_ASAN 1
#endif
#endif
#ifdef STWO_EMULATOR_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace stwo::gpu::emulator {

namespace detail {
constinit thread_local Position position{};
}

namespace {

using detail::position;

// Instrumented frames are several times larger.
#ifdef STWO_EMULATOR_ASAN
constexpr size_t kStackBytes = 256 * 1024;
#else
constexpr size_t kStackBytes = 64 * 1024;
#endif

struct RegisteredKernel {
  KernelInfo info;
  KernelRegistration::Function function;
};

// A function's static, because registrations run during static initialisation in any order.
std::map<std::string, RegisteredKernel, std::less<>>& registry() {
  static std::map<std::string, RegisteredKernel, std::less<>> kernels_by_name;
  return kernels_by_name;
}

std::atomic<uint64_t>& schedule_seed() {
  static std::atomic<uint64_t> seed = [] {
    const char* text = std::getenv("STWO_EMULATOR_SCHEDULE");
    return text == nullptr ? uint64_t{0} : std::strtoull(text, nullptr, 0);
  }();
  return seed;
}

// ---- Context switch
// ------------------------------------------------------------------------------

#if defined(__x86_64__)

/// Saved stack pointer; the registers that a call preserves lie on the stack it points at.
using Context = void*;

// Floating-point control words are left alone: kernels do not change them. It leaves by a jump: a
// return to another stack than the call's would always be mispredicted.
extern "C" void stwo_emulator_switch(Context* save, Context load);
asm(R"(
.pushsection .text
.p2align 4
.globl stwo_emulator_switch
.hidden stwo_emulator_switch
.type stwo_emulator_switch, @function
stwo_emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmp *%rcx
.size stwo_emulator_switch, .-stwo_emulator_switch
.popsection
)");

void switch_context(Context& save, Context& load) { stwo_emulator_switch(&save, load); }

/// The first switch to the result calls entry() on the stack [base, base + size).
void make_context(Context& context, char* base, size_t size, void (*entry)()) {
  // As after a call: the return address lies at the top, 8 bytes off a multiple of 16. It is zero,
  // so that debuggers stop there.
  auto* top = reinterpret_cast<uint64_t*>(base + size);
  *--top = 0;
  *--top = reinterpret_cast<uint64_t>(entry);
  for (int i = 0; i < 6; ++i) *--top = 0;
  context = top;
}

#else

using Context = ucontext_t;

void switch_context(Context& save, Context& load) { swapcontext(&save, &load); }

void make_context(Context& context, char* base, size_t size, void (*entry)()) {
  getcontext(&context);
  context.uc_stack.ss_sp = base;
  context.uc_stack.ss_size = size;
  context.uc_link = nullptr;
  makecontext(&context, entry, 0);
}

#endif

// ---- Stacks
// --------------------------------------------------------------------------------------

/// Stacks of one host thread, kept for its later launches. The last one given back is the first one
/// taken: a kernel without barriers runs all its threads on one warm stack.
class StackPool {
 public:
  StackPool() = default;
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool() {
    for (char* mapping : mappings_) munmap(mapping, page_ + kStackBytes);
  }
  char* take() {
    if (free_.empty()) add();
    char* stack = free_.back();
    free_.pop_back();
    return stack;
  }
  void give_back(char* stack) { free_.push_back(stack); }

 private:
  void add() {
    void* mapping = mmap(nullptr, page_ + kStackBytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    // An overflow hits the page below the stack instead of another thread's frames.
    if (mapping == MAP_FAILED || mprotect(mapping, page_, PROT_NONE) != 0) {
      std::fprintf(stderr, "emulator: no memory for the stack of a thread\n");
      std::abort();
    }
    mappings_.push_back(static_cast<char*>(mapping));
    free_.push_back(static_cast<char*>(mapping) + page_);
  }
  const size_t page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::vector<char*> mappings_;
  std::vector<char*> free_;
};

// ---- One block
// -----------------------------------------------------------------------------------

enum class State : uint8_t { kNew, kReady, kAtBlock, kAtWarp, kAtShuffle, kFinished };

const char* state_name(State state) {
  switch (state) {
    case State::kNew:
    case State::kReady: return "runs";
    case State::kAtBlock: return "waits in sync_block";
    case State::kAtWarp: return "waits in sync_warp";
    case State::kAtShuffle: return "waits in shuffle";
    case State::kFinished: return "has finished";
  }
  return "";
}

struct Fiber {
  Context context;
  char* stack = nullptr;
  State state = State::kNew;
  uint32_t value = 0;        // shuffle: what it gives, then what it gets
  uint32_t source_lane = 0;  // shuffle
#ifdef STWO_EMULATOR_ASAN
  void* fake_stack = nullptr;
#endif
};

/// SplitMix64: any seed gives a good sequence.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint32_t below(uint32_t bound) {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    // The bias is of no interest here.
    return static_cast<uint32_t>(((z >> 32) * bound) >> 32);
  }

 private:
  uint64_t state_;
};

/// The fibers of the calling host thread and the launch they run.
class Machine {
 public:
  void run(const RegisteredKernel& kernel, uint32_t grid_x, uint32_t grid_y, uint32_t threads,
           size_t shared_bytes, const void* args);
  void wait(State state);
  uint32_t shuffle(uint32_t value, uint32_t source_lane);
  [[noreturn]] void fail(const std::string& what, uint32_t thread) const;
  bool running() const { return kernel_ != nullptr; }

 private:
  static void fiber_entry();
  void enter_fiber();
  void run_block();
  void run_fiber(uint32_t thread);
  void leave_fiber(bool finished);
  /// Runs every thread of the warp up to its next barrier, then opens a warp barrier that all have
  /// reached. True while the warp can go on without the rest of the block.
  bool step_warp(uint32_t warp);
  void open_warp_barrier(uint32_t first, uint32_t count);
  [[noreturn]] void fail_divergence(uint32_t first, uint32_t count, const char* scope) const;
  /// 0 .. count-1 in the order that the schedule wants.
  void order(uint32_t count, std::vector<uint32_t>& out);

  const RegisteredKernel* kernel_ = nullptr;
  const void* args_ = nullptr;
  uint64_t seed_ = 0;
  Random random_{0};
  StackPool stacks_;
  std::vector<Fiber> fibers_;
  std::vector<uint32_t> lanes_, warps_;
  Context scheduler_{};
#ifdef STWO_EMULATOR_ASAN
  void* scheduler_fake_stack_ = nullptr;
  const void* scheduler_stack_ = nullptr;
  size_t scheduler_stack_size_ = 0;
#endif
};

Machine& machine() {
  thread_local Machine instance;
  return instance;
}

void Machine::fail(const std::string& what, uint32_t thread) const {
  std::fprintf(stderr, "emulator: kernel %s, block (%u, %u), thread %u: %s\n",
               kernel_ == nullptr ? "(none running)" : kernel_->info.name.c_str(), position.block,
               position.block_y, thread, what.c_str());
  std::fflush(stderr);
  std::abort();
}

void Machine::order(uint32_t count, std::vector<uint32_t>& out) {
  out.resize(count);
  for (uint32_t i = 0; i < count; ++i) out[i] = seed_ == 1 ? count - 1 - i : i;
  if (seed_ <= 1) return;
  for (uint32_t i = count; i > 1; --i) std::swap(out[i - 1], out[random_.below(i)]);
}

// Not instrumented: this frame never returns, so nothing would clear its marks before the stack's
// next use.
#if defined(STWO_EMULATOR_ASAN)
__attribute__((no_sanitize("address")))
#endif
void Machine::fiber_entry() {
  Machine& self = machine();
  self.enter_fiber();
  self.leave_fiber(true);
}

void Machine::enter_fiber() {
#ifdef STWO_EMULATOR_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack_, &scheduler_stack_size_);
#endif
  kernel_->function(args_);
}

#if defined(STWO_EMULATOR_ASAN)
__attribute__((no_sanitize("address")))
#endif
void Machine::leave_fiber(bool finished) {
  Fiber& fiber = fibers_[position.thread];
  if (finished) fiber.state = State::kFinished;
#ifdef STWO_EMULATOR_ASAN
  __sanitizer_start_switch_fiber(finished ? nullptr : &fiber.fake_stack, scheduler_stack_,
                                 scheduler_stack_size_);
#endif
  switch_context(fiber.context, scheduler_);
#ifdef STWO_EMULATOR_ASAN
  __sanitizer_finish_switch_fiber(fiber.fake_stack, &scheduler_stack_, &scheduler_stack_size_);
#endif
}

void Machine::run_fiber(uint32_t thread) {
  Fiber& fiber = fibers_[thread];
  if (fiber.state == State::kNew) {
    fiber.stack = stacks_.take();
    // Stacks are a power of two apart: without the offset all top frames would share cache sets.
    const size_t offset = thread % kWarpSize * 192;
    make_context(fiber.context, fiber.stack, kStackBytes - offset, &Machine::fiber_entry);
  }
  fiber.state = State::kReady;
  position.thread = thread;
#ifdef STWO_EMULATOR_ASAN
  __sanitizer_start_switch_fiber(&scheduler_fake_stack_, fiber.stack, kStackBytes);
#endif
  switch_context(scheduler_, fiber.context);
#ifdef STWO_EMULATOR_ASAN
  __sanitizer_finish_switch_fiber(scheduler_fake_stack_, nullptr, nullptr);
#endif
  if (fiber.state == State::kFinished) {
    stacks_.give_back(fiber.stack);
    fiber.stack = nullptr;
  }
}

void Machine::wait(State state) {
  fibers_[position.thread].state = state;
  leave_fiber(false);
}

uint32_t Machine::shuffle(uint32_t value, uint32_t source_lane) {
  Fiber& fiber = fibers_[position.thread];
  fiber.value = value;
  fiber.source_lane = source_lane;
  wait(State::kAtShuffle);
  return fiber.value;
}

void Machine::fail_divergence(uint32_t first, uint32_t count, const char* scope) const {
  // Name the first waiting thread and the first one that is somewhere else.
  uint32_t waiting = first;
  while (fibers_[waiting].state == State::kFinished) ++waiting;
  uint32_t other = first;
  while (other < first + count && fibers_[other].state == fibers_[waiting].state) ++other;
  fail("barrier divergence in the " + std::string(scope) + ": it " +
           state_name(fibers_[waiting].state) + " while thread " + std::to_string(other) + " " +
           state_name(fibers_[other].state),
       waiting);
}

void Machine::open_warp_barrier(uint32_t first, uint32_t count) {
  if (fibers_[first].state == State::kAtShuffle) {
    uint32_t given[kWarpSize];
    for (uint32_t i = 0; i < count; ++i) given[i] = fibers_[first + i].value;
    for (uint32_t i = 0; i < count; ++i) {
      Fiber& fiber = fibers_[first + i];
      if (fiber.source_lane >= count)
        fail("shuffle reads lane " + std::to_string(fiber.source_lane) + " of a warp of " +
                 std::to_string(count),
             first + i);
      fiber.value = given[fiber.source_lane];
    }
  }
  for (uint32_t i = 0; i < count; ++i) fibers_[first + i].state = State::kReady;
}

bool Machine::step_warp(uint32_t warp) {
  const uint32_t first = warp * kWarpSize;
  const uint32_t count = std::min(kWarpSize, position.threads - first);
  const auto run_ready = [&](uint32_t lane) {
    const State state = fibers_[first + lane].state;
    if (state == State::kNew || state == State::kReady) run_fiber(first + lane);
  };
  if (seed_ == 0) {
    for (uint32_t lane = 0; lane < count; ++lane) run_ready(lane);
  } else {
    order(count, lanes_);
    for (uint32_t lane : lanes_) run_ready(lane);
  }
  uint32_t at_warp = 0;
  bool mixed = false;
  for (uint32_t i = 0; i < count; ++i) {
    const State state = fibers_[first + i].state;
    at_warp += state == State::kAtWarp || state == State::kAtShuffle;
    mixed |= state != fibers_[first].state;
  }
  if (at_warp == 0) return false;
  if (mixed) fail_divergence(first, count, "warp");
  open_warp_barrier(first, count);
  return true;
}

void Machine::run_block() {
  const uint32_t threads = position.threads;
  const uint32_t n_warps = (threads + kWarpSize - 1) / kWarpSize;
  for (uint32_t i = 0; i < threads; ++i) fibers_[i].state = State::kNew;
  for (;;) {
    // Warps take turns, so that a pseudo-random schedule interleaves them between warp barriers.
    for (bool any = true; any;) {
      any = false;
      order(n_warps, warps_);
      for (uint32_t warp : warps_) any |= step_warp(warp);
    }
    uint32_t finished = 0;
    for (uint32_t i = 0; i < threads; ++i) finished += fibers_[i].state == State::kFinished;
    if (finished == threads) return;
    if (finished != 0) fail_divergence(0, threads, "block");
    for (uint32_t i = 0; i < threads; ++i) fibers_[i].state = State::kReady;
  }
}

void Machine::run(const RegisteredKernel& kernel, uint32_t grid_x, uint32_t grid_y,
                  uint32_t threads, size_t shared_bytes, const void* args) {
  kernel_ = &kernel;
  args_ = args;
  seed_ = schedule_seed().load(std::memory_order_relaxed);
  random_ = Random(seed_);
  if (fibers_.size() < threads) fibers_.resize(threads);

  // Exactly as long as the launch said, so that AddressSanitizer sees accesses past its end.
  struct Release {
    void operator()(void* p) const { ::operator delete (p, std::align_val_t{16}); }
  };
  std::unique_ptr<void, Release> shared;
  if (shared_bytes != 0) shared.reset(::operator new (shared_bytes, std::align_val_t{16}));
  position = {0, threads, 0, 0, grid_x, grid_y, shared_bytes, shared.get()};

  const uint64_t n_blocks = uint64_t{grid_x} * grid_y;
  // A bijection of the block numbers without a table: i * step + start with an odd step would need
  // a power of two, so numbers outside the grid are skipped.
  uint64_t span = 1;
  while (span < n_blocks) span *= 2;
  const uint64_t step = seed_ > 1 ? uint64_t{random_.below(1u << 30)} * 2 + 1 : 1;
  const uint64_t start = seed_ > 1 ? random_.below(1u << 30) : 0;
  for (uint64_t i = 0; i < span; ++i) {
    uint64_t block = (i * step + start) & (span - 1);
    if (block >= n_blocks) continue;
    if (seed_ == 1) block = n_blocks - 1 - block;
    if (shared_bytes != 0) std::memset(shared.get(), kSharedPoison, shared_bytes);
    position.block = static_cast<uint32_t>(block % grid_x);
    position.block_y = static_cast<uint32_t>(block / grid_x);
    run_block();
  }
  position = {};
  kernel_ = nullptr;
}

[[noreturn]] void fail_launch(std::string_view name, const std::string& what) {
  std::fprintf(stderr, "emulator: launch of %.*s: %s\n", static_cast<int>(name.size()), name.data(),
               what.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace

namespace detail {

void fail_shared(size_t size) {
  machine().fail("uses " + std::to_string(size) + " bytes of shared memory; the launch gave " +
                     std::to_string(position.shared_size),
                 position.thread);
}

void fail_alignment(const void* address, size_t alignment) {
  char text[96];
  std::snprintf(text, sizeof(text), "address %p is not a multiple of %zu", address, alignment);
  machine().fail(text, position.thread);
}

}  // namespace detail

KernelRegistration::KernelRegistration(const char* name, size_t args_size, uint32_t max_threads,
                                       Function function) {
  const bool added =
      registry()
          .try_emplace(name, RegisteredKernel{{name, args_size, max_threads}, function})
          .second;
  if (!added) fail_launch(name, "two kernels have this name");
}

std::vector<KernelInfo> kernels() {
  std::vector<KernelInfo> out;
  for (const auto& [name, kernel] : registry()) out.push_back(kernel.info);
  return out;
}

const KernelInfo* find_kernel(std::string_view name) {
  const auto found = registry().find(name);
  return found == registry().end() ? nullptr : &found->second.info;
}

void launch(std::string_view name, uint32_t grid_x, uint32_t grid_y, uint32_t threads,
            size_t shared_bytes, const void* args) {
  const auto found = registry().find(name);
  if (found == registry().end()) fail_launch(name, "no kernel of this name is linked");
  const KernelInfo& info = found->second.info;
  if (threads == 0 || threads > info.max_threads || threads > kMaxThreads)
    fail_launch(name, std::to_string(threads) + " threads per block; the kernel allows " +
                          std::to_string(info.max_threads));
  if (grid_x == 0 || grid_x > 0x7fffffffu || grid_y == 0 || grid_y > 65535)
    fail_launch(name, "grid of " + std::to_string(grid_x) + " x " + std::to_string(grid_y) +
                          " blocks is empty or too large");
  if (machine().running()) fail_launch(name, "launched from inside a kernel");
  machine().run(found->second, grid_x, grid_y, threads, shared_bytes, args);
}

void set_schedule(uint64_t seed) { schedule_seed().store(seed, std::memory_order_relaxed); }
uint64_t schedule() { return schedule_seed().load(std::memory_order_relaxed); }

void sync_block() { machine().wait(State::kAtBlock); }
void sync_warp() { machine().wait(State::kAtWarp); }
uint32_t shuffle(uint32_t value, uint32_t source_lane) {
  return machine().shuffle(value, source_lane);
}

}  // namespace stwo::gpu::emulator
