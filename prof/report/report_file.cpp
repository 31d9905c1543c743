#include "prof/report/report_file.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"
#include "prover/hash/sha256.hpp"
#include "prover/report/report_check.hpp"

namespace prof {
namespace {

constexpr int64_t kFirstZigVersion = 2;
constexpr int64_t kLastZigVersion = 6;

/// The schema_version of a report of stwo-zig, 0 for anything else. The text was parsed before
/// without harm.
int64_t zig_version(std::string_view text) {
  const nlohmann::json root = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  if (!root.is_object() || root.contains("schema")) return 0;
  const auto version = root.find("schema_version");
  if (version == root.end() || !version->is_number_integer()) return 0;
  // Of any size: a number above 2^63 is none of ours.
  const auto value = version->get<double>();
  return value >= kFirstZigVersion && value <= kLastZigVersion ? version->get<int64_t>() : 0;
}

}  // namespace

ReportFile read_report(const std::string& path) {
  const auto fail = [&](const std::string& why) {
    throw stwo::UsageError("REPORT_READ", "report " + stwo::one_line(path) + ": " + why +
                                              "; give the file that --report-out wrote");
  };
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) fail(std::strerror(errno));
  if (!S_ISREG(info.st_mode)) fail("not a regular file");
  std::ifstream in(path, std::ios::binary);
  // One byte more than is allowed is enough to know.
  std::string text(
      std::min<uint64_t>(static_cast<uint64_t>(info.st_size), stwo::kMaxReportBytes) + 1, '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(text.size())) && !in.eof()) {
    fail(std::strerror(errno));
  }
  text.resize(static_cast<size_t>(in.gcount()));
  return parse_report(path, text);
}

ReportFile parse_report(const std::string& name, std::string_view text) {
  const std::string shown = "report " + stwo::one_line(name);
  const std::vector<stwo::ReportViolation> violations = stwo::check_report(text);
  if (violations.empty()) {
    return {name, stwo::sha256_hex(text), std::string(text),
            nlohmann::json::parse(text.begin(), text.end())};
  }
  const stwo::ReportViolation& first = violations.front();
  if (first.code != "REPORT_TOO_LARGE" && first.code != "REPORT_JSON" &&
      first.code != "REPORT_DUPLICATE_KEY") {
    if (const int64_t version = zig_version(text); version != 0) {
      throw stwo::FormatError("REPORT_ZIG",
                              shown + " is a report of stwo-zig (schema_version " +
                                  std::to_string(version) +
                                  "), whose fields are not known here (expected schema " +
                                  std::string(stwo::kProductReportSchema) +
                                  "); make a report with stwo prove --report-out");
    }
  }
  std::string message =
      shown + ": " + (first.path.empty() ? "" : first.path + ": ") + first.message;
  if (violations.size() > 1) {
    message += " (and " + std::to_string(violations.size() - 1) + " more)";
  }
  throw stwo::FormatError(
      first.code, stwo::one_line(message) + "; stwo inspect report shows every broken rule");
}

}  // namespace prof
