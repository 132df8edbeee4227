#include "target/detect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "target/all.h"

namespace lathe {

Result<Target> detect_target() {
  std::vector<std::string_view> names;
  for (const TargetRow& row : all_targets()) {
    if (!std::holds_alternative<CpuTarget>(row.generic().kind)) continue;
    if (std::optional<Target> target = row.detect()) return *std::move(target);
    names.push_back(row.name);
  }
  return fail(ErrorKind::unsupported,
              fmt::format("this machine's processor runs none of the targets {}", fmt::join(names, ", ")));
}

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

int64_t memory_bytes() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<int64_t>(sysconf(_SC_PAGESIZE));
}

int64_t free_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  int64_t kilobytes = 0;
  for (std::string unit; file >> key >> kilobytes && std::getline(file, unit);)
    if (key == "MemAvailable:") return kilobytes * 1024;
  return memory_bytes();
}

}  // namespace lathe
