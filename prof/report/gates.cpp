#include "prof/report/gates.hpp"

#include "prover/cli/terminal.hpp"
#include "prover/report/report_check.hpp"

namespace prof {
namespace {

using Json = nlohmann::json;

std::string text_at(const Json& json, const char* path) {
  return stwo::one_line(json.at(Json::json_pointer(path)).get<std::string>());
}

class Gates {
 public:
  Gates(const RunFacts& run, const RunFacts* baseline)
      : run_(run),
        json_(run.file.json),
        baseline_(baseline),
        flags_(stwo::contract_flags(run.file.text)) {}

  std::vector<Gate> all() {
    proof_identity();
    verification();
    oracle();
    const Json& aot = json_.at("aot");
    of_flags("GATE_AOT", "code compiled ahead of time",
             {"FLAG_RUNTIME_CODE", "FLAG_NOT_STRICT", "FLAG_AOT_MISS", "FLAG_LAUNCH_FAILURE"},
             run_.cuda
                 ? std::to_string(aot.at("entries").get<uint64_t>()) + " entries, strict, no miss"
                 : "",
             "build the cubins of this SM and run again");
    device();
    of_flags("GATE_FALLBACKS", "no fallback", {"FLAG_CPU_FALLBACK", "FLAG_GRAPH_FALLBACK"},
             "none attempted", "find what the device could not do");
    of_flags("GATE_TERMINAL_D2H", "one copy to the host, at the end",
             {"FLAG_TERMINAL_D2H", "FLAG_INTERMEDIATE_D2H"}, "one per request",
             "keep intermediate results on the device");
    of_flags("GATE_NO_JIT", "nothing compiled or loaded in a request",
             {"FLAG_JIT", "FLAG_REQUEST_LOAD"}, "none", "load modules while the shape is prepared");
    source();
    of_flags("GATE_ALLOCATIONS", "no allocation in steady requests", {"FLAG_STEADY_ALLOCATION"},
             "none", "take memory while the shape is prepared");
    admission();
    return std::move(gates_);
  }

 private:
  void add(const char* code, const char* title, GateState state, const std::string& found,
           const std::string& mend) {
    gates_.push_back({code, title, state, found, state == GateState::kPass ? "" : mend});
  }

  void proof_identity() {
    const std::string digest = text_at(json_, "/proof/canonical_sha256");
    const std::string found = std::to_string(run_.requests) +
                              (run_.requests == 1 ? " request gave " : " requests gave ") + digest;
    GateState state = GateState::kPass;
    std::string more;
    if (baseline_ != nullptr) {
      const Json& other = baseline_->file.json;
      const bool same_statement = json_.at("statement").at("statement_sha256") ==
                                  other.at("statement").at("statement_sha256");
      if (!same_statement) {
        more = "; the baseline proves another statement";
      } else if (json_.at("proof").at("canonical_sha256") !=
                 other.at("proof").at("canonical_sha256")) {
        state = GateState::kFail;
        more = "; the baseline's proof of the same statement is " +
               text_at(other, "/proof/canonical_sha256");
      } else {
        more = ", as in the baseline";
      }
    }
    add("GATE_PROOF_IDENTITY", "proof identity", state, found + more,
        "compare the transcripts (stwo prove --transcript) to find the first step that differs");
  }

  void verification() {
    const bool verified = json_.at("proof").at("verified").get<bool>();
    add("GATE_VERIFICATION", "independent verification",
        verified ? GateState::kPass : GateState::kFail,
        verified ? "accepted" : "the verifier rejected the proof",
        "run stwo verify on the proof to see the reason");
  }

