// The text form of expressions; what it means can be hashed and counted.
#include "expr/parse.h"
#include "expr/print.h"
#include "expr/structural_hash.h"
#include "round_trip.h"
#include "task/task.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lathe;
  const auto parse = [](std::string_view text) { return parse_dag(text); };
  fuzz::round_trip(fuzz::as_text(data, size), parse, [](const Dag& dag) {
    static_cast<void>(hash_of(dag));
    static_cast<void>(flops_of(dag));
    return to_string(dag);
  });
  return 0;
}
