// Collects the buffers, constants and launches of a plan while it is compiled.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/abi/transcript_args.hpp"
#include "kernels/plan/cuda_plan.hpp"
#include "prover/errors.hpp"

namespace stwo::gpu {

/// Bytes with addresses in them, under construction. T is a kernel's argument struct or a
/// descriptor.
template <class T>
class Relocatable {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // Padding must not differ from run to run: plans are compared and digested.
  Relocatable() { std::memset(static_cast<void*>(&value_), 0, sizeof(T)); }
  T* operator->() { return &value_; }
  T& operator*() { return value_; }
  /// `field` is a pointer member of this value.
  template <class P>
  void point(P*& field, BufferRef target) {
    const auto at = reinterpret_cast<const char*>(&field) - reinterpret_cast<const char*>(&value_);
    relocations.push_back({static_cast<uint32_t>(at), target});
  }
  std::vector<uint8_t> bytes() const {
    std::vector<uint8_t> out(sizeof(T));
    std::memcpy(out.data(), &value_, sizeof(T));
    return out;
  }
  std::vector<Relocation> relocations;

 private:
  T value_;
};

/// How many blocks `items` items take.
inline uint64_t blocks_for(uint64_t items, uint64_t per_block) {
  return (items + per_block - 1) / per_block;
}

/// Columns of equal length, `stride` words apart.
struct Columns {
  uint32_t buffer = 0;
  uint64_t first = 0;  ///< word of the first column's first row
  uint64_t stride = 0;
  uint32_t count = 0;
  BufferRef at(uint64_t column, uint64_t row) const {
    return {buffer, 4 * (first + column * stride + row)};
  }
  BufferRef row(uint64_t r) const { return at(0, r); }
};

struct Geometry {
  uint64_t grid_x = 1;
  uint64_t grid_y = 1;
  uint32_t threads = 256;
  uint32_t shared_bytes = 0;
};

/// Arguments of one launch and what it reads and writes.
template <class Args>
class LaunchArgs : public Relocatable<Args> {
 public:
  template <class P>
  void read(P*& field, BufferRef target, uint64_t bytes) {
    this->point(field, target);
    touch(target.buffer, bytes, 0);
  }
  template <class P>
  void write(P*& field, BufferRef target, uint64_t bytes) {
    this->point(field, target);
    touch(target.buffer, 0, bytes);
  }
  template <class P>
  void update(P*& field, BufferRef target, uint64_t read_bytes, uint64_t written_bytes) {
    this->point(field, target);
    touch(target.buffer, read_bytes, written_bytes);
  }
  void touch(uint32_t buffer, uint64_t read_bytes, uint64_t written_bytes) {
    for (BufferUse& u : uses) {
      if (u.buffer == buffer) {
        u.read_bytes += read_bytes;
        u.written_bytes += written_bytes;
        return;
      }
    }
    uses.push_back({buffer, read_bytes, written_bytes});
  }
  std::vector<BufferUse> uses;
};

class PlanBuilder {
 public:
  explicit PlanBuilder(CudaPlan& plan) : plan_(plan) {}

  uint32_t buffer(std::string name, Region region, uint64_t bytes);

  /// A constant block of `values`.
  template <class T>
  BufferRef constant(const std::string& name, const std::vector<Relocatable<T>>& values) {
    std::vector<uint8_t> bytes;
    std::vector<Relocation> relocations;
    for (const auto& v : values) {
      const auto at = static_cast<uint32_t>(bytes.size());
      const auto own = v.bytes();
      bytes.insert(bytes.end(), own.begin(), own.end());
      for (Relocation r : v.relocations) {
        r.at += at;
        relocations.push_back(r);
      }
    }
    return add_constant(name, std::move(bytes), std::move(relocations));
  }
  BufferRef constant_words(const std::string& name, const std::vector<uint32_t>& words);

  /// Launches go to the preparation while true.
  bool preparing = false;
  /// Program node being compiled, and the stage its launches count to.
  uint32_t node = 0;
  Stage stage = Stage::kIngress;

  template <class Args>
  PlanLaunch& launch(const std::string& kernel, const std::string& pass, const Geometry& geometry,
                     const LaunchArgs<Args>& args) {
    return add_launch(kernel, pass, geometry, args.bytes(), args.relocations, args.uses);
  }
  /// Lets the last launch stand for another node, too.
  void also_node(uint32_t id);

  // ---- transcript operations: run by the last launch if it can, else by a launch of their own

  /// Where the channel's state lies.
  void set_transcript(BufferRef state, BufferRef log, bool reduce);
  void absorb(BufferRef words, uint32_t count, std::optional<std::string> log_step);
  void draw(BufferRef out);
  void copy(BufferRef from, uint32_t count, BufferRef to);
  void reset_transcript();
  uint32_t log_entry(std::string step);
  /// The tail of the last launch, whose TranscriptTail lies `offset` bytes into its arguments,
  /// takes operations.
  void open_tail(uint32_t offset);
  void close_tail();

  /// Lifetimes, offsets and sizes.
  void finish();

 private:
  BufferRef add_constant(const std::string& name, std::vector<uint8_t> bytes,
                         std::vector<Relocation> relocations);
  PlanLaunch& add_launch(std::string kernel, std::string pass, const Geometry& geometry,
                         std::vector<uint8_t> args, std::vector<Relocation> relocations,
                         std::vector<BufferUse> uses);
  void add_op(Relocatable<TranscriptOp> op);
  void use(PlanLaunch& launch, uint32_t buffer, uint64_t read_bytes, uint64_t written_bytes) const;
  std::vector<PlanLaunch>& list() { return preparing ? plan_.prepare_launches : plan_.launches; }

  CudaPlan& plan_;
  BufferRef state_;
  BufferRef log_;
  bool reduce_ = false;
  std::vector<Relocatable<TranscriptOp>> ops_;
  std::vector<BufferUse> op_uses_;
  std::optional<uint32_t> tail_offset_;
};

}  // namespace stwo::gpu
