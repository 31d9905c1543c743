#include "kernels/runtime/modules.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "kernels/emulator/emulated_driver.hpp"
#include "kernels/runtime/counting_driver.hpp"
#include "kernels/runtime/errors.hpp"
#include "prover/hash/sha256.hpp"
#include "tests/support/errors.hpp"

namespace stwo::gpu {
namespace {

using test::code_of;

constexpr uint32_t kManyBytes = 100 * 1024;

/// A folder with the cubins of two modules for SM 9.0, and PTX of one.
class ModulesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "stwo_modules_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    add("first", ModuleKind::kCubin, 90,
        "\x7f"
        "ELF first",
        {"test_add", "test_indices"});
    add("second", ModuleKind::kCubin, 90,
        "\x7f"
        "ELF second",
        {"test_reverse"});
    add("first", ModuleKind::kPtx, 80, ".version 9.0", {"test_add", "test_indices"});
    ASSERT_EQ(driver.init(), CUDA_SUCCESS);
    CUcontext context = nullptr;
    ASSERT_EQ(driver.primary_context_retain(&context, 0), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(device->live().modules, 0u);
    EXPECT_TRUE(device->violations().empty());
    std::filesystem::remove_all(folder);
  }
  void add(const std::string& name, ModuleKind kind, int sm, const std::string& bytes,
           std::vector<std::string> kernels) {
    CubinEntry entry{name, sm, kind, bytes.size(), sha256_hex(bytes), {}, std::move(kernels)};
    entry.file_name = name + "." + std::string(module_kind_name(kind));
    write(entry.file_name, bytes);
    manifest.entries.push_back(entry);
  }
  void write(const std::string& file, const std::string& bytes) {
    std::ofstream(folder / file, std::ios::binary | std::ios::trunc) << bytes;
  }
  Modules make(int sm_major, bool allow_ptx = false) {
    DeviceIdentity identity;
    identity.name = "Test device";
    identity.sm_major = sm_major;
    identity.max_shared_per_block_bytes = kManyBytes;
    return Modules(driver, manifest, identity, folder, allow_ptx);
  }
  std::filesystem::path folder;
  CubinManifest manifest;
  std::shared_ptr<EmulatedDevice> device = std::make_shared<EmulatedDevice>();
  CountingDriver driver{make_emulated_driver(device)};
};

TEST_F(ModulesTest, LoadsEachModuleOnce) {
  Modules modules = make(9);
  const Kernel add = modules.kernel("test_add", 0, "prepare");
  EXPECT_EQ(add.name, "test_add");
  EXPECT_EQ(add.module, "first");
  EXPECT_EQ(add.max_threads, 256u);
  EXPECT_EQ(modules.kernel("test_add", 0, "prepare").function, add.function);
  modules.kernel("test_indices", 0, "prepare");
  modules.load("first", "prepare");
  EXPECT_EQ(driver.counters().module_loads, 1u);
  modules.kernel("test_reverse", 0, "pow");
  EXPECT_EQ(driver.counters().module_loads, 2u);
  EXPECT_EQ(driver.counters().jit_compiles, 0u);

  const auto loaded = modules.loaded();
  ASSERT_EQ(loaded.size(), 2u);
  EXPECT_EQ(loaded[0].name, "first");
  EXPECT_EQ(loaded[0].kind, ModuleKind::kCubin);
  EXPECT_EQ(loaded[0].sm, 90);
  EXPECT_EQ(loaded[0].loaded_in, "prepare");
  EXPECT_EQ(loaded[1].name, "second");
  EXPECT_EQ(loaded[1].load_ordinal, 1u);
  EXPECT_EQ(loaded[1].loaded_in, "pow");
  EXPECT_EQ(modules.status().entries, 3u);
  EXPECT_EQ(modules.status().loads, 2u);
  EXPECT_EQ(modules.status().cache_hits, 2u);
  EXPECT_EQ(modules.status().misses, 0u);
  EXPECT_TRUE(modules.status().strict);
}

TEST_F(ModulesTest, RefusesAnAlteredByte) {
  write("first.cubin",
        "\x7f"
        "ELF firsT");
  Modules modules = make(9);
  std::string message;
  EXPECT_EQ(code_of([&] { modules.kernel("test_add", 0, "prepare"); }, &message), "CUBIN_ALTERED");
  EXPECT_NE(message.find("SHA-256"), std::string::npos) << message;
  EXPECT_EQ(driver.counters().module_loads, 0u);
  EXPECT_EQ(modules.status().misses, 1u);
  // Restored, it loads.
  write("first.cubin",
        "\x7f"
        "ELF first");
  EXPECT_EQ(code_of([&] { modules.kernel("test_add", 0, "prepare"); }), "nothing");
}

