// Workload files: whatever they say, an operator or one sentence.
#include "ops/workloads.h"
#include "round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto workloads = lathe::parse_workloads(lathe::fuzz::as_text(data, size), "fuzz");
  LATHE_CHECK(workloads || !workloads.error().message.empty());
  return 0;
}
