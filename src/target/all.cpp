#include "target/all.h"

#include <fmt/format.h>

#include <algorithm>

#include "target/cpu/x86/x86.h"
#include "target/detect.h"
#include "target/gpu/opencl.h"

namespace lathe {
namespace {

constexpr TargetRow kTargets[] = {
    {"x86-avx512", "AVX-512 F, VL, BW and DQ", generic_avx512, detect_avx512},
    {"x86-avx2", "AVX2 and FMA", generic_avx2, detect_avx2},
    {"opencl", "an OpenCL device and libOpenCL.so.1", generic_opencl, detect_opencl},
};

}  // namespace

std::span<const TargetRow> all_targets() { return kTargets; }

Target generic_target(std::string_view name) {
  const auto* row = std::ranges::find(kTargets, name, &TargetRow::name);
  LATHE_CHECK(row != std::end(kTargets));
  return row->generic();
}

Status check_runs_here(const Target& target) {
  const auto* row = std::ranges::find(kTargets, target.name, &TargetRow::name);
  LATHE_CHECK(row != std::end(kTargets));
  if (const std::optional<Target> here = row->detect()) {
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
                          native ? fmt::format(" ({})", native->machine) : "", row->name, row->needs,
                          native ? fmt::format("; it runs {}", native->name) : ""));
}

}  // namespace lathe
