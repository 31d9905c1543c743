// The only file that is compiled again when the source revision changes.
#include "prover/cli/build_info.hpp"

#include <string_view>

namespace stwo {
namespace {

#include "stwo_build_info.inc"

std::optional<std::string> if_known(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return std::string(text);
}

}  // namespace

BuildIdentity build_identity() {
  BuildIdentity b;
  b.product_version = STWO_VERSION;
  b.source_commit = if_known(kSourceCommit);
  b.source_tree = if_known(kSourceTree);
  if (if_known(kSourceDirty)) b.dirty = std::string_view(kSourceDirty) == "true";
  b.dirty_sha256 = if_known(kSourceDirtySha256);
  b.build_type = STWO_BUILD_TYPE;
  b.host_compiler = STWO_HOST_COMPILER;
  return b;
}

}  // namespace stwo
