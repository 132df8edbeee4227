#include "session/measured_roofline.h"

#include <algorithm>
#include <array>

#include "measure/peak.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe {

std::optional<Roofline> measured_roofline(const Target& target) {
  const auto* cpu = std::get_if<CpuTarget>(&target.kind);
  if (cpu == nullptr || !has_peaks(target) || !check_runs_here(target) ||
      cpu->cores > static_cast<int>(allowed_cpus().size()))
    return std::nullopt;
  Roofline roofline;
  roofline.gflops = measure_fma_gflops(target);
  const std::array<int64_t, 3> bytes = {cpu->l2.bytes / 2,
                                        std::min(cpu->l3.bytes / 2 / cpu->cores, 8 * cpu->l2.bytes),
                                        bytes_beyond_caches(target) / cpu->cores};
  for (size_t level = 0; level < bytes.size(); ++level) {
    const Result<double> gigabytes = measure_read_gigabytes(target, bytes[level]);
    if (!gigabytes) return std::nullopt;
    roofline.gigabytes[level] = *gigabytes;
  }
  return roofline;
}

RunBound run_bound(int64_t flops, int64_t bytes, const Target& target, const Roofline& roofline) {
  const CpuTarget& cpu = target.cpu();
  const size_t level = bytes <= cpu.l2.bytes * cpu.cores ? 0 : bytes <= cpu.l3.bytes ? 1 : 2;
  constexpr std::array<Bottleneck, 3> kLimits = {Bottleneck::second_level, Bottleneck::third_level,
                                                 Bottleneck::memory};
  const RunBound by_units = {static_cast<double>(flops) / roofline.gflops * 1e-9, Bottleneck::units};
  const RunBound by_bytes = {static_cast<double>(bytes) / roofline.gigabytes[level] * 1e-9, kLimits[level]};
  return by_units.seconds >= by_bytes.seconds ? by_units : by_bytes;
}

}  // namespace lathe
