#include "kernels/research/codegen.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "kernels/research/research_args.hpp"
#include "prover/errors.hpp"
#include "prover/hash/hex.hpp"

namespace stwo::gpu {
namespace {

constexpr uint32_t kWarp = 32;
constexpr uint32_t kMaxThreads = 1024;
constexpr size_t kMaxNameLength = 64;
/// Products below 2^62 that fit into 64 bits beside a folded remainder of 2^62 + 3.
constexpr uint32_t kProductsPerFold = 3;

std::string num(uint64_t v) { return std::to_string(v); }

/// Field arithmetic, as in prover/field but on plain words. M31 values are canonical, 0 <= v < P.
constexpr std::string_view kHelpers = R"(
typedef unsigned int u32;
typedef unsigned long long u64;

struct Args {
  const u32* const* columns;
  const u32* weights;
  u32* out[4];
  u64 n_rows;
  u32 inverse_vanishing[2];
  u32 trace_log_size;
  u32 domain_log_size;
};
static_assert(sizeof(Args) == 72, "as ResearchKernelArgs");

constexpr u32 kP = 0x7fffffffu;

STWO_RESEARCH_FN u32 load(const u32* column, u64 row) {
#ifdef __CUDACC__
  return __ldg(column + row);
#else
  return column[row];
#endif
}

STWO_RESEARCH_FN u32 least(u32 a, u32 b) { return a < b ? a : b; }
STWO_RESEARCH_FN u32 add(u32 a, u32 b) { return least(a + b, a + b - kP); }
STWO_RESEARCH_FN u32 sub(u32 a, u32 b) { return least(a - b, a - b + kP); }
STWO_RESEARCH_FN u32 neg(u32 a) { return sub(0, a); }
STWO_RESEARCH_FN u32 mul(u32 a, u32 b) {
  const u64 p = (u64)a * b;
  return add((u32)p & kP, (u32)(p >> 31));
}
// Any 64-bit value.
STWO_RESEARCH_FN u32 reduce(u64 x) {
  return add(add((u32)x & kP, (u32)(x >> 31) & kP), (u32)(x >> 62));
}

// (a + b i) + (c + d i) u, i^2 = -1, u^2 = 2 + i.
struct Secure {
  u32 a, b, c, d;
};
STWO_RESEARCH_FN Secure secure(u32 a, u32 b, u32 c, u32 d) {
  const Secure s = {a, b, c, d};
  return s;
}
STWO_RESEARCH_FN Secure load_secure(const u32* p) {
  return secure(load(p, 0), load(p, 1), load(p, 2), load(p, 3));
}
STWO_RESEARCH_FN Secure add(Secure x, Secure y) {
  return secure(add(x.a, y.a), add(x.b, y.b), add(x.c, y.c), add(x.d, y.d));
}
STWO_RESEARCH_FN Secure add(Secure x, u32 y) { return secure(add(x.a, y), x.b, x.c, x.d); }
STWO_RESEARCH_FN Secure add(u32 x, Secure y) { return add(y, x); }
STWO_RESEARCH_FN Secure sub(Secure x, Secure y) {
  return secure(sub(x.a, y.a), sub(x.b, y.b), sub(x.c, y.c), sub(x.d, y.d));
}
STWO_RESEARCH_FN Secure sub(Secure x, u32 y) { return secure(sub(x.a, y), x.b, x.c, x.d); }
STWO_RESEARCH_FN Secure neg(Secure x) { return secure(neg(x.a), neg(x.b), neg(x.c), neg(x.d)); }
STWO_RESEARCH_FN Secure sub(u32 x, Secure y) { return add(neg(y), x); }
STWO_RESEARCH_FN Secure mul(Secure x, u32 y) {
  return secure(mul(x.a, y), mul(x.b, y), mul(x.c, y), mul(x.d, y));
}
STWO_RESEARCH_FN Secure mul(u32 x, Secure y) { return mul(y, x); }
STWO_RESEARCH_FN Secure mul(Secure x, Secure y) {
  // The two products that u^2 multiplies by 2 + i.
  const u32 re = sub(mul(x.c, y.c), mul(x.d, y.d));
  const u32 im = add(mul(x.c, y.d), mul(x.d, y.c));
  return secure(add(sub(mul(x.a, y.a), mul(x.b, y.b)), sub(add(re, re), im)),
                add(add(mul(x.a, y.b), mul(x.b, y.a)), add(add(im, im), re)),
                add(sub(mul(x.a, y.c), mul(x.b, y.d)), sub(mul(x.c, y.a), mul(x.d, y.b))),
                add(add(mul(x.a, y.d), mul(x.b, y.c)), add(mul(x.c, y.b), mul(x.d, y.a))));
}

// Weighted base values, reduced late: three products fit beside a folded remainder.
struct Sum {
  u64 a, b, c, d;
};
STWO_RESEARCH_FN void accumulate(Sum& sum, const u32* weight, u32 value) {
  sum.a += (u64)load(weight, 0) * value;
  sum.b += (u64)load(weight, 1) * value;
  sum.c += (u64)load(weight, 2) * value;
  sum.d += (u64)load(weight, 3) * value;
}
// 2^62 = 1.
STWO_RESEARCH_FN void fold(Sum& sum) {
  const u64 low = ((u64)1 << 62) - 1;
  sum.a = (sum.a & low) + (sum.a >> 62);
  sum.b = (sum.b & low) + (sum.b >> 62);
  sum.c = (sum.c & low) + (sum.c >> 62);
  sum.d = (sum.d & low) + (sum.d >> 62);
}
)";

/// prover/circle/domain.hpp, offset_storage_index: only in texts that need it.
constexpr std::string_view kOffsetHelper = R"(
STWO_RESEARCH_FN u32 reverse(u32 x, u32 n) {
#ifdef __CUDACC__
  return __brev(x) >> (32 - n);
#else
  u32 r = 0;
  for (u32 k = 0; k < n; ++k, x >>= 1) r = (r << 1) | (x & 1);
  return r;
#endif
}
// Storage row `offset` trace rows away. In natural order the first half of the domain goes forward
// and its mirror image, the second half, backward; a trace row is 2^(domain - trace - 1) positions.
// On the trace domain itself neighbours alternate between the halves.
STWO_RESEARCH_FN u64 offset_row(u64 row, int offset, u32 trace_log, u32 domain_log) {
  const u32 half = (u32)1 << (domain_log - 1);
  const u32 natural = reverse((u32)row, domain_log);
  if (trace_log == domain_log) {
    const u32 all = 2 * half - 1;
    const u32 coset = natural < half ? 2 * natural : 2 * (all - natural) + 1;
    const u32 moved = (coset + (u32)offset) & all;
    return reverse((moved & 1) == 0 ? moved / 2 : all + 1 - (moved + 1) / 2, domain_log);
  }
  const u32 step = (u32)offset << (domain_log - trace_log - 1);
  const u32 moved = natural < half ? natural + step : natural - step;
  return reverse((natural & half) | (moved & (half - 1)), domain_log);
}
)";

