// What a device is, as the compiler sees it: a plain value that prints and parses, on any machine.
// A target's `name` says which instructions may be emitted and is what records are kept under, `machine`
// tells records of different devices of that name apart; the kind of the device has fields of its own
// (cpu/cpu_target.h, gpu/gpu_target.h). Values are safe to share between threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "target/cpu/cpu_target.h"
#include "target/gpu/gpu_target.h"

namespace lathe {

struct Target {
  std::string name;     // a row of the table of targets (all.h)
  std::string machine;  // the processor's or device's own name
  std::variant<CpuTarget, GpuTarget> kind;

  // For code that is about that kind alone; to ask for another is a bug in Lathe.
  const CpuTarget& cpu() const { return checked(std::get_if<CpuTarget>(&kind)); }
  CpuTarget& cpu() { return checked(std::get_if<CpuTarget>(&kind)); }
  const GpuTarget& gpu() const { return checked(std::get_if<GpuTarget>(&kind)); }
  GpuTarget& gpu() { return checked(std::get_if<GpuTarget>(&kind)); }
  bool operator==(const Target&) const = default;

 private:
  template <class Kind>
  static Kind& checked(Kind* found) {
    LATHE_CHECK(found != nullptr);
    return *found;
  }
};

// How many cores a program uses there; of a device that has none of its own to share out, one.
int cores_of(const Target& target);
// How many elements of so many bytes one of its threads computes at once.
int lanes_of(const Target& target, int element_bytes);
// Bytes of the cache that is nearest to a core beyond its first, and of the last one before memory.
int64_t near_cache_bytes(const Target& target);
int64_t last_cache_bytes(const Target& target);
// The same device with so many; one that has none to share out stays as it is.
Target with_cores(Target target, int cores);
// The processor with those of the extensions, by name, that the target's programs may have.
Target with_extensions(Target target, const std::vector<std::string>& extensions);

// The one-line text form, "NAME cores=2 l1=32768/8/64 ... machine=\"...\"": parse_target reads it back.
std::string print(const Target& target);

// Reads "native", a target's name, or the printed form. A name alone stands for the target on this machine,
// or where the machine does not have it for a typical one of its kind (generic_target); fields that are
// written take the place of those, as `extensions=none` does.
Result<Target> parse_target(std::string_view text);

}  // namespace lathe