  void oracle() {
    const Json& oracle = json_.at("proof").at("oracle");
    if (oracle.is_null()) {
      add("GATE_ORACLE", "oracle", GateState::kUnknown, null_reason(json_, "/proof/oracle"),
          "have the crate's verifier check the proof and give its receipt (--oracle-receipt)");
      return;
    }
    const bool accepted = oracle.at("accepted").get<bool>();
    add("GATE_ORACLE", "oracle", accepted ? GateState::kPass : GateState::kFail,
        text_at(json_, "/proof/oracle/name") + (accepted ? " accepted it" : " rejected it"),
        "compare with the oracle's transcript to find the first step that differs");
  }

  void device() {
    if (!run_.cuda) return no_device("GATE_DEVICE", "device", "/device");
    const Json& d = json_.at("device");
    const uint64_t sm = d.at("sm_major").get<uint64_t>() * 10 + d.at("sm_minor").get<uint64_t>();
    std::string wrong;
    if (d.at("mig").get<bool>()) wrong = "the device is a part of one (MIG)";
    for (const Json& m : json_.at("modules")) {
      if (!wrong.empty() || m.at("sm").get<uint64_t>() == sm) continue;
      wrong = "module " + stwo::one_line(m.at("name").get<std::string>()) + " is for SM " +
              std::to_string(m.at("sm").get<uint64_t>()) + ", the device has " + std::to_string(sm);
    }
    add("GATE_DEVICE", "device", wrong.empty() ? GateState::kPass : GateState::kFail,
        wrong.empty() ? text_at(json_, "/device/name") + ", SM " + std::to_string(sm) + ", " +
                            text_at(json_, "/device/uuid")
                      : wrong,
        "run on a whole device, with modules built for it");
  }

  void source() {
    const Json& dirty = json_.at("identity").at("dirty");
    const Json& commit = json_.at("identity").at("source_commit");
    if (dirty.is_null() || commit.is_null()) {
      add("GATE_SOURCE", "source", GateState::kUnknown,
          null_reason(json_, dirty.is_null() ? "/identity/dirty" : "/identity/source_commit"),
          "build from a clean checkout");
      return;
    }
    const bool clean = !dirty.get<bool>();
    add("GATE_SOURCE", "source", clean ? GateState::kPass : GateState::kFail,
        (clean ? "clean checkout of " : "changed checkout of ") +
            stwo::one_line(commit.get<std::string>()),
        "commit the changes and build again");
  }

  void admission() {
    const bool admitted = json_.at("memory").at("admitted").get<bool>();
    add("GATE_ADMISSION", "memory admitted", admitted ? GateState::kPass : GateState::kFail,
        admitted ? "it fits the capacity" : "accounted for more than the capacity allows",
        "prove a smaller shape, or use a device with more memory");
  }

  void no_device(const char* code, const char* title, const char* path) {
    add(code, title, GateState::kUnknown, null_reason(json_, path), "run with --backend cuda");
  }

  /// Passes if none of the flags is up.
  void of_flags(const char* code, const char* title, std::initializer_list<const char*> wanted,
                const std::string& good, const std::string& mend) {
    if (!run_.cuda) return no_device(code, title, "/counters");
    std::string found;
    for (const stwo::ContractFlag& flag : flags_) {
      for (const char* name : wanted) {
        if (flag.code != name) continue;
        found += (found.empty() ? "" : "; ") + flag.path + ": " + stwo::one_line(flag.message);
      }
    }
    add(code, title, found.empty() ? GateState::kPass : GateState::kFail,
        found.empty() ? good : found, mend);
  }

  const RunFacts& run_;
  const Json& json_;
  const RunFacts* baseline_;
  std::vector<stwo::ContractFlag> flags_;
  std::vector<Gate> gates_;
};

}  // namespace

std::string gate_state_name(GateState state) {
  switch (state) {
    case GateState::kPass: return "pass";
    case GateState::kFail: return "FAIL";
    case GateState::kUnknown: break;
  }
  return "unknown";
}

std::vector<Gate> report_gates(const RunFacts& run, const RunFacts* baseline) {
  return Gates(run, baseline).all();
}

}  // namespace prof
