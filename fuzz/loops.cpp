// The text form of loop programs, and the verifier on what it gives.
#include "loop/parse.h"
#include "loop/print.h"
#include "loop/verify.h"
#include "round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lathe;
  const auto parse = [](std::string_view text) { return parse_program(text); };
  fuzz::round_trip(fuzz::as_text(data, size), parse, [](const Program& program) {
    static_cast<void>(verify(program));
    return to_string(program);
  });
  return 0;
}