class Generator {
 public:
  Generator(const ConstraintProgram& program, const CodegenOptions& options)
      : p_(program), o_(options) {}

  std::string run() {
    check();
    header();
    out_ += kHelpers;
    if (!offsets().empty()) out_ += kOffsetHelper;
    row_function();
    out_ += "\n}  // namespace\n}  // namespace stwo_research_" + o_.name + "\n\n";
    entry_points();
    return std::move(out_);
  }

 private:
  void check() const {
    const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
    const auto allowed = [&](char c) { return lower(c) || (c >= '0' && c <= '9') || c == '_'; };
    if (o_.name.empty() || o_.name.size() > kMaxNameLength || !lower(o_.name.front()) ||
        !std::all_of(o_.name.begin(), o_.name.end(), allowed)) {
      throw UsageError("COMPONENT", "component name '" + o_.name +
                                        "' cannot be part of a kernel's name; use up to " +
                                        num(kMaxNameLength) +
                                        " lower-case letters, digits and underscores");
    }
    if (o_.threads == 0 || o_.threads % kWarp != 0 || o_.threads > kMaxThreads) {
      throw UsageError("NUMBER", "a block of " + num(o_.threads) +
                                     " threads cannot be launched; give a multiple of 32 up to "
                                     "1024");
    }
    p_.check();
    for (const ProgramNode& n : p_.nodes) {
      if (n.op == ProgramOp::kMask) STWO_CHECK(n.a > 0, "tree 0 is addressed by id");
      if (n.op != ProgramOp::kSecureFromCoordinates) continue;
      for (const uint32_t c : {n.a, n.b, n.immediate[0], n.immediate[1]}) {
        STWO_CHECK(!p_.nodes[c].secure, "coordinates of a row are base values");
      }
    }
  }

