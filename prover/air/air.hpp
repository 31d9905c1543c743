// AIR families and their instances. A family knows its parameters; an instance (family +
// parameters) knows its components, preprocessed columns, transcript and trace. Adding an AIR
// touches one folder under prover/air/: its scripts, its Air class and one stwo_add_air() call.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prover/air/component.hpp"
#include "prover/air/statement.hpp"

namespace stwo {

/// A whole-number parameter of an AIR.
struct AirParameter {
  std::string name;  ///< snake_case; the command line writes it with dashes
  std::string help;
  uint64_t min = 0;
  uint64_t max = 0;
  /// Unset: the user must give it.
  std::optional<uint64_t> default_value;
};

/// A column known to both sides before the proof; committed in tree 0.
struct PreprocessedColumn {
  std::string id;
  uint32_t log_size = 0;
  /// Writes the 2^log_size values in storage order.
  void (*fill)(std::span<M31> out) = nullptr;
};

/// One application step of the transcript, before the core protocol draws its first challenge.
struct TranscriptStep {
  enum class Kind : uint8_t {
    kMixConfig,   ///< absorb the PCS config
    kCommitTree,  ///< generate, extend and commit tree `value`; absorb its root
    kMixU64,      ///< absorb `value`
  };
  Kind kind;
  uint64_t value = 0;
};

class AirInstance {
 public:
  virtual ~AirInstance() = default;

  const std::vector<std::unique_ptr<Component>>& components() const { return components_; }
  /// Tree 0 in commit order; may be empty.
  const std::vector<PreprocessedColumn>& preprocessed() const { return preprocessed_; }
  /// Number of trees before the composition tree.
  uint32_t n_trace_trees() const;
  /// Application transcript; default: config if the statement says so, then the trees in order.
  virtual std::vector<TranscriptStep> transcript(const Statement& statement) const;

 protected:
  std::vector<std::unique_ptr<Component>> components_;
  std::vector<PreprocessedColumn> preprocessed_;
};

class Air {
 public:
  virtual ~Air() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;
  /// Structural class in the portfolio: "latency", "wide", "narrow_deep", ... May depend on shape.
  virtual std::string_view structural_class(const Statement& statement) const = 0;
  virtual const std::vector<AirParameter>& parameters() const = 0;

  /// Instance for a complete statement. Throws UsageError for combinations the AIR does not allow.
  virtual std::unique_ptr<AirInstance> instantiate(const Statement& statement) const = 0;

  /// Fills in defaults and puts parameters in declared order. Throws UsageError for an unknown,
  /// missing, repeated or out-of-range parameter.
  Statement complete(Statement statement) const;
};

/// All AIRs linked into this program, in registration order.
class AirRegistry {
 public:
  static const AirRegistry& global();
  const std::vector<std::unique_ptr<Air>>& airs() const { return airs_; }
  /// Throws UsageError listing the known names.
  const Air& find(std::string_view name) const;
  void add(std::unique_ptr<Air> air) { airs_.push_back(std::move(air)); }

 private:
  std::vector<std::unique_ptr<Air>> airs_;
};

/// Defined by code that CMake generates from the AIR folders.
void register_linked_airs(AirRegistry& registry);

}  // namespace stwo
