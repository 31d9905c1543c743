// The host's files.
#include "prof/caps/host.hpp"

#include "tests/prof/caps/caps_files.hpp"

namespace prof {
namespace {

class HostTest : public test::FolderTest {
 protected:
  std::string container() const { return *read_host(folder_.string()).container.value; }
};

TEST_F(HostTest, Facts) {
  write("proc/cpuinfo",
        "processor\t: 0\nmodel name\t: A processor \nflags\t\t: fpu hypervisor sse\n\n"
        "processor\t: 1\nmodel name\t: A processor\nflags\t\t: fpu hypervisor sse\n");
  write("proc/meminfo", "MemTotal:       1024 kB\nMemFree: 1 kB\n");
  write("proc/loadavg", "1.25 0.50 0.25 1/100 1234\n");
  write("proc/sys/kernel/osrelease", "6.1.0-13-amd64\n");
  write("proc/1/cgroup", "0::/init.scope\n");
  const HostFacts host = read_host(folder_.string());
  EXPECT_EQ(host.cpu_model.value, "A processor");
  EXPECT_EQ(host.logical_cpus.value, 2U);
  EXPECT_EQ(host.memory_bytes.value, 1048576U);
  EXPECT_EQ(host.load_1min.value, 1.25);
  EXPECT_EQ(host.kernel.value, "6.1.0-13-amd64");
  EXPECT_EQ(host.container.value, "none");
  EXPECT_EQ(host.virtual_machine.value, true);
}

TEST_F(HostTest, NothingToRead) {
  const HostFacts host = read_host(folder_.string());
  EXPECT_EQ(host.cpu_model.reason, "/proc/cpuinfo has no model name");
  EXPECT_EQ(host.logical_cpus.reason, "/proc/cpuinfo names no processor");
  EXPECT_FALSE(host.memory_bytes.has_value());
  EXPECT_FALSE(host.load_1min.has_value());
  EXPECT_FALSE(host.kernel.has_value());
  EXPECT_FALSE(host.container.has_value());
  EXPECT_FALSE(host.virtual_machine.has_value());
}

TEST_F(HostTest, Containers) {
  write("proc/1/cgroup", "0::/init.scope\n");
  write("proc/1/environ", std::string("PATH=/bin\0container=systemd-nspawn\0", 35));
  EXPECT_EQ(container(), "other");
  write("proc/1/environ", std::string("PATH=/bin\0no_container=1\0", 25));
  EXPECT_EQ(container(), "none");
  write("run/.containerenv", "");
  EXPECT_EQ(container(), "podman");
  write("proc/1/cgroup", "12:cpu:/docker/0123\n");
  EXPECT_EQ(container(), "docker");
  write("proc/1/cgroup", "12:cpu:/kubepods/besteffort/pod1\n");
  EXPECT_EQ(container(), "kubernetes");
}

}  // namespace
}  // namespace prof
