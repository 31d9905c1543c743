// Schema of a trace capture (*.sptrace): ledger/schema/trace/0001_trace.sql and the names that
// writer and reader share.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ledger/schema/embedded_sql.hpp"

namespace ledger {

/// PRAGMA application_id of a capture, "stTr" in ASCII.
inline constexpr int64_t kTraceApplicationId = 0x73745472;
/// PRAGMA user_version that this program writes, and the newest that it reads.
inline constexpr int64_t kTraceVersion = 1;

/// Generated from ledger/schema/trace/*.sql.
extern const std::span<const EmbeddedSql> kTraceSchema;

/// First part of the schema: tables and views.
std::string_view trace_tables_sql();
/// Second part: indexes. Making them when all rows are in is several times faster than keeping them
/// up to date.
std::string_view trace_indexes_sql();

/// Keys of table meta. docs/formats.md says what their values are.
namespace trace_meta {
// Every finalized capture has these.
inline constexpr std::string_view kTool = "tool";
inline constexpr std::string_view kToolVersion = "tool_version";
inline constexpr std::string_view kCreatedUtc = "created_utc";
inline constexpr std::string_view kSessionStartNs = "session_start_ns";
inline constexpr std::string_view kFinalized = "finalized";
// These decide the grade of the evidence.
inline constexpr std::string_view kTrailer = "trailer";
inline constexpr std::string_view kMissingKinds = "missing_kinds";
// What the capture belongs to; each may be missing. report_sha256 is the digest of the product
// report of the same process, and then says the rest.
inline constexpr std::string_view kReportSha256 = "report_sha256";
inline constexpr std::string_view kProductIdentity = "product_identity_sha256";
inline constexpr std::string_view kWorkloadId = "workload_id";
inline constexpr std::string_view kConfig = "config";
inline constexpr std::string_view kStatementSha256 = "statement_sha256";
inline constexpr std::string_view kDriverVersion = "driver_version";
// Name of process PID under kProcessName + PID.
inline constexpr std::string_view kProcessName = "process_name.";
}  // namespace trace_meta

/// NVTX domain of the prover, and the category of its stages there.
inline constexpr std::string_view kProverDomain = "stwo.prover";
inline constexpr int64_t kStageCategory = 2;

}  // namespace ledger
