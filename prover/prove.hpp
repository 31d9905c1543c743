// The main path: one call per stage.
#pragma once

#include <functional>

#include "prover/backend.hpp"

namespace stwo {

/// Told when a stage begins and ends; stages may occur several times (one per tree).
class StageObserver {
 public:
  virtual ~StageObserver() = default;
  virtual void begin(Stage stage) = 0;
  virtual void end(Stage stage) = 0;
};

/// Runs one proof on a prepared shape. `stages` and `transcript` may be empty.
/// Throws what the backend throws; the prepared shape stays usable.
StarkProof prove(PreparedShape& prepared, StageObserver* stages = nullptr,
                 const TranscriptObserver& transcript = {});

}  // namespace stwo
