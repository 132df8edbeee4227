// A processor with vector registers and caches, as the compiler sees it. Which instructions any program may
// have follows from its target's name; `extensions` are instructions that a program has only where its trace
// says so (the step `tensorize`), and that a target without them refuses. The other fields guide choices and
// never change what is legal.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace lathe {

// One level of data cache as one core sees it.
struct CacheLevel {
  int64_t bytes = 0;
  int ways = 8;  // associativity
  int line_bytes = 64;
  bool operator==(const CacheLevel&) const = default;
};

// Instructions that some processors of a target's name have.
struct Extension {
  std::string_view name;
  int vector_bytes;  // of the narrowest target whose programs may have them
};
inline constexpr std::array kExtensions = {Extension{"avx_vnni", 32}, Extension{"avx512_vnni", 64},
                                           Extension{"avx512_bf16", 64}};

struct CpuTarget {
  std::vector<std::string> extensions = {};  // in the order of `kExtensions`; no part of a target's identity
  int cores = 1;                             // that a program uses; a part of a task's identity
  int vector_bytes = 32;
  int vector_registers = 16;
  int fma_per_cycle = 2;  // vector FMAs that one core starts a cycle
  int fma_latency_cycles = 4;
  CacheLevel l1;
  CacheLevel l2;
  CacheLevel l3;  // shared by the cores

  // How many elements of so many bytes a vector register holds.
  int lanes(int element_bytes) const { return vector_bytes / element_bytes; }
  bool has(std::string_view extension) const;
  bool operator==(const CpuTarget&) const = default;
};

// What the text form names, in its order; all else follows from the target's name.
constexpr auto text_fields(const CpuTarget&) {
  return std::tuple{std::pair{"extensions", &CpuTarget::extensions},
                    std::pair{"cores", &CpuTarget::cores},
                    std::pair{"fma_per_cycle", &CpuTarget::fma_per_cycle},
                    std::pair{"fma_latency", &CpuTarget::fma_latency_cycles},
                    std::pair{"l1", &CpuTarget::l1},
                    std::pair{"l2", &CpuTarget::l2},
                    std::pair{"l3", &CpuTarget::l3}};
}

// Fills in what the operating system says of the caches of that cpu of this machine.
void detect_caches(CpuTarget& target, int cpu);

}  // namespace lathe
