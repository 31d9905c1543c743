#include "prof/nsys/nsys_file.hpp"

#include "tests/prof/nsys/nsys_files.hpp"

namespace prof::nsys {
namespace {

using ledger::test::code_of;
using ledger::test::failure_of;
using test::Exports;
using test::kBase;

TEST(NsysFile, WhatIsNotAnExport) {
  const Exports exports;
  EXPECT_EQ(code_of([&] { NsysFile f(exports.file("missing")); }), "NSYS_OPEN");
  EXPECT_EQ(code_of([&] { NsysFile f(exports.file(".")); }), "NSYS_OPEN");
  ledger::test::write_file(exports.file("empty"), "");
  EXPECT_EQ(code_of([&] { NsysFile f(exports.file("empty")); }), "NSYS_FORMAT");
  ledger::test::write_file(exports.file("text"), "a report, but not an exported one");
  EXPECT_EQ(code_of([&] { NsysFile f(exports.file("text")); }), "NSYS_FORMAT");
  ledger::test::write_file(exports.file("garbage"),
                           std::string("SQLite format 3\0", 16) + std::string(5000, 'x'));
  EXPECT_EQ(code_of([&] { NsysFile f(exports.file("garbage")); }), "NSYS_FORMAT");
  const std::string other = exports.make("other", "CREATE TABLE t (x INTEGER);");
  const auto failure = failure_of([&] { NsysFile f(other); });
  EXPECT_EQ(failure.code, "NSYS_FORMAT");
  EXPECT_NE(failure.message.find("EXPORT_SCHEMA_VERSION"), std::string::npos) << failure.message;
}

TEST(NsysFile, OtherSchemas) {
  const Exports exports;
  for (const char* version : {"2.7.1", "4.0", "30.1", ""}) {
    const std::string path = exports.make(
        std::string("v") + version,
        std::string("CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
                    "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '") +
            version + "');");
    EXPECT_EQ(code_of([&] { NsysFile f(path); }), "NSYS_FORMAT") << version;
  }
}

TEST(NsysFile, TheNewestVersionOfATable) {
  const Exports exports;
  NsysFile file(
      exports.make("x", kBase + "CREATE TABLE K (a INTEGER); CREATE TABLE K_V2 (a INTEGER);"
                                "CREATE TABLE K_V10 (a INTEGER);"
                                "CREATE TABLE K_V11_old (a INTEGER);"
                                "CREATE TABLE K_Vx (a INTEGER); CREATE TABLE L_V3 (a INTEGER);"
                                "CREATE TABLE KEY (a INTEGER);"
                                "CREATE VIEW M AS SELECT 1;"));
  EXPECT_EQ(file.table("K"), "K_V10");
  EXPECT_EQ(file.table("L"), "L_V3");
  EXPECT_FALSE(file.table("M").has_value());
  EXPECT_FALSE(file.table("N").has_value());
  EXPECT_EQ(file.property("META_DATA_EXPORT", "EXPORT_PRODUCT_VERSION"), "2025.3.2");
  EXPECT_FALSE(file.property("META_DATA_EXPORT", "no").has_value());
  EXPECT_FALSE(file.property("K", "no").has_value());
}

TEST(NsysFile, RowsByColumn) {
  const Exports exports;
  NsysFile file(exports.make("x", kBase + "CREATE TABLE t (b, a, text);"
                                          "INSERT INTO t VALUES (2, 1, 'x'), (NULL, 2.5, 7);"));
  static constexpr Column kColumns[] = {
      {"a"}, {"b"}, optional_column("later"), optional_column("text")};
  Rows rows(file, "t", kColumns);
  ASSERT_TRUE(rows.step());
  EXPECT_EQ(rows.row(), 1);
  EXPECT_EQ(rows.integer(0), 1);
  EXPECT_EQ(rows.integer(1), 2);
  EXPECT_FALSE(rows.optional_integer(2).has_value());
  EXPECT_EQ(rows.optional_text(3), "x");
  ASSERT_TRUE(rows.step());
  EXPECT_THROW(rows.integer(0), RowProblem);           // a real number
  EXPECT_THROW(rows.integer(1), RowProblem);           // null
  EXPECT_THROW(rows.optional_text(3), RowProblem);     // a number
  EXPECT_FALSE(rows.optional_integer(1).has_value());  // null is allowed here
  EXPECT_FALSE(rows.step());

  static constexpr Column kMissing[] = {{"a"}, {"c"}};
  const auto failure = failure_of([&] { Rows r(file, "t", kMissing); });
  EXPECT_EQ(failure.code, "NSYS_FORMAT");
  EXPECT_NE(failure.message.find("table t has no column c"), std::string::npos);
}

}  // namespace
}  // namespace prof::nsys