TEST_F(ModulesTest, RefusesAnotherSize) {
  for (const std::string bytes : {"",
                                  "\x7f"
                                  "ELF firs",
                                  "\x7f"
                                  "ELF first "}) {
    write("first.cubin", bytes);
    Modules modules = make(9);
    std::string message;
    EXPECT_EQ(code_of([&] { modules.load("first", "prepare"); }, &message), "CUBIN_ALTERED");
    EXPECT_NE(message.find("size"), std::string::npos) << message;
  }
}

TEST_F(ModulesTest, NamesAMissingFile) {
  std::filesystem::remove(folder / "second.cubin");
  Modules modules = make(9);
  std::string message;
  EXPECT_EQ(code_of([&] { modules.load("second", "prepare"); }, &message), "CUBIN_MISSING");
  EXPECT_NE(message.find("second.cubin"), std::string::npos) << message;
}

TEST_F(ModulesTest, NeedsTheExactSm) {
  Modules modules = make(12);
  std::string message;
  EXPECT_EQ(code_of([&] { modules.load("first", "prepare"); }, &message), "SM_UNSUPPORTED");
  EXPECT_NE(message.find("STWO_CUDA_ARCHS=120"), std::string::npos) << message;
  EXPECT_NE(message.find("sm_90"), std::string::npos) << message;
}

TEST_F(ModulesTest, TakesPtxOnlyWhenAllowed) {
  Modules modules = make(12, true);
  const ModuleInfo& info = modules.load("first", "prepare");
  EXPECT_EQ(info.kind, ModuleKind::kPtx);
  EXPECT_EQ(module_kind_name(info.kind), "ptx");
  EXPECT_EQ(driver.counters().jit_compiles, 1u);
  EXPECT_FALSE(modules.status().strict);
  // A module without PTX stays unsupported.
  EXPECT_EQ(code_of([&] { modules.load("second", "prepare"); }), "SM_UNSUPPORTED");
}

TEST_F(ModulesTest, PrefersTheCubinToPtx) {
  Modules modules = make(9, true);
  EXPECT_EQ(modules.load("first", "prepare").kind, ModuleKind::kCubin);
}

TEST_F(ModulesTest, PtxIsNotForOlderDevices) {
  Modules modules = make(7, true);
  EXPECT_EQ(code_of([&] { modules.load("first", "prepare"); }), "SM_UNSUPPORTED");
}

TEST_F(ModulesTest, RaisesTheSharedMemoryLimitOnce) {
  Modules modules = make(9);
  EXPECT_EQ(modules.kernel("test_add", 48 * 1024, "prepare").max_dynamic_shared_bytes, 48u * 1024);
  EXPECT_EQ(modules.kernel("test_add", 64 * 1024, "prepare").max_dynamic_shared_bytes, 64u * 1024);
  EXPECT_EQ(modules.kernel("test_add", 1024, "prepare").max_dynamic_shared_bytes, 64u * 1024);
  EXPECT_EQ(code_of([&] { modules.kernel("test_add", kManyBytes + 1, "prepare"); }),
            "DEVICE_UNSUPPORTED");
}

TEST_F(ModulesTest, AnUnknownNameIsABug) {
  Modules modules = make(9);
  EXPECT_EQ(code_of([&] { modules.kernel("test_nothing", 0, "prepare"); }), "CONTRACT");
  EXPECT_EQ(code_of([&] { modules.load("third", "prepare"); }), "CONTRACT");
  add("third", ModuleKind::kCubin, 90,
      "\x7f"
      "ELF third",
      {"test_add"});
  EXPECT_EQ(code_of([&] { make(9); }), "CONTRACT");  // a kernel in two modules
}

TEST_F(ModulesTest, IdentityCoversEveryEntry) {
  const std::string before = manifest.identity_sha256();
  CubinManifest reordered = manifest;
  std::swap(reordered.entries[0], reordered.entries[1]);
  EXPECT_EQ(reordered.identity_sha256(), before);
  manifest.entries[2].sha256[0] ^= 1;
  EXPECT_NE(manifest.identity_sha256(), before);
}

}  // namespace
}  // namespace stwo::gpu
