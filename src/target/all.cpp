#include "target/all.h"

#include <fmt/format.h>

#include <algorithm>

#include "target/cpu/aarch64/aarch64.h"
#include "target/cpu/x86/x86.h"
#include "target/detect.h"
#include "target/gpu/opencl.h"

namespace lathe {
namespace {

constexpr TargetRow kTargets[] = {
    {"x86-avx512", "AVX-512 F, VL, BW and DQ", generic_avx512, detect_avx512, &kAvx512PeakLoops},
    {"x86-avx2", "AVX2 and FMA", generic_avx2, detect_avx2, &kAvx2PeakLoops},
    {"aarch64-neon", "a 64-bit Arm processor", generic_neon, detect_neon, &kNeonPeakLoops},
    {"opencl", "an OpenCL device and libOpenCL.so.1", generic_opencl, detect_opencl, nullptr},
};

}  // namespace

std::span<const TargetRow> all_targets() { return kTargets; }

const TargetRow& row_of(std::string_view name) {
  const auto* row = std::ranges::find(kTargets, name, &TargetRow::name);
  LATHE_CHECK(row != std::end(kTargets));
  return *row;
}

Target generic_target(std::string_view name) { return row_of(name).generic(); }

std::string target_names() {
  std::string names = "native";
  for (const TargetRow& row : kTargets) names += fmt::format(", {}", row.name);
  return names;
}

Status check_runs_here(const Target& target) {
  const TargetRow& row = row_of(target.name);
  if (const std::optional<Target> here = row.detect()) {
    if (!std::holds_alternative<CpuTarget>(target.kind)) return {};
    for (const std::string& extension : target.cpu().extensions) {
      if (!here->cpu().has(extension))
        return fail(ErrorKind::unsupported,
                    fmt::format("this machine ({}) cannot run {}", here->machine, extension));
    }
    return {};
  }
  const Result<Target> native = detect_target();
  return fail(ErrorKind::unsupported,
              fmt::format("this machine{} cannot run {}, it lacks {}{}",
                          native ? fmt::format(" ({})", native->machine) : "", row.name, row.needs,
                          native ? fmt::format("; it runs {}", native->name) : ""));
}

}  // namespace lathe
