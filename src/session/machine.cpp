#include "session/machine.h"

#include "measure/peak.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe {

std::string known_targets() { return target_names(); }

Status measure_machine(const std::function<void(const Target&)>& found,
                       const std::function<void(const MachineFigure&)>& measured) {
  LATHE_TRY(const Target target, detect_target());
  found(target);
  const Target one_core = with_cores(target, 1);
  const int cores = cores_of(target);
  measured({"fma peak", measure_fma_gflops(one_core), "GFLOP/s", 1});
  if (cores > 1) measured({"fma peak", measure_fma_gflops(target), "GFLOP/s", cores});
  const auto read = [&](const char* name, const Target& by, int64_t bytes) -> Status {
    LATHE_TRY(const double gigabytes, measure_read_gigabytes(by, bytes));
    measured({name, gigabytes, "GB/s", cores_of(by)});
    return {};
  };
  LATHE_TRY_STATUS(read("l1 read", one_core, target.cpu().l1.bytes / 2));
  LATHE_TRY_STATUS(read("l2 read", one_core, target.cpu().l2.bytes / 2));
  const int64_t memory_bytes = bytes_beyond_caches(target);
  LATHE_TRY_STATUS(read("memory", one_core, memory_bytes));
  return cores == 1 ? Status() : read("memory", target, memory_bytes / cores);
}

}  // namespace lathe