  void line(const std::string& text) { out_ += text + "\n"; }

  void header() {
    size_t products = 0;
    for (const ProgramNode& n : p_.nodes) products += n.op == ProgramOp::kMul;
    line("// Composition kernel of component " + o_.name + ". Generated; edits are lost.");
    line("// program " + to_hex(p_.digest()));
    line("// generator " + num(kResearchCodegenVersion));
    line("// " + num(research_columns(p_).size()) + " columns, " + num(p_.nodes.size()) +
         " operations of which " + num(products) + " products, " + num(p_.constraints.size()) +
         " constraints");
    line("#ifdef __CUDACC__");
    line("#define STWO_RESEARCH_FN [[maybe_unused]] __device__ __forceinline__");
    line("#else");
    line("#define STWO_RESEARCH_FN [[maybe_unused]] inline");
    line("#endif");
    line("");
    line("namespace stwo_research_" + o_.name + " {");
    line("namespace {");
  }

  /// Offsets other than 0 that the program reads at, ascending.
  std::set<int32_t> offsets() const {
    std::set<int32_t> all;
    for (const ProgramNode& n : p_.nodes) {
      if (n.op == ProgramOp::kMask) all.insert(static_cast<int32_t>(n.immediate[0]));
    }
    all.erase(0);
    return all;
  }

  static std::string row_at(int32_t offset) {
    if (offset == 0) return "row";
    return offset < 0 ? "row_minus_" + num(0 - static_cast<int64_t>(offset))
                      : "row_plus_" + num(static_cast<uint64_t>(offset));
  }

  static std::string value(uint32_t node) { return "v" + num(node); }

  void row_function() {
    uint32_t next = 0;
    for (const ResearchColumn& c : research_columns(p_)) {
      slots_[{c.preprocessed, c.tree, c.column}] = next++;
    }
    line("");
    line("STWO_RESEARCH_FN void evaluate_row(const Args& args, u64 row) {");
    for (const int32_t offset : offsets()) {
      line("  const u64 " + row_at(offset) + " = offset_row(row, " + std::to_string(offset) +
           ", args.trace_log_size, args.domain_log_size);");
    }
    line("  Sum sum = {0, 0, 0, 0};");
    line("  Secure total = secure(0, 0, 0, 0);");
    std::multimap<uint32_t, uint32_t> uses;
    for (uint32_t k = 0; k < p_.constraints.size(); ++k) uses.emplace(p_.constraints[k], k);
    uint32_t pending = 0;
    for (uint32_t i = 0; i < p_.nodes.size(); ++i) {
      const ProgramNode& n = p_.nodes[i];
      line(std::string("  const ") + (n.secure ? "Secure " : "u32 ") + value(i) + " = " +
           expression(n) + ";");
      // A constraint is added as soon as it is known, so that its value need not be kept.
      const auto [first, last] = uses.equal_range(i);
      for (auto use = first; use != last; ++use) {
        const std::string weight = "args.weights + " + num(uint64_t{4} * use->second);
        if (n.secure) {
          line("  total = add(total, mul(load_secure(" + weight + "), " + value(i) + "));");
        } else {
          line("  accumulate(sum, " + weight + ", " + value(i) + ");");
          if (++pending == kProductsPerFold) {
            line("  fold(sum);");
            pending = 0;
          }
        }
      }
    }
    line(
        "  total = add(total, secure(reduce(sum.a), reduce(sum.b), reduce(sum.c), "
        "reduce(sum.d)));");
    line("  total = mul(total, args.inverse_vanishing[(row >> args.trace_log_size) & 1]);");
    line("  args.out[0][row] = total.a;");
    line("  args.out[1][row] = total.b;");
    line("  args.out[2][row] = total.c;");
    line("  args.out[3][row] = total.d;");
    line("}");
  }

