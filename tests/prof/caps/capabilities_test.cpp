// All facts together, and whether a judge could work here.
#include "prof/caps/capabilities.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

namespace prof {
namespace {

using Json = nlohmann::json;

constexpr const char* kUuid = "GPU-00000000-0000-0000-0000-000000000001";

/// A device without any obstacle.
NvmlDevice good_device() {
  NvmlDevice d;
  d.uuid = Known<std::string>::of(kUuid);
  d.name = Known<std::string>::of("NVIDIA Test");
  d.sm = Known<uint32_t>::of(90);
  d.memory_bytes = Known<uint64_t>::of(uint64_t{80} << 30);
  d.memory_used_bytes = Known<uint64_t>::of(1 << 20);
  d.sm_clock_mhz = Known<uint32_t>::of(345);
  d.memory_clock_mhz = Known<uint32_t>::of(2619);
  d.max_sm_clock_mhz = Known<uint32_t>::of(1980);
  d.max_memory_clock_mhz = Known<uint32_t>::of(2619);
  d.power_limit_mw = Known<uint32_t>::of(700000);
  d.ecc = Known<bool>::of(true);
  d.uncorrected_ecc_errors = Known<uint64_t>::of(0);
  d.mig = Known<bool>::of(false);
  d.compute_mode = Known<std::string>::of("default");
  d.persistence = Known<bool>::of(true);
  d.pcie_generation = Known<uint32_t>::of(5);
  d.pcie_width = Known<uint32_t>::of(16);
  d.processes = Known<std::vector<ComputeProcess>>::of({});
  return d;
}

NvmlSample good_sample() {
  NvmlSample s;
  s.temperature_c = Known<uint32_t>::of(33);
  s.power_mw = Known<uint32_t>::of(72400);
  s.sm_clock_mhz = Known<uint32_t>::of(345);
  s.memory_clock_mhz = Known<uint32_t>::of(2619);
  s.clock_reasons = Known<uint64_t>::of(kReasonIdle);
  s.performance_state = Known<uint32_t>::of(0);
  return s;
}

class FakeNvml : public Nvml {
 public:
  Known<std::string> driver_version() override { return Known<std::string>::of("580.95.05"); }
  Known<std::string> cuda_version() override { return Known<std::string>::of("13.0"); }
  Known<std::vector<NvmlDevice>> devices() override {
    return Known<std::vector<NvmlDevice>>::of(list);
  }
  NvmlSample sample(const std::string&) override { return one_sample; }

  std::vector<NvmlDevice> list = {good_device()};
  NvmlSample one_sample = good_sample();
};

class CapabilitiesTest : public ::testing::Test {
 protected:
  CapabilitiesTest() {
    DriverDevice cuda;
    cuda.uuid = kUuid;
    cuda.name = Known<std::string>::of("NVIDIA Test");
    cuda.sm = Known<uint32_t>::of(90);
    cuda.multiprocessors = Known<uint32_t>::of(132);
    cuda.memory_bytes = Known<uint64_t>::of(uint64_t{79} << 30);
    cuda.l2_bytes = Known<uint64_t>::of(50 << 20);
    cuda.peak_memory_bytes_per_s = Known<uint64_t>::of(3352320000000);
    driver_.cuda_version = Known<std::string>::of("13.0");
    driver_.devices = Known<std::vector<DriverDevice>>::of({cuda});
    host_.cpu_model = Known<std::string>::of("A processor");
    host_.logical_cpus = Known<uint32_t>::of(16);
    host_.memory_bytes = Known<uint64_t>::of(uint64_t{128} << 30);
    host_.load_1min = Known<double>::of(0.5);
    host_.kernel = Known<std::string>::of("6.1.0");
    host_.container = Known<std::string>::of("none");
    host_.virtual_machine = Known<bool>::of(false);
    probes_.nvml = [this] { return Known<std::shared_ptr<Nvml>>::of(nvml_); };
    probes_.driver = [this] { return driver_; };
    probes_.runtime = [] { return Known<std::string>::unknown("none is installed"); };
    probes_.host = [this] { return host_; };
    probes_.cupti = [] {
      return Tool{"cupti", true, "", Known<std::string>::of("13.0"),
                  Known<std::string>::of("/lib/libcupti.so.13")};
    };
    probes_.nsys = [] { return Tool::unusable("nsys", "not found in PATH"); };
    probes_.locate_ncu = [] { return Tool::unusable("ncu", "not installed"); };
    probes_.run = [](const std::vector<std::string>&, double) {
      return CommandResult{false, std::nullopt, "", "not found"};
    };
  }
  Capabilities gather() const { return gather_capabilities(probes_); }
  std::set<std::string> codes() const {
    std::set<std::string> out;
    for (const Obstacle& o : gather().obstacles) out.insert(o.code);
    return out;
  }
  NvmlDevice& device() { return nvml_->list[0]; }

