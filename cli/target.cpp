// lathe target: what this machine is, and the yardsticks that figures are given against.
#include "cli/command.h"
#include "cli/console.h"
#include "measure/peak.h"
#include "target/detect.h"

namespace lathe::cli {
namespace {

Status print_bandwidth(const char* name, const Target& target, int64_t bytes) {
  LATHE_TRY(const double gigabytes, measure_read_gigabytes(target, bytes));
  const int cores = cores_of(target);
  to_stdout("{:<9} {:.1f} GB/s on {} core{}\n", name, gigabytes, cores, cores == 1 ? "" : "s");
  return {};
}

Status show_target() {
  LATHE_TRY(const Target target, detect_target());
  const Target one_core = with_cores(target, 1);
  to_stdout("{}\n", print(target));
  const int cores = cores_of(target);
  to_stdout("fma peak  {:.1f} GFLOP/s on 1 core\n", measure_fma_gflops(one_core));
  if (cores > 1) to_stdout("fma peak  {:.1f} GFLOP/s on {} cores\n", measure_fma_gflops(target), cores);
  LATHE_TRY_STATUS(print_bandwidth("l1 read", one_core, target.cpu().l1.bytes / 2));
  LATHE_TRY_STATUS(print_bandwidth("l2 read", one_core, target.cpu().l2.bytes / 2));
  const int64_t memory_bytes = bytes_beyond_caches(target);
  LATHE_TRY_STATUS(print_bandwidth("memory", one_core, memory_bytes));
  if (cores == 1) return {};
  return print_bandwidth("memory", target, memory_bytes / cores);
}

}  // namespace

void add_target(CLI::App& app, Action& chosen) {
  OptionSet command = add_command(app, "target", "print this machine as a target, and its measured peaks");
  command.action(chosen, show_target);
}

}  // namespace lathe::cli
