#include "target/detect.h"

#include <fmt/format.h>

#include "target/cpu/aarch64/aarch64.h"

#ifdef __aarch64__
#include <asm/hwcap.h>
#include <sys/auxv.h>

namespace lathe {
namespace {

// Who made the processor and which one it is, as its main identification register says.
std::string machine_name() {
  if ((getauxval(AT_HWCAP) & HWCAP_CPUID) == 0) return "AArch64";  // the system lets no program read it
  uint64_t identity = 0;
  asm("mrs %0, midr_el1" : "=r"(identity));
  return fmt::format("AArch64 (implementer {:#x} part {:#x} variant {} revision {})", identity >> 24 & 0xff,
                     identity >> 4 & 0xfff, identity >> 20 & 0xf, identity & 0xf);
}

}  // namespace

std::optional<Target> detect_neon() {
  const std::vector<int> cpus = allowed_cpus();
  Target target = generic_neon();
  target.machine = machine_name();
  target.cpu().cores = static_cast<int>(cpus.size());
  detect_caches(target.cpu(), cpus.front());
  return target;
}

}  // namespace lathe

#else

namespace lathe {

std::optional<Target> detect_neon() { return std::nullopt; }

}  // namespace lathe

#endif
