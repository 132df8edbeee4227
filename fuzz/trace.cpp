// The text form of traces.
#include "schedule/trace.h"

#include "round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lathe;
  const auto parse = [](std::string_view text) { return parse_trace(text); };
  fuzz::round_trip(fuzz::as_text(data, size), parse, [](const Trace& trace) { return to_string(trace); });
  return 0;
}
