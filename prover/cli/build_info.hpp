// Which source and compiler this program was made from.
#pragma once

#include "prover/report/product_report.hpp"

namespace stwo {

BuildIdentity build_identity();

}  // namespace stwo
