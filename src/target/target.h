// What a machine is, as the compiler sees it: a plain value that prints and parses.
// A target's `name` says which instructions any program may have and is what records are kept under;
// `extensions` are instructions that a program has only where its trace says so (the step `tensorize`), and
// that a target without them refuses. The other fields describe the machine it stands for (cache sizes,
// cores) and guide choices, they never change what is legal. Values are immutable in spirit and safe to share
// between threads.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lathe {

// The vector instruction sets that code can be generated for.
enum class Isa { avx2, avx512 };

// Instructions that some machines of a name have.
struct Extension {
  const char* name;
  Isa isa;               // the least whose programs may have them
  const char* features;  // LLVM's
};
inline constexpr std::array kExtensions = {Extension{"avx_vnni", Isa::avx2, "+avxvnni"},
                                           Extension{"avx512_vnni", Isa::avx512, "+avx512vnni"},
                                           Extension{"avx512_bf16", Isa::avx512, "+avx512bf16"}};

// One level of data cache as one core sees it.
struct CacheLevel {
  int64_t bytes = 0;
  int ways = 8;  // associativity
  int line_bytes = 64;
  bool operator==(const CacheLevel&) const = default;
};

struct Target {
  std::string name;     // "x86-avx2" or "x86-avx512": the identity in records
  std::string machine;  // the processor's own name, so that records of other machines can be told apart
  Isa isa = Isa::avx2;
  std::string cpu;                      // LLVM's name of a processor with exactly this instruction set
  std::string features;                 // LLVM's feature string that goes with `cpu` and the extensions
  std::vector<std::string> extensions;  // in the order of `kExtensions`; no part of the identity
  int vector_bytes = 32;
  int vector_registers = 16;
  int fma_per_cycle = 2;  // vector FMAs that one core starts a cycle
  int fma_latency_cycles = 4;
  CacheLevel l1;
  CacheLevel l2;
  CacheLevel l3;  // shared by the cores
  int cores = 1;  // cpus that this process may use

  // How many elements of so many bytes a vector register holds.
  int lanes(int element_bytes) const { return vector_bytes / element_bytes; }
  bool has(std::string_view extension) const;
  bool operator==(const Target&) const = default;
};

// The target of that instruction set on a typical server core; no look at this machine.
Target generic_target(Isa isa);

// The target with those of the extensions, by name, that its programs may have.
Target with_extensions(Target target, const std::vector<std::string>& extensions);

// The one-line text form, "x86-avx2 cores=2 l1=32768/8/64 ... machine=\"...\"": parse_target reads it back.
std::string print(const Target& target);

// Reads "native", a target's name, or the printed form. A name alone stands for this instruction set on
// `host`; fields that are written override the host's, such as "x86-avx512 extensions=none". Refuses
// instructions that `host` cannot run.
Result<Target> parse_target(std::string_view text, const Target& host);
// The same on the machine that this process runs on.
Result<Target> parse_target(std::string_view text);

}  // namespace lathe