  std::string load(uint32_t slot, int32_t offset) const {
    return "load(args.columns[" + num(slot) + "], " + row_at(offset) + ")";
  }

  std::string expression(const ProgramNode& n) const {
    const auto call = [&](const char* function) {
      return std::string(function) + "(" + value(n.a) + ", " + value(n.b) + ")";
    };
    switch (n.op) {
      case ProgramOp::kConstant: return num(n.immediate[0]) + "u";
      case ProgramOp::kSecureConstant: {
        std::string list;
        for (const uint32_t c : n.immediate) list += (list.empty() ? "" : ", ") + num(c) + "u";
        return "secure(" + list + ")";
      }
      case ProgramOp::kMask:
        return load(slots_.at({false, n.a, n.b}), static_cast<int32_t>(n.immediate[0]));
      case ProgramOp::kPreprocessed: return load(slots_.at({true, 0, n.a}), 0);
      case ProgramOp::kAdd: return call("add");
      case ProgramOp::kSub: return call("sub");
      case ProgramOp::kMul: return call("mul");
      case ProgramOp::kNeg: return "neg(" + value(n.a) + ")";
      case ProgramOp::kSecureFromCoordinates:
        return "secure(" + value(n.a) + ", " + value(n.b) + ", " + value(n.immediate[0]) + ", " +
               value(n.immediate[1]) + ")";
    }
    throw ContractError("unknown operation in a constraint program");
  }

  void entry_points() {
    const std::string inner = "stwo_research_" + o_.name + "::";
    const std::string identity = o_.name + "_program[65]";
    const std::string digest = "\"" + to_hex(p_.digest()) + "\"";
    line("extern \"C\" {");
    line("#ifdef __CUDACC__");
    line("extern __device__ const char " + identity + ";");
    line("__device__ const char " + identity + " = " + digest + ";");
    line("__global__ void __launch_bounds__(" + num(o_.threads) + ")");
    line("    " + research_kernel_name(o_.name) + "(const __grid_constant__ " + inner +
         "Args args) {");
    line("  const unsigned long long row =");
    line("      (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;");
    line("  if (row < args.n_rows) " + inner + "evaluate_row(args, row);");
    line("}");
    line("#else");
    line("extern const char " + identity + ";");
    line("const char " + identity + " = " + digest + ";");
    line("void " + o_.name + "_rows(const void* args, unsigned long long begin,");
    line("    unsigned long long end) {");
    line("  for (unsigned long long row = begin; row < end; ++row) {");
    line("    " + inner + "evaluate_row(*static_cast<const " + inner + "Args*>(args), row);");
    line("  }");
    line("}");
    line("#endif");
    line("}");
  }

  const ConstraintProgram& p_;
  const CodegenOptions& o_;
  std::string out_;
  std::map<std::tuple<bool, uint32_t, uint32_t>, uint32_t> slots_;
};

}  // namespace

std::vector<ResearchColumn> research_columns(const ConstraintProgram& program) {
  std::vector<ResearchColumn> columns;
  for (uint32_t t = 1; t < program.n_columns.size(); ++t) {
    for (uint32_t c = 0; c < program.n_columns[t]; ++c) columns.push_back({false, t, c});
  }
  for (uint32_t id = 0; id < program.preprocessed_ids.size(); ++id) {
    columns.push_back({true, 0, id});
  }
  return columns;
}

std::string research_kernel_name(std::string_view component) {
  return std::string(component) + "_composition";
}

std::string generate_constraint_kernel(const ConstraintProgram& program,
                                       const CodegenOptions& options) {
  return Generator(program, options).run();
}

}  // namespace stwo::gpu
