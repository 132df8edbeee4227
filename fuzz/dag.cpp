// The text form of expressions; what it means can be hashed and counted, and what is small is made a task,
// for which the space finds programs: all that it prefers can be written and applied.
#include <string>
#include <vector>

#include "base/check.h"
#include "expr/parse.h"
#include "expr/print.h"
#include "expr/structural_hash.h"
#include "expr/walk.h"
#include "loop/verify.h"
#include "round_trip.h"
#include "schedule/apply.h"
#include "space/all.h"
#include "target/all.h"
#include "task/task.h"

namespace {

using namespace lathe;

int64_t points_of(const Compute& compute) {
  int64_t points = 1;
  for (const Axis& axis : compute.axes) points *= axis.extent;
  return points;
}

// Deriving takes milliseconds for each compute, and longer for expressions of many nodes.
bool is_small(const Dag& dag) {
  constexpr size_t kMostComputes = 4;
  constexpr size_t kMostAxes = 8;
  constexpr int64_t kMostPoints = int64_t{1} << 20;
  constexpr int kMostNodes = 100;
  int nodes = 0;
  for (const Compute& compute : dag.computes) {
    if (compute.axes.size() > kMostAxes || points_of(compute) > kMostPoints) return false;
    for_each(compute.body, [&](const Expr&) { ++nodes; });
  }
  return dag.computes.size() <= kMostComputes && nodes <= kMostNodes;
}

void derive(const Dag& dag) {
  // An operand known beforehand is packed and prepared.
  std::vector<std::string> constants;
  if (dag.inputs.size() > 1) constants.push_back(dag.inputs.back()->name);
  const Result<Task> task =
      make_task("fuzz", dag, with_cores(generic_target("x86-avx2"), 2), constants, true);
  LATHE_CHECK(task.has_value());
  const Result<Space> space = derive_space(*task);
  LATHE_CHECK(space.has_value());
  for (const Point& point : space->preferred_points()) {
    const Result<Trace> trace = space->trace(point);
    LATHE_CHECK(trace.has_value());
    const Result<Program> program = apply_trace(*task, *trace);
    LATHE_CHECK(program.has_value());
    LATHE_CHECK(verify(*program).has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  const auto parse = [](std::string_view dag) { return parse_dag(dag); };
  fuzz::round_trip(text, parse, [](const Dag& dag) {
    static_cast<void>(hash_of(dag));
    static_cast<void>(flops_of(dag));
    return to_string(dag);
  });
  const Result<Dag> dag = parse_dag(text);
  if (dag && is_small(*dag)) derive(*dag);
  return 0;
}
