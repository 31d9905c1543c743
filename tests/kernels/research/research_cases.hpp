// Constraint programs that are written out as kernels when the tests are built, and the functions
// that come of it.
#pragma once

#include <string>
#include <vector>

#include "kernels/research/parity.hpp"
#include "prover/air/constraint_program.hpp"
#include "prover/air/wide_fibonacci/wide_fibonacci.hpp"

/// One X(name, script) per case; tests/CMakeLists.txt lists the same names.
#define STWO_RESEARCH_CASES(X)                                   \
  X(fib_1, ::stwo::air::WideFibonacciScript{1})                  \
  X(fib_3, ::stwo::air::WideFibonacciScript{3})                  \
  X(fib_8, ::stwo::air::WideFibonacciScript{8})                  \
  X(fib_100, ::stwo::air::WideFibonacciScript{100})              \
  X(seq_2, ::stwo::air::WideFibonacciSeqScript{2})               \
  X(seq_8, ::stwo::air::WideFibonacciSeqScript{8})               \
  X(every_request, ::stwo::research_cases::EveryRequestScript{}) \
  X(mixed, ::stwo::research_cases::MixedScript{})

namespace stwo::research_cases {

#include "tests/support/row_scripts.inc"

/// Every operation between base and secure values on both sides, two preprocessed columns of which
/// one twice, unused columns, equal constraints.
struct MixedScript {
  template <class E>
  void evaluate(E& eval) const {
    using F = typename E::F;
    using EF = typename E::EF;
    eval.next_trace_mask();
    const F a = eval.next_trace_mask();
    const F p = eval.preprocessed_column("first");
    const F q = eval.preprocessed_column("second");
    const F p_again = eval.preprocessed_column("first");
    const EF s = eval.next_extension_mask(2, 0);
    const EF t = eval.next_extension_mask(3, 5);
    const EF z = eval.secure_constant(QM31::from_u32(2147483646, 0, 1, 5));
    eval.add_constraint(a + s);
    eval.add_constraint(s + p);
    eval.add_constraint(q - s);
    eval.add_constraint(t - a);
    eval.add_constraint(a * t);
    eval.add_constraint(t * z);
    eval.add_constraint(-t);
    eval.add_constraint(-p_again);
    eval.add_constraint(z * z - z);
    eval.add_constraint(a);
    eval.add_constraint(a);
    eval.add_constraint(eval.constant(M31(0)) - a);
    eval.add_constraint(q * eval.constant(M31(kP - 1)));
  }
};

struct Case {
  std::string name;
  ConstraintProgram program;
};

inline std::vector<Case> all_cases() {
#define STWO_RESEARCH_CASE(name, script) {#name, record_constraints(script)},
  return {STWO_RESEARCH_CASES(STWO_RESEARCH_CASE)};
#undef STWO_RESEARCH_CASE
}

}  // namespace stwo::research_cases
