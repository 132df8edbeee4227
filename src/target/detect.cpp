#include "target/detect.h"

#include <cpuid.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <fstream>

#include "target/processor_extensions.h"

namespace lathe {
namespace {

// A processor's brand and its family, model and stepping: virtual machines often hide the model in the brand.
struct CpuIdentity {
  std::string vendor;
  std::string brand;
  int family = 0;
  int model = 0;
  int stepping = 0;
};

std::string read_brand() {
  std::array<unsigned, 12> words{};
  unsigned unused[4];
  if (!__get_cpuid(0x80000000u, &unused[0], &unused[1], &unused[2], &unused[3]) || unused[0] < 0x80000004u) {
    return "x86";
  }
  for (unsigned i = 0; i < 3; ++i) {
    __get_cpuid(0x80000002u + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2], &words[4 * i + 3]);
  }
  char text[49] = {};
  std::memcpy(text, words.data(), 48);
  std::string brand;
  for (const char* c = text; *c; ++c) {  // brands are padded with blanks at both ends and within
    if (*c != ' ' || (!brand.empty() && brand.back() != ' ')) brand += *c;
  }
  while (!brand.empty() && brand.back() == ' ') brand.pop_back();
  return brand.empty() ? "x86" : brand;
}

CpuIdentity read_identity() {
  CpuIdentity identity;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d)) {
    char vendor[13] = {};
    std::memcpy(vendor, &b, 4);
    std::memcpy(vendor + 4, &d, 4);
    std::memcpy(vendor + 8, &c, 4);
    identity.vendor = vendor;
  }
  if (__get_cpuid(1, &a, &b, &c, &d)) {
    identity.stepping = static_cast<int>(a & 0xf);
    identity.model = static_cast<int>((a >> 4) & 0xf);
    identity.family = static_cast<int>((a >> 8) & 0xf);
    if (identity.family == 0xf || identity.family == 6)
      identity.model += static_cast<int>((a >> 16) & 0xf) << 4;
    if (identity.family == 0xf) identity.family += static_cast<int>((a >> 20) & 0xff);
  }
  identity.brand = read_brand();
  return identity;
}

bool has_avx512() {
  __builtin_cpu_init();  // the builtin also asks whether the operating system saves the registers
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}

std::vector<std::string> detect_extensions() {
  std::vector<std::string> names;
  for (size_t i = 0; i < kExtensions.size(); ++i) {
    if ((processor_extensions() >> i & 1) != 0) names.emplace_back(kExtensions[i].name);
  }
  return names;
}

// Zen 4 splits a 512-bit FMA over its 256-bit units; every other AVX-512 server core starts two a cycle.
int avx512_fma_per_cycle(const CpuIdentity& identity) {
  return identity.vendor == "AuthenticAMD" && identity.family == 0x19 ? 1 : 2;
}

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "32K" or "1M" as bytes; 0 where the text is none.
int64_t parse_size(const std::string& text) {
  int64_t value = 0;
  size_t i = 0;
  while (i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])))
    value = value * 10 + (text[i++] - '0');
  if (i < text.size() && text[i] == 'K') value <<= 10;
  if (i < text.size() && text[i] == 'M') value <<= 20;
  return value;
}

void detect_caches(Target& target, int cpu) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/", cpu, index);
    const std::string type = read_line(folder + "type");
    const std::string level = read_line(folder + "level");
    if (type != "Data" && type != "Unified") continue;
    CacheLevel* cache = level == "1"   ? &target.l1
                        : level == "2" ? &target.l2
                        : level == "3" ? &target.l3
                                       : nullptr;
    const int64_t bytes = parse_size(read_line(folder + "size"));
    if (cache == nullptr || bytes == 0) continue;
    cache->bytes = bytes;
    const int64_t ways = parse_size(read_line(folder + "ways_of_associativity"));
    const int64_t line = parse_size(read_line(folder + "coherency_line_size"));
    if (ways > 0) cache->ways = static_cast<int>(ways);
    if (line > 0) cache->line_bytes = static_cast<int>(line);
  }
}

}  // namespace

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

bool runs_some_target() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

Target detect_target() {
  const CpuIdentity identity = read_identity();
  const std::vector<int> cpus = allowed_cpus();
  Target target = generic_target(has_avx512() ? Isa::avx512 : Isa::avx2);
  target.machine = fmt::format("{} (family {} model {} stepping {})", identity.brand, identity.family,
                               identity.model, identity.stepping);
  if (target.isa == Isa::avx512) target.fma_per_cycle = avx512_fma_per_cycle(identity);
  target = with_extensions(std::move(target), detect_extensions());
  target.cores = static_cast<int>(cpus.size());
  detect_caches(target, cpus.front());
  return target;
}

int64_t memory_bytes() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<int64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace lathe
