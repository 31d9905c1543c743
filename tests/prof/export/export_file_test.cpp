#include "prof/export/export_file.hpp"

#include "tests/ledger/trace/trace_files.hpp"

namespace prof {
namespace {

using ledger::test::code_of;
using ledger::test::read_file;
using ledger::test::Rows;
using ledger::test::TemporaryFolder;

TEST(ExportFile, AppearsCompleteOrNotAtAll) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.json");
  const std::string large(3 << 20, 'a');
  {
    ExportFile file(path, false);
    file.write("abandoned");
    EXPECT_EQ(folder.names().size(), 1U);
    EXPECT_NE(folder.names().at(0), "x.json");
  }
  EXPECT_TRUE(folder.names().empty());
  ExportFile file(path, false);
  file.write("head");
  file.write(large);
  file.write("tail");
  file.finish();
  EXPECT_EQ(read_file(path), "head" + large + "tail");
  EXPECT_THROW(file.write("more"), stwo::ContractError);
}

TEST(ExportFile, NeverOverwrites) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.json");
  {
    ExportFile late(path, false);
    late.write("late");
    ledger::test::write_file(path, "first");
    EXPECT_EQ(code_of([&] { late.finish(); }), "OUTPUT_EXISTS");
  }
  EXPECT_EQ(read_file(path), "first");
  EXPECT_EQ(folder.names(), (Rows{"x.json"}));
  EXPECT_EQ(code_of([&] { ExportFile again(path, false); }), "OUTPUT_EXISTS");
  EXPECT_EQ(code_of([&] { ExportFile lost(folder.file("no/x"), false); }), "OUTPUT_DIRECTORY");
  ExportFile replacing(path, true);
  replacing.write("second");
  replacing.finish();
  EXPECT_EQ(read_file(path), "second");
  EXPECT_EQ(folder.names(), (Rows{"x.json"}));
}

}  // namespace
}  // namespace prof
