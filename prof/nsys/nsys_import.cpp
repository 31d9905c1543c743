#include "prof/nsys/nsys_import.hpp"

#include <unistd.h>

#include <optional>

#include "prof/nsys/import_state.hpp"

namespace prof {
namespace {

NsysImported import_into(nsys::NsysFile& file, ledger::TraceWriter& writer,
                         const NsysImportOptions& options) {
  nsys::ImportState state(file, writer, options);
  std::set<std::string> absent;
  // Calls first: copies ask which of them waited.
  nsys::import_calls(state, absent);
  nsys::import_operations(state, absent);
  nsys::import_waits(state, absent);
  nsys::import_events(state);
  nsys::import_memory(state, absent);
  nsys::import_ranges(state);
  nsys::import_overhead(state);
  nsys::import_devices(state);
  nsys::import_contexts(state);
  nsys::import_facts(state, absent);
  return state.result;
}

}  // namespace

NsysImported import_nsys(const std::string& sqlite_path, const std::string& output,
                         const NsysImportOptions& options) {
  nsys::NsysFile file(sqlite_path);
  std::optional<ledger::TraceWriter> writer(std::in_place, output, options.existing);
  const std::string partial = writer->partial_path();
  try {
    NsysImported out = import_into(file, *writer, options);
    writer->finalize();
    return out;
  } catch (...) {
    // The export is still there to begin again from: a partial capture is of no use.
    writer.reset();
    ::unlink(partial.c_str());
    throw;
  }
}

}  // namespace prof
