// Programs that behave like nsys, or do not.
#include "prof/nsys/nsys_tool.hpp"

#include <filesystem>

#include "tests/ledger/trace/trace_files.hpp"

namespace prof {
namespace {

using ledger::test::failure_of;
using ledger::test::read_file;
using ledger::test::Rows;

/// A fake: what it does to record and to export; OUT is the file it is given.
constexpr const char* kRecords = "printf report > \"$OUT.nsys-rep\"";
constexpr const char* kExports = "printf 'SQLite format 3\\0rest' > \"$OUT\"";

class NsysProgram : public testing::Test {
 protected:
  std::string fake(const std::string& profile, const std::string& exporting,
                   const std::string& version = "echo NVIDIA Nsight Systems version 2025.3.2-x") {
    const std::string path = folder_.file("nsys");
    ledger::test::write_file(
        path,
        "#!/bin/sh\nMODE=$1\nOUT=\nfor a in \"$@\"; do case \"$a\" in --output=*) "
        "OUT=${a#--output=};; esac; done\n"
        "case $MODE in\n--version) " +
            version + ";;\nprofile) echo \"$@\" >> '" + folder_.file("calls") + "'\n" + profile +
            ";;\nexport) " + exporting + ";;\nesac\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  NsysState state(const std::string& program, double timeout_s = 20) {
    return find_nsys({program, timeout_s});
  }
  NsysRecording recording(std::vector<std::string> command) {
    NsysRecording out;
    out.output = folder_.file("x.nsys-rep");
    out.command = std::move(command);
    out.stdout_path = folder_.file("stdout");
    out.stderr_path = folder_.file("stderr");
    return out;
  }

  ledger::test::TemporaryFolder folder_;
};

TEST_F(NsysProgram, Usable) {
  const std::string path = fake(kRecords, kExports);
  const NsysState s = state(path);
  EXPECT_TRUE(s.usable) << s.reason;
  EXPECT_EQ(s.reason, "");
  EXPECT_EQ(s.tool->path, path);
  EXPECT_EQ(s.tool->version, "2025.3.2-x");
  EXPECT_EQ(require_nsys({path, 20}).version, "2025.3.2-x");
}

TEST_F(NsysProgram, Missing) {
  const NsysState s = state(folder_.file("nothing"));
  EXPECT_FALSE(s.tool.has_value());
  EXPECT_FALSE(s.usable);
  const auto failure = failure_of([&] { require_nsys({folder_.file("nothing"), 20}); });
  EXPECT_EQ(failure.code, "NSYS_MISSING");
  EXPECT_NE(failure.message.find(".sptrace"), std::string::npos) << failure.message;
  // A file without the right to run is no program.
  ledger::test::write_file(folder_.file("plain"), "#!/bin/sh\n");
  EXPECT_FALSE(state(folder_.file("plain")).tool.has_value());
}

TEST_F(NsysProgram, FoundInPath) {
  fake(kRecords, kExports);
  const std::string before = std::getenv("PATH");
  ::setenv(
      "PATH",
      (std::filesystem::path(folder_.file("nsys")).parent_path().string() + ":" + before).c_str(),
      1);
  const NsysState s = find_nsys({"nsys", 20});
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_TRUE(s.usable) << s.reason;
  EXPECT_EQ(s.tool->path, folder_.file("nsys"));
}

TEST_F(NsysProgram, WhyItIsNotUsable) {
  const auto reason = [&](const std::string& profile, const std::string& exporting) {
    const NsysState s = state(fake(profile, exporting));
    EXPECT_TRUE(s.tool.has_value());
    EXPECT_FALSE(s.usable);
    return s.reason;
  };
  EXPECT_EQ(reason("echo no rights >&2; exit 3", kExports),
            "recording a small program: nsys ended with status 3: no rights");
  EXPECT_EQ(reason("true", kExports), "recording a small program: nsys wrote no report");
  EXPECT_EQ(reason(kRecords, "echo Importer binary not found; exit 1"),
            "nsys export ended with status 1: Importer binary not found");
  EXPECT_EQ(reason(kRecords, "true"), "nsys export wrote no file");
  EXPECT_EQ(reason(kRecords, "printf garbage > \"$OUT\""),
            "nsys export wrote something else than a SQLite database");
  NsysState s = state(fake(kRecords, kExports, "exit 9"));
  EXPECT_EQ(s.reason, "nsys --version ended with status 9");
  const auto failure = failure_of([&] { require_nsys({fake(kRecords, "exit 1"), 20}); });
  EXPECT_EQ(failure.code, "NSYS_NO_EXPORT");
  EXPECT_NE(failure.message.find("nsys export ended with status 1"), std::string::npos);
  EXPECT_NE(failure.message.find(".sptrace"), std::string::npos);
}

TEST_F(NsysProgram, AnExportThatHangs) {
  const NsysState s = state(fake(kRecords, "exec sleep 1000"), 1);
  EXPECT_FALSE(s.usable);
  EXPECT_EQ(s.reason, "nsys export did not end within 1 s");
}

TEST_F(NsysProgram, Records) {
  const NsysTool tool{fake(std::string(kRecords) + "; printf said", kExports), ""};
  const TargetResult result = record_with_nsys(tool, recording({"/bin/prog", "--flag", "a b"}));
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(read_file(folder_.file("x.nsys-rep")), "report");
  EXPECT_EQ(read_file(folder_.file("stdout")), "said");
  EXPECT_FALSE(std::filesystem::exists(folder_.file("x.nsys-rep.partial")));
  const std::string calls = read_file(folder_.file("calls"));
  EXPECT_EQ(calls.find("profile --trace=cuda,nvtx --sample=none --cpuctxsw=none "
                       "--cuda-memory-usage=true --cuda-graph-trace=node --output="),
            0U)
      << calls;
  EXPECT_NE(calls.find("/report /bin/prog --flag a b\n"), std::string::npos) << calls;

  export_report(tool, folder_.file("x.nsys-rep"), folder_.file("x.sqlite"));
  EXPECT_EQ(read_file(folder_.file("x.sqlite")).substr(0, 15), "SQLite format 3");
  // Not twice under one name.
  EXPECT_EQ(failure_of([&] { record_with_nsys(tool, recording({"/bin/prog"})); }).code,
            "OUTPUT_EXISTS");
}

TEST_F(NsysProgram, AReportOfAProgramThatFailedIsKept) {
  const NsysTool tool{fake(std::string(kRecords) + "; exit 4", kExports), ""};
  const TargetResult result = record_with_nsys(tool, recording({"/bin/prog"}));
  EXPECT_EQ(result.exit_status, 4);
  EXPECT_EQ(read_file(folder_.file("x.nsys-rep")), "report");
}

TEST_F(NsysProgram, WithoutAReport) {
  EXPECT_EQ(failure_of([&] {
              record_with_nsys({fake("exit 4", kExports), ""}, recording({"/bin/prog"}));
            }).code,
            "TARGET_FAILED");
  EXPECT_EQ(failure_of([&] {
              record_with_nsys({fake("true", kExports), ""}, recording({"/bin/prog"}));
            }).code,
            "NSYS_NO_REPORT");
  NsysRecording hanging = recording({"/bin/prog"});
  hanging.timeout_s = 1;
  EXPECT_EQ(failure_of([&] {
              record_with_nsys({fake("exec sleep 1000", kExports), ""}, hanging);
            }).code,
            "TARGET_TIMEOUT");
  EXPECT_FALSE(std::filesystem::exists(folder_.file("x.nsys-rep.partial")));
  NsysRecording odd = recording({"/bin/prog"});
  odd.output = folder_.file("x.qdrep");
  EXPECT_EQ(failure_of([&] {
              record_with_nsys({fake(kRecords, kExports), ""}, odd);
            }).code,
            "NSYS_OUTPUT");
  // The folder of a run that was interrupted.
  std::filesystem::create_directory(folder_.file("x.nsys-rep.partial"));
  EXPECT_EQ(failure_of([&] {
              record_with_nsys({fake(kRecords, kExports), ""}, recording({"/bin/prog"}));
            }).code,
            "OUTPUT_EXISTS");
}

TEST_F(NsysProgram, ExportsThatFail) {
  const auto message = [&](const char* exporting, double timeout_s) {
    const auto failure = failure_of([&] {
      export_report({fake(kRecords, exporting), ""}, "x.nsys-rep", folder_.file("y.sqlite"),
                    timeout_s);
    });
    EXPECT_EQ(failure.code, "NSYS_NO_EXPORT");
    EXPECT_EQ(failure.message.find('\n'), std::string::npos);
    return failure.message;
  };
  EXPECT_NE(message("echo corrupt >&2; exit 1", 20).find("ended with status 1: corrupt"),
            std::string::npos);
  EXPECT_NE(message("true", 20).find("wrote no file"), std::string::npos);
  EXPECT_NE(message("exec sleep 1000", 1).find("did not end within 1 s"), std::string::npos);
  EXPECT_NE(message("printf garbage > \"$OUT\"", 20).find("something else"), std::string::npos);
}

}  // namespace
}  // namespace prof
