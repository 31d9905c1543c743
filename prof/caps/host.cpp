#include "prof/caps/host.hpp"

#include <filesystem>
#include <sstream>
#include <system_error>

#include "prof/target/scratch_folder.hpp"
#include "prover/cli/terminal.hpp"

namespace prof {
namespace {

constexpr size_t kFileBytes = size_t{4} << 20;

/// What follows "KEY :" in the first line that begins so.
Known<std::string> field(const std::string& text, const std::string& key, const char* file) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    if (begin != std::string::npos) {
      return Known<std::string>::of(stwo::one_line(line.substr(begin)));
    }
  }
  return Known<std::string>::unknown(std::string(file) + " has no " + key);
}

Known<std::string> container(const std::string& root) {
  std::error_code ignored;
  const auto exists = [&](const char* path) {
    return std::filesystem::exists(root + path, ignored);
  };
  const std::string groups = read_start(root + "/proc/1/cgroup", kFileBytes);
  const std::string environment = read_start(root + "/proc/1/environ", kFileBytes);
  if (groups.find("kubepods") != std::string::npos) return Known<std::string>::of("kubernetes");
  if (exists("/.dockerenv") || groups.find("/docker") != std::string::npos) {
    return Known<std::string>::of("docker");
  }
  if (exists("/run/.containerenv")) return Known<std::string>::of("podman");
  if (groups.find("/lxc") != std::string::npos) return Known<std::string>::of("lxc");
  if (('\0' + environment).find(std::string("\0container=", 11)) != std::string::npos) {
    return Known<std::string>::of("other");
  }
  if (groups.empty() && environment.empty()) {
    return Known<std::string>::unknown("neither /proc/1/cgroup nor /proc/1/environ can be read");
  }
  return Known<std::string>::of("none");
}

}  // namespace

HostFacts read_host(const std::string& root) {
  HostFacts out;
  const std::string cpus = read_start(root + "/proc/cpuinfo", kFileBytes);
  out.cpu_model = field(cpus, "model name", "/proc/cpuinfo");
  uint32_t count = 0;
  for (size_t at = 0; (at = cpus.find("processor", at)) != std::string::npos; ++at) {
    if (at == 0 || cpus[at - 1] == '\n') ++count;
  }
  out.logical_cpus = count > 0 ? Known<uint32_t>::of(count)
                               : Known<uint32_t>::unknown("/proc/cpuinfo names no processor");
  const Known<std::string> flags = field(cpus, "flags", "/proc/cpuinfo");
  out.virtual_machine =
      flags.has_value()
          ? Known<bool>::of((" " + *flags.value + " ").find(" hypervisor ") != std::string::npos)
          : Known<bool>::unknown(flags.reason);

  uint64_t kibibytes = 0;
  const Known<std::string> total =
      field(read_start(root + "/proc/meminfo", kFileBytes), "MemTotal", "/proc/meminfo");
  out.memory_bytes = total.has_value() && (std::istringstream(*total.value) >> kibibytes)
                         ? Known<uint64_t>::of(kibibytes * 1024)
                         : Known<uint64_t>::unknown("/proc/meminfo has no MemTotal");

  double load = 0;
  out.load_1min = std::istringstream(read_start(root + "/proc/loadavg", kFileBytes)) >> load
                      ? Known<double>::of(load)
                      : Known<double>::unknown("/proc/loadavg cannot be read");
  const std::string release =
      stwo::one_line(read_start(root + "/proc/sys/kernel/osrelease", kFileBytes));
  out.kernel = release.empty()
                   ? Known<std::string>::unknown("/proc/sys/kernel/osrelease cannot be read")
                   : Known<std::string>::of(release);
  out.container = container(root);
  return out;
}

}  // namespace prof
