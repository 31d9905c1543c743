// What the reader refuses, and with which code.
#include "ledger/trace/trace_reader.hpp"

#include <sys/stat.h>

#include <random>

#include "tests/ledger/trace/trace_files.hpp"

namespace ledger {
namespace {

using test::code_of;
using test::failure_of;
using test::span;
using test::TemporaryFolder;

void fill_some(TraceWriter& writer) {
  for (int i = 0; i < 500; ++i) {
    test::write_call(writer, 8, i, span(2 * i, 2 * i + 1));
    test::write_kernel(writer, "k", i, span(3 * i, 3 * i + 2));
  }
}

class TraceReader : public testing::Test {
 protected:
  void SetUp() override { test::write_trace(path_, fill_some); }
  std::string open_code(const std::string& path, TraceCheck check = TraceCheck::kContent) {
    return code_of([&] { open_trace(path, check); });
  }
  /// The capture with other content, under another name.
  std::string changed(const std::function<void(std::string&)>& change) {
    std::string content = test::read_file(path_);
    change(content);
    std::string path = folder_.file("changed.sptrace");
    test::write_file(path, content);
    return path;
  }
  /// The capture after some SQL by another program.
  std::string altered(const std::string& sql) {
    std::string path = folder_.file("altered.sptrace");
    test::write_file(path, test::read_file(path_));
    Database database(path, OpenMode::kReadWrite);
    database.execute(sql);
    return path;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("t.sptrace");
};

TEST_F(TraceReader, OpensWhatTheWriterMade) {
  const auto trace = open_trace(path_);
  EXPECT_EQ(trace->query_integer("SELECT COUNT(*) FROM kernel"), 500);
  // Read-only, from here too.
  EXPECT_EQ(code_of([&] { trace->execute("DELETE FROM kernel"); }), "LEDGER_READ_ONLY");
  EXPECT_EQ(folder_.names(), (std::vector<std::string>{"t.sptrace"}));
}

TEST_F(TraceReader, OpensInAFolderWithoutWritePermission) {
  const std::string inside = folder_.file("locked");
  std::filesystem::create_directory(inside);
  std::filesystem::rename(path_, inside + "/t.sptrace");
  ::chmod(inside.c_str(), 0555);
  open_trace(inside + "/t.sptrace");
  ::chmod(inside.c_str(), 0755);
}

TEST_F(TraceReader, MissingFileAndFolder) {
  EXPECT_EQ(open_code(folder_.file("none.sptrace")), "TRACE_OPEN");
  EXPECT_EQ(open_code(folder_.file("")), "TRACE_OPEN");
  EXPECT_NE(failure_of([&] { open_trace(folder_.file("none.sptrace")); }).message.find("none"),
            std::string::npos);
}

TEST_F(TraceReader, ForeignFiles) {
  const std::string path = folder_.file("x");
  test::write_file(path, "");
  EXPECT_EQ(open_code(path), "TRACE_FOREIGN");
  test::write_file(path, "{\"schema\":\"stwo_cuda_product_report_v1\"}");
  EXPECT_EQ(open_code(path), "TRACE_FOREIGN");
  test::write_file(path, std::string(5000, 'x'));
  EXPECT_EQ(open_code(path), "TRACE_FOREIGN");
  const std::string other = folder_.file("other.db");
  {
    Database database(other, OpenMode::kCreate);
    database.execute("CREATE TABLE t (x)");
  }
  EXPECT_EQ(open_code(other), "TRACE_FOREIGN");
  // A ledger is not a capture.
  {
    Database database(other, OpenMode::kReadWrite);
    database.execute("PRAGMA application_id = 0x73744c64");
  }
  EXPECT_EQ(open_code(other), "TRACE_FOREIGN");
  EXPECT_EQ(open_code(altered("PRAGMA user_version = 0")), "TRACE_FOREIGN");
}

TEST_F(TraceReader, NewerVersion) {
  const std::string path = altered("PRAGMA user_version = 2");
  EXPECT_EQ(open_code(path), "TRACE_NEWER");
  EXPECT_EQ(open_code(path, TraceCheck::kIdentity), "TRACE_NEWER");
}

TEST_F(TraceReader, NotFinished) {
  EXPECT_EQ(open_code(altered("DELETE FROM meta WHERE key = 'finalized'")), "TRACE_NOT_FINAL");
  EXPECT_EQ(open_code(altered("DELETE FROM seal")), "TRACE_NOT_FINAL");
  // Everything is in place but the seal: the writer was stopped just before it.
  EXPECT_EQ(open_code(altered("UPDATE seal SET sha256 = '" + std::string(64, '0') + "'")),
            "TRACE_NOT_FINAL");
}

TEST_F(TraceReader, ChangedBySomebodyElse) {
  const std::string path = altered("UPDATE gpu_op SET end_ns = end_ns + 1 WHERE id = 7");
  EXPECT_EQ(open_code(path), "TRACE_CORRUPT");
  // The quick check of identity does not look at the content.
  EXPECT_EQ(open_code(path, TraceCheck::kIdentity), "");
  EXPECT_EQ(open_code(altered("VACUUM")), "TRACE_CORRUPT");
  EXPECT_EQ(open_code(altered("DROP TABLE seal")), "TRACE_CORRUPT");
  EXPECT_EQ(open_code(altered("DROP TABLE meta")), "TRACE_CORRUPT");
}

TEST_F(TraceReader, AnyFlippedByteIsNoticed) {
  const size_t size = test::read_file(path_).size();
  std::vector<size_t> places = {size / 2, size - 1, 0, 16, 50, 68, 100, 4096};
  std::mt19937_64 rng(5);
  for (int i = 0; i < 200; ++i) places.push_back(rng() % size);
  for (const size_t place : places) {
    const std::string path = changed([&](std::string& content) {
      content[place] = static_cast<char>(content[place] ^ (1 << (place % 8)));
    });
    EXPECT_NE(open_code(path), "") << place;
  }
  // In the middle, where the rows are.
  EXPECT_EQ(open_code(changed([&](std::string& content) {
              content[size / 2] = static_cast<char>(~content[size / 2]);
            })),
            "TRACE_CORRUPT");
}

TEST_F(TraceReader, CutAtAnyPlaceIsNoticed) {
  const size_t size = test::read_file(path_).size();
  for (size_t kept = 0; kept < size; kept += 1 + size / 60) {
    EXPECT_NE(open_code(changed([&](std::string& content) { content.resize(kept); })), "") << kept;
  }
  EXPECT_NE(open_code(changed([&](std::string& content) { content.resize(size - 1); })), "");
  EXPECT_EQ(open_code(changed([&](std::string& content) { content += 'x'; })), "TRACE_CORRUPT");
}

}  // namespace
}  // namespace ledger
