// Exports of Nsight Systems for tests, made by SQL. Tables as export schema 3.x declares them.
#pragma once

#include <string>

#include "prof/nsys/nsys_import.hpp"
#include "tests/ledger/trace/trace_files.hpp"

namespace prof::test {

inline constexpr int64_t kPid = 100;
inline constexpr int64_t kTid = 101;
/// A machine number in the upper bits, as real exports have it.
inline constexpr int64_t kGlobalPid = (int64_t{3} << 48) | (kPid << 24);
inline constexpr int64_t kGlobalTid = kGlobalPid | kTid;

/// What each export has.
inline const std::string kBase =
    "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
    "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.16.1'),"
    " ('EXPORT_PRODUCT_VERSION', '2025.3.2');"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT);"
    "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '');"
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "INSERT INTO StringIds VALUES (1, 'void leaf<1>(int)'), (2, 'leaf'), (3, '_Z4leafILi1EEvi'),"
    " (10, 'cudaLaunchKernel_v7000'), (11, 'cudaMemcpy_v3020'), (12, 'cudaMemcpyAsync_v3020');";

inline const std::string kRuntimeTable =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER,"
    " nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);";
inline std::string call(int64_t start, int64_t end, int64_t corr, int64_t name = 10,
                        int64_t event_class = 0) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + std::to_string(start) + "," +
         std::to_string(end) + "," + std::to_string(event_class) + "," +
         std::to_string(kGlobalTid) + "," + std::to_string(corr) + "," + std::to_string(name) +
         ",0,NULL);";
}

/// Columns that every version has; `optional` ones before the closing bracket, each after a comma.
inline std::string kernel_table(const std::string& optional = "",
                                const std::string& name = "CUPTI_ACTIVITY_KIND_KERNEL") {
  return "CREATE TABLE " + name +
         " (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER, contextId INTEGER,"
         " streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER,"
         " shortName INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER,"
         " gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,"
         " staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER,"
         " localMemoryTotal INTEGER, gridId INTEGER" +
         optional + ");";
}
inline std::string kernel(int64_t start, int64_t end, int64_t corr,
                          const std::string& optional = "",
                          const std::string& name = "CUPTI_ACTIVITY_KIND_KERNEL") {
  return "INSERT INTO " + name + " VALUES (" + std::to_string(start) + "," + std::to_string(end) +
         ",0,1,7," + std::to_string(corr) + "," + std::to_string(kGlobalPid) +
         ",1,2,40,11,12,13,32,2,1,512,1024,16,4096,77" + optional + ");";
}

inline const std::string kMemcpyTable =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,"
    " globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);";
inline const std::string kMemsetTable =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,"
    " globalPid INTEGER, value INTEGER, bytes INTEGER, memKind INTEGER);";
inline const std::string kSyncTable =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER,"
    " deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,"
    " globalPid INTEGER, syncType INTEGER, eventId INTEGER);";
inline const std::string kMemoryTable =
    "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER,"
    " deviceId INTEGER, contextId INTEGER, address INTEGER, pc INTEGER, bytes INTEGER,"
    " memKind INTEGER, memoryOperationType INTEGER, name TEXT, correlationId INTEGER,"
    " streamId INTEGER);";

/// A folder with exports and their captures.
class Exports {
 public:
  std::string make(const std::string& name, const std::string& sql) const {
    const std::string path = folder_.file(name);
    ledger::Database database(path, ledger::OpenMode::kCreate);
    database.execute("BEGIN;" + sql + "COMMIT;");
    return path;
  }
  std::string file(const std::string& name) const { return folder_.file(name); }
  std::vector<std::string> names() const { return folder_.names(); }

 private:
  ledger::test::TemporaryFolder folder_;
};

inline NsysImportOptions options() {
  NsysImportOptions out;
  out.importer = "stwo-prof 0.1.0";
  return out;
}

}  // namespace prof::test
