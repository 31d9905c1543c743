#include "prof/ingest/report_windows.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "ledger/trace/trace_schema.hpp"
#include "prover/errors.hpp"
#include "prover/hash/sha256.hpp"
#include "prover/report/report_check.hpp"

namespace prof {
namespace {

using Json = nlohmann::json;

std::string read_text(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    const char* why =
        errno == 0 || S_ISDIR(info.st_mode) ? "not a regular file" : std::strerror(errno);
    throw stwo::UsageError("REPORT_OPEN", "product report " + path + ": " + why +
                                              "; give the file that the program wrote");
  }
  if (static_cast<uint64_t>(info.st_size) > stwo::kMaxReportBytes) {
    throw stwo::FormatError("REPORT_INVALID",
                            "product report " + path + ": larger than 64 MiB; give a report");
  }
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.good() && !in.eof()) {
    throw stwo::EnvironmentError(
        "REPORT_READ", "product report " + path + ": cannot be read; check its permissions");
  }
  return text;
}

ledger::WindowRole role_of(const std::string& name) {
  if (name == "first") return ledger::WindowRole::kFirst;
  if (name == "warmup") return ledger::WindowRole::kWarmup;
  return ledger::WindowRole::kSteady;
}

}  // namespace

ReportFacts read_report_facts(const std::string& path) {
  const std::string text = read_text(path);
  const auto violations = stwo::check_report(text);
  if (!violations.empty()) {
    const auto& first = violations.front();
    throw stwo::FormatError("REPORT_INVALID", "product report " + path + ": " + first.code +
                                                  " at " + first.path + ": " + first.message +
                                                  "; `stwo inspect report` lists all");
  }
  const Json report = Json::parse(text);
  ReportFacts out;
  for (const Json& r : report.at("requests")) {
    out.windows.push_back({r.at("ordinal").get<int64_t>(), role_of(r.at("role").get<std::string>()),
                           r.at("begin_ns").get<int64_t>(),
                           r.at("resident_begin_ns").get<int64_t>(),
                           r.at("resident_end_ns").get<int64_t>(), r.at("end_ns").get<int64_t>()});
  }
  using namespace ledger::trace_meta;
  const Json& statement = report.at("statement");
  out.meta = {
      {std::string(kReportSha256), stwo::sha256_hex(text)},
      {std::string(kProductIdentity),
       report.at("identity").at("identity_sha256").get<std::string>()},
      {std::string(kWorkloadId), statement.at("workload_id").get<std::string>()},
      {std::string(kStatementSha256), statement.at("statement_sha256").get<std::string>()},
  };
  return out;
}

}  // namespace prof