  std::shared_ptr<FakeNvml> nvml_ = std::make_shared<FakeNvml>();
  DriverFacts driver_;
  HostFacts host_;
  CapabilityProbes probes_;
};

using Codes = std::set<std::string>;

TEST_F(CapabilitiesTest, JudgeHost) {
  const Capabilities c = gather();
  EXPECT_TRUE(c.obstacles.empty());
  EXPECT_EQ(c.judge_devices, std::vector<std::string>{kUuid});
  EXPECT_NE(capabilities_text(c).find("This machine could be a locked judge host.\n"),
            std::string::npos);
}

TEST_F(CapabilitiesTest, EveryObstacleAlone) {
  const auto expect = [&](const char* code, const std::string& device_of) {
    const Capabilities c = gather();
    ASSERT_EQ(c.obstacles.size(), 1U) << code;
    EXPECT_EQ(c.obstacles[0].code, code);
    EXPECT_EQ(c.obstacles[0].device, device_of);
    EXPECT_EQ(c.obstacles[0].message.find('\n'), std::string::npos);
    EXPECT_TRUE(c.judge_devices.empty());
  };
  const auto with_device = [&](const char* code, const auto& change) {
    change(device());
    expect(code, kUuid);
    device() = good_device();
  };
  with_device("JUDGE_MIG", [](NvmlDevice& d) { d.mig = Known<bool>::of(true); });
  with_device("JUDGE_MIG_UNKNOWN", [](NvmlDevice& d) { d.mig = Known<bool>::unknown("why"); });
  with_device("JUDGE_ECC_UNKNOWN", [](NvmlDevice& d) { d.ecc = Known<bool>::unknown("why"); });
  with_device("JUDGE_ECC_ERRORS",
              [](NvmlDevice& d) { d.uncorrected_ecc_errors = Known<uint64_t>::of(2); });
  with_device("JUDGE_OTHER_PROCESSES", [](NvmlDevice& d) {
    d.processes = Known<std::vector<ComputeProcess>>::of({{4711, Known<uint64_t>::of(1)}});
  });
  with_device("JUDGE_PROCESSES_UNKNOWN", [](NvmlDevice& d) {
    d.processes = Known<std::vector<ComputeProcess>>::unknown("why");
  });
  with_device("JUDGE_PERSISTENCE_OFF",
              [](NvmlDevice& d) { d.persistence = Known<bool>::of(false); });
  with_device("JUDGE_PERSISTENCE_UNKNOWN",
              [](NvmlDevice& d) { d.persistence = Known<bool>::unknown("why"); });
  with_device("JUDGE_COMPUTE_PROHIBITED",
              [](NvmlDevice& d) { d.compute_mode = Known<std::string>::of("prohibited"); });
  with_device("JUDGE_POWER_UNKNOWN",
              [](NvmlDevice& d) { d.power_limit_mw = Known<uint32_t>::unknown("why"); });

  const auto with_sample = [&](const char* code, const auto& change) {
    change(nvml_->one_sample);
    expect(code, kUuid);
    nvml_->one_sample = good_sample();
  };
  with_sample("JUDGE_CLOCKS_UNKNOWN",
              [](NvmlSample& s) { s.sm_clock_mhz = Known<uint32_t>::unknown("why"); });
  with_sample("JUDGE_CLOCKS_UNKNOWN",
              [](NvmlSample& s) { s.memory_clock_mhz = Known<uint32_t>::unknown("why"); });
  with_sample("JUDGE_THROTTLE_UNKNOWN",
              [](NvmlSample& s) { s.clock_reasons = Known<uint64_t>::unknown("why"); });
  with_sample("JUDGE_THROTTLED",
              [](NvmlSample& s) { s.clock_reasons = Known<uint64_t>::of(kReasonHardwareThermal); });
  with_sample("JUDGE_TEMPERATURE_UNKNOWN",
              [](NvmlSample& s) { s.temperature_c = Known<uint32_t>::unknown("why"); });

  const auto with_host = [&](const char* code, const auto& change) {
    const HostFacts before = host_;
    change(host_);
    expect(code, "");
    host_ = before;
  };
  with_host("JUDGE_CONTAINER",
            [](HostFacts& h) { h.container = Known<std::string>::of("docker"); });
  with_host("JUDGE_CONTAINER_UNKNOWN",
            [](HostFacts& h) { h.container = Known<std::string>::unknown("why"); });
  with_host("JUDGE_LOAD", [](HostFacts& h) { h.load_1min = Known<double>::of(8.01); });
  with_host("JUDGE_LOAD_UNKNOWN",
            [](HostFacts& h) { h.load_1min = Known<double>::unknown("why"); });

  driver_.devices = Known<std::vector<DriverDevice>>::of({});
  expect("JUDGE_NO_CUDA", kUuid);
}

TEST_F(CapabilitiesTest, NotEveryOddityIsAnObstacle) {
  device().mig = Known<bool>::unknown(std::string(kNotSupportedByDevice) + " (Not Supported)");
  host_.load_1min = Known<double>::of(8.0);  // exactly half of the processors
  host_.virtual_machine = Known<bool>::of(true);
  EXPECT_EQ(codes(), Codes{});
}

TEST_F(CapabilitiesTest, OneOfTwoDevices) {
  NvmlDevice second = good_device();
  second.uuid = Known<std::string>::of("GPU-second");
  second.index = 1;
  nvml_->list.push_back(second);
  const Capabilities c = gather();
  EXPECT_EQ(c.judge_devices, std::vector<std::string>{kUuid});
  ASSERT_EQ(c.obstacles.size(), 1U);
  EXPECT_EQ(c.obstacles[0].device, "GPU-second");
  EXPECT_EQ(c.obstacles[0].message,
            "the CUDA driver does not offer this device; see CUDA_VISIBLE_DEVICES");
}

TEST_F(CapabilitiesTest, MachineWithoutDriver) {
  probes_.nvml = [] { return Known<std::shared_ptr<Nvml>>::unknown("no NVML"); };
  driver_.cuda_version = Known<std::string>::unknown("no driver");
  driver_.devices = Known<std::vector<DriverDevice>>::unknown("no driver");
  const Capabilities c = gather();
  EXPECT_EQ(c.devices.reason, "no NVML; no driver");
  EXPECT_EQ(c.driver_version.reason, "no NVML");
  EXPECT_EQ(codes(), Codes{"JUDGE_NO_DEVICE"});
  const Json json = Json::parse(capabilities_json(c));
  EXPECT_TRUE(json.at("devices").is_null());
  EXPECT_EQ(json.at("missing").at("/devices"), "no NVML; no driver");
  EXPECT_EQ(json.at("missing").at("/versions/driver"), "no NVML");
  EXPECT_FALSE(json.at("judge_host").at("possible").get<bool>());
}

TEST_F(CapabilitiesTest, NoNvmlButCuda) {
  probes_.nvml = [] { return Known<std::shared_ptr<Nvml>>::unknown("no NVML"); };
  const Capabilities c = gather();
  ASSERT_EQ(c.devices.value->size(), 1U);
  EXPECT_EQ(c.devices.value->at(0).uuid().value, kUuid);
  EXPECT_EQ(c.devices.value->at(0).nvml.ecc.reason, "no NVML");
  EXPECT_TRUE(c.judge_devices.empty());
  EXPECT_EQ(codes().count("JUDGE_ECC_UNKNOWN"), 1U);
}

TEST_F(CapabilitiesTest, Tools) {
  Capabilities c = gather();
  ASSERT_EQ(c.tools.size(), 4U);
  EXPECT_EQ(c.tools[0].name, "cupti");
  EXPECT_TRUE(c.tools[1].usable);  // NVTX, with CUPTI
  EXPECT_EQ(c.tools[3].reason, "not installed");
  probes_.cupti = [] { return Tool::unusable("cupti", "built with 13.0, found 12.4"); };
  c = gather();
  EXPECT_FALSE(c.tools[1].usable);
  EXPECT_NE(capabilities_text(c).find("built with 13.0, found 12.4"), std::string::npos);
}

/// Every null, as a path.
void nulls_of(const Json& value, const std::string& path, std::set<std::string>& out) {
  if (value.is_null()) out.insert(path);
  if (!value.is_structured()) return;
  size_t i = 0;
  for (const auto& item : value.items()) {
    nulls_of(item.value(), path + "/" + (value.is_array() ? std::to_string(i++) : item.key()), out);
  }
}

TEST_F(CapabilitiesTest, JsonExplainsItsNulls) {
  device().ecc = Known<bool>::unknown("not told");
  device().processes =
      Known<std::vector<ComputeProcess>>::of({{7, Known<uint64_t>::unknown("hidden")}});
  const Capabilities c = gather();
  const std::string text = capabilities_json(c);
  EXPECT_EQ(text, capabilities_json(gather()));
  EXPECT_EQ(text.back(), '\n');
  const Json json = Json::parse(text);
  EXPECT_EQ(json.at("schema"), "stwo_prof_caps_v1");
  const Json& d = json.at("devices").at(0);
  EXPECT_EQ(d.at("uuid"), kUuid);
  EXPECT_EQ(d.at("sm"), 90);
  EXPECT_EQ(d.at("memory_bytes"), uint64_t{80} << 30);
  EXPECT_EQ(d.at("multiprocessors"), 132);
  EXPECT_EQ(d.at("processes").at(0).at("pid"), 7);
  std::set<std::string> nulls;
  nulls_of(json, "", nulls);
  std::set<std::string> explained;
  for (const auto& item : json.at("missing").items()) {
    EXPECT_NE(item.value().get<std::string>(), "") << item.key();
    explained.insert(item.key());
  }
  // Reasons of tools that work, and the device of an obstacle of the whole machine, are null by
  // their meaning.
  for (const char* usable : {"/tools/0/reason", "/tools/1/reason"}) {
    EXPECT_EQ(nulls.erase(usable), 1U) << usable;
  }
  EXPECT_EQ(nulls, explained);
  EXPECT_EQ(json.at("missing").at("/devices/0/ecc"), "not told");
  EXPECT_EQ(json.at("missing").at("/devices/0/processes/0/memory_bytes"), "hidden");
}

TEST_F(CapabilitiesTest, TextShowsValuesAndReasons) {
  device().ecc = Known<bool>::unknown("not told");
  // Columns are aligned with spaces: how many does not matter here.
  std::string text;
  for (const char c : capabilities_text(gather())) {
    if (c != ' ' || text.empty() || text.back() != ' ') text += c;
  }
  for (const char* line :
       {"\ndriver 580.95.05\n", "\nCUDA runtime unknown: none is installed\n",
        "\nCUDA toolkit unknown: no nvcc in PATH\n", "\ndevice 0 NVIDIA Test\n", "\n SM 9.0\n",
        "\n memory 80.0 GiB\n", "\n peak bandwidth 3352 GB/s by clock and bus\n",
        "\n SM clock 345 MHz, at most 1980 MHz\n", "\n clocks held by idle\n",
        "\n power 72 W, limit 700 W\n", "\n ECC unknown: not told\n", "\n compute processes 0\n",
        "\nThis machine cannot be a locked judge host:\n",
        "the ECC mode cannot be read (not told)"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
  }
}

TEST_F(CapabilitiesTest, ThisMachine) {
  // Whatever it is, it is told without a throw, and the JSON is JSON.
  const Capabilities c = gather_capabilities(machine_probes());
  EXPECT_EQ(c.tools.size(), 4U);
  EXPECT_EQ(Json::parse(capabilities_json(c)).at("schema"), "stwo_prof_caps_v1");
  EXPECT_TRUE(c.host.logical_cpus.has_value());
}

}  // namespace
}  // namespace prof
