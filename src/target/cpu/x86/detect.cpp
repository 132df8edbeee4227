#include "target/detect.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string>

#include "target/cpu/x86/x86.h"

#ifdef __x86_64__
#include <cpuid.h>

#include "target/cpu/x86/processor_extensions.h"

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

// The builtins also ask whether the operating system saves the registers.
bool has_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

bool has_avx512() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}

// Zen 4 splits a 512-bit FMA over its 256-bit units; every other AVX-512 server core starts two a cycle.
int avx512_fma_per_cycle(const CpuIdentity& identity) {
  return identity.vendor == "AuthenticAMD" && identity.family == 0x19 ? 1 : 2;
}

std::vector<std::string> detect_extensions() {
  std::vector<std::string> names;
  for (size_t i = 0; i < kExtensions.size(); ++i) {
    if ((processor_extensions() >> i & 1) != 0) names.emplace_back(kExtensions[i].name);
  }
  return names;
}

Target detected(Target target, const CpuIdentity& identity) {
  const std::vector<int> cpus = allowed_cpus();
  target.machine = fmt::format("{} (family {} model {} stepping {})", identity.brand, identity.family,
                               identity.model, identity.stepping);
  target.cpu().cores = static_cast<int>(cpus.size());
  detect_caches(target.cpu(), cpus.front());
  return with_extensions(std::move(target), detect_extensions());
}

}  // namespace

std::optional<Target> detect_avx2() {
  if (!has_avx2()) return std::nullopt;
  return detected(generic_avx2(), read_identity());
}

std::optional<Target> detect_avx512() {
  if (!has_avx512()) return std::nullopt;
  const CpuIdentity identity = read_identity();
  Target target = detected(generic_avx512(), identity);
  target.cpu().fma_per_cycle = avx512_fma_per_cycle(identity);
  return target;
}

}  // namespace lathe

#else

namespace lathe {

std::optional<Target> detect_avx2() { return std::nullopt; }
std::optional<Target> detect_avx512() { return std::nullopt; }

}  // namespace lathe

#endif
