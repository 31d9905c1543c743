// Instrumented evidence: kernel counters, and timelines.

#include <set>

#include "ledger/ingest/rows.hpp"
#include "ledger/trace/trace_reader.hpp"
#include "ledger/trace/trace_schema.hpp"

namespace ledger {
namespace {

/// What a capture belongs to, as far as this ledger knows it.
struct Belonging {
  Value product;
  Value environment;
  Value workload;
  Value run;
};

Value row_or_null(int64_t row) {
  if (row == 0) return std::monostate{};
  return row;
}

/// Takes everything from the product report of the same process, if it is here.
Belonging of_report(Filing& filing, const Json& report_sha256) {
  Belonging b;
  if (report_sha256.is_null()) return b;
  const auto id = report_sha256.get<std::string>();
  Statement select = filing.append.database().prepare(
      "SELECT row, product, environment, workload FROM run WHERE run_id = ?1");
  select.bind(1, std::string_view(id));
  if (!select.step()) {
    filing.notes.push_back("its product report " + id.substr(0, 12) +
                           " is not in this ledger; add it first to link them");
    return b;
  }
  b.run = select.integer(0);
  b.product = select.integer(1);
  b.environment = select.integer(2);
  b.workload = select.integer(3);
  return b;
}

void complete(Filing& filing, const Json& product_id, const Json& workload, const Json& environment,
              Belonging* b) {
  const auto is_null = [](const Value& v) { return std::holds_alternative<std::monostate>(v); };
  if (is_null(b->product) && !product_id.is_null()) {
    b->product = row_or_null(filing.find("product", "product_id", product_id.get<std::string>()));
  }
  if (is_null(b->workload) && !workload.is_null()) {
    b->workload =
        require_workload(filing, workload.at("workload_id").get<std::string>(),
                         workload.at("config").get<std::string>(),
                         scalar(workload.at("statement_sha256")), Value{}, Value{}, Value{});
  }
  if (is_null(b->environment) && !environment.is_null()) {
    b->environment = require_environment(filing, "capture", environment, "");
  }
}

}  // namespace

void add_counters(Filing& filing, const Json& document) {
  Belonging b = of_report(filing, document.at("report_sha256"));
  complete(filing, document.at("product").at("identity_sha256"), document.at("workload"),
           document.at("environment"), &b);
  const Json& launches = document.at("launches");
  int64_t missing = 0;
  for (const Json& l : launches) {
    for (const Json& m : l.at("metrics")) missing += m.at("value").is_null() ? 1 : 0;
  }
  const Json& tool = document.at("tool");
  const int64_t capture = filing.insert(
      "capture",
      {{"capture_id", filing.sha256},
       {"kind", std::string("counters")},
       {"artifact", filing.artifact},
       {"product", b.product},
       {"environment", b.environment},
       {"workload", b.workload},
       {"run", b.run},
       {"tool", tool.at("name").get<std::string>() + " " + tool.at("version").get<std::string>()},
       {"created_utc", scalar(document.at("created_utc"))},
       {"evidence", std::string(missing == 0 ? "complete" : "incomplete")},
       {"n_launches", static_cast<int64_t>(launches.size())},
       {"n_lost", missing}});
  if (missing != 0) {
    filing.insert("capture_loss", {{"capture", capture},
                                   {"kind", std::string("metrics without a value")},
                                   {"count", missing}});
  }
  for (const Json& l : launches) {
    for (const Json& m : l.at("metrics")) {
      filing.insert("counter", {{"capture", capture},
                                {"kernel", scalar(l.at("kernel"))},
                                {"stage", scalar(l.at("stage"))},
                                {"launch", scalar(l.at("ordinal"))},
                                {"metric", scalar(m.at("name"))},
                                {"value", real(m.at("value"))},
                                {"unit", scalar(m.at("unit"))},
                                {"reason", scalar(m.at("reason"))}});
    }
  }
  for (const Json& d : document.at("diagnoses")) {
    filing.insert("diagnosis", {{"capture", capture},
                                {"kernel", scalar(d.at("kernel"))},
                                {"diagnosis", scalar(d.at("diagnosis"))},
                                {"confidence", scalar(d.at("confidence"))},
                                {"margin", real(d.at("margin"))},
                                {"evidence_json", canonical(d.at("evidence"))},
                                {"missing_json", canonical(d.at("missing"))},
                                {"prediction", scalar(d.at("prediction"))}});
  }
}

Timeline read_timeline(const std::string& path) {
  const auto trace = open_trace(path);
  Timeline out{summarize_trace(*trace), Json(nullptr)};
  Statement device =
      trace->prepare("SELECT uuid, name, sm_major * 10 + sm_minor FROM device ORDER BY id LIMIT 1");
  if (device.step()) {
    out.environment = {{"device_uuid", device.string(0)},
                       {"device_name", device.string(1)},
                       {"sm", device.integer(2)}};
    const auto driver = out.summary.meta.find(std::string(trace_meta::kDriverVersion));
    if (driver != out.summary.meta.end()) out.environment["driver_version"] = driver->second;
  }
  return out;
}

void add_timeline(Filing& filing, const Timeline& timeline) {
  const TraceSummary& summary = timeline.summary;
  const auto meta = [&](std::string_view key) {
    const auto it = summary.meta.find(std::string(key));
    return it == summary.meta.end() ? Json(nullptr) : Json(it->second);
  };
  Belonging b = of_report(filing, meta(trace_meta::kReportSha256));
  Json workload = nullptr;
  if (!meta(trace_meta::kWorkloadId).is_null() && !meta(trace_meta::kConfig).is_null()) {
    workload = {{"workload_id", meta(trace_meta::kWorkloadId)},
                {"config", meta(trace_meta::kConfig)},
                {"statement_sha256", meta(trace_meta::kStatementSha256)}};
  }
  complete(filing, meta(trace_meta::kProductIdentity), workload, timeline.environment, &b);
  const int64_t kernels = summary.count("kernel").rows;
  const int64_t operations = kernels + summary.count("copy").rows + summary.count("fill").rows;
  const auto requests = static_cast<int64_t>(summary.windows.size());
  const int64_t capture =
      filing.insert("capture", {{"capture_id", filing.sha256},
                                {"kind", std::string("timeline")},
                                {"artifact", filing.artifact},
                                {"product", b.product},
                                {"environment", b.environment},
                                {"workload", b.workload},
                                {"run", b.run},
                                {"tool", summary.tool + " " + summary.tool_version},
                                {"created_utc", summary.created_utc},
                                {"evidence", std::string(evidence_name(summary.evidence))},
                                {"n_operations", operations},
                                {"n_launches", kernels},
                                {"n_requests", requests == 0 ? Value{} : Value{requests}},
                                {"span_ns", value_or_null(summary.span_ns)},
                                {"busy_ns", summary.busy_ns},
                                {"n_lost", summary.lost()}});
  for (const LossRow& l : summary.losses) {
    filing.insert("capture_loss", {{"capture", capture}, {"kind", l.kind}, {"count", l.count}});
  }
  const auto dimensions = [](const std::array<int64_t, 3>& d) {
    return std::to_string(d[0]) + "," + std::to_string(d[1]) + "," + std::to_string(d[2]);
  };
  for (const KernelStat& k : summary.kernels) {
    filing.insert("kernel_stat", {{"capture", capture},
                                  {"kernel", k.kernel},
                                  {"stage", value_or_null(k.stage)},
                                  {"launches", k.launches},
                                  {"untimed", k.untimed},
                                  {"total_ns", k.min_ns ? Value{k.total_ns} : Value{}},
                                  {"min_ns", value_or_null(k.min_ns)},
                                  {"median_ns", value_or_null(k.median_ns)},
                                  {"max_ns", value_or_null(k.max_ns)},
                                  {"grid", dimensions(k.shape.grid)},
                                  {"block", dimensions(k.shape.block)},
                                  {"dynamic_shared_bytes", k.shape.dynamic_shared_bytes},
                                  {"registers_per_thread", k.shape.registers}});
  }
  for (const std::string& reason : summary.reasons) filing.notes.push_back(reason);
}

}  // namespace ledger
