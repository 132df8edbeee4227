// A processor with vector registers and caches, as the compiler sees it. Which instructions it has follows
// from its target's name; the fields guide choices and never change what is legal.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>

namespace lathe {

// One level of data cache as one core sees it.
struct CacheLevel {
  int64_t bytes = 0;
  int ways = 8;  // associativity
  int line_bytes = 64;
  bool operator==(const CacheLevel&) const = default;
};

struct CpuTarget {
  int cores = 1;  // that a program uses; a part of a task's identity
  int vector_bytes = 32;
  int vector_registers = 16;
  int fma_per_cycle = 2;  // vector FMAs that one core starts a cycle
  int fma_latency_cycles = 4;
  CacheLevel l1;
  CacheLevel l2;
  CacheLevel l3;  // shared by the cores

  // How many elements of so many bytes a vector register holds.
  int lanes(int element_bytes) const { return vector_bytes / element_bytes; }
  bool operator==(const CpuTarget&) const = default;
};

// What the text form names, in its order; all else follows from the target's name.
constexpr auto text_fields(const CpuTarget&) {
  return std::tuple{std::pair{"cores", &CpuTarget::cores},
                    std::pair{"fma_per_cycle", &CpuTarget::fma_per_cycle},
                    std::pair{"fma_latency", &CpuTarget::fma_latency_cycles},
                    std::pair{"l1", &CpuTarget::l1},
                    std::pair{"l2", &CpuTarget::l2},
                    std::pair{"l3", &CpuTarget::l3}};
}

// Fills in what the operating system says of the caches of that cpu of this machine.
void detect_caches(CpuTarget& target, int cpu);

}  // namespace lathe
