// A tile as long as its axis, in a loop that runs on beyond it: the fused consumer must follow the tile.
#include <gtest/gtest.h>

#include "base/rng.h"
#include "expr/parse.h"
#include "loop/evaluate.h"
#include "loop/interpret.h"
#include "schedule/apply.h"
#include "target/all.h"
#include "target/target.h"

namespace lathe {
namespace {

TEST(WholeTile, ConsumerKeepsTheTilesBase) {
  const auto dag = parse_dag(
      "C[i:6, j:8] = sum(r:5) A[i, r] * B[r, j]\n"
      "D[i:6, j:8] = C[i, j] + 1.0");
  ASSERT_TRUE(dag) << dag.error().to_string();
  const auto task = make_task("whole_tile", *dag, generic_target("x86-avx2"));
  ASSERT_TRUE(task) << task.error().to_string();
  // Loop i.1 runs twice over a tile of all six rows; its second iteration lies beyond the axis.
  const auto trace = parse_trace(
      "split C i [2 6]\n"
      "reorder C i.0 i.1 j r i.2\n"
      "tail C i pad\n"
      "reverse_compute_at D C j scope=registers\n");
  ASSERT_TRUE(trace) << trace.error().to_string();
  const auto program = apply_trace(*task, *trace);
  ASSERT_TRUE(program) << program.error().to_string();
  Rng rng(1);
  std::vector<HostTensor> inputs;
  for (const Tensor& input : dag->inputs) inputs.push_back(random_like(input, rng));
  const auto expected = evaluate(*dag, inputs);
  ASSERT_TRUE(expected);
  // `pad` lets C read past A, so A must have room: the guard stands in for it here.
  const auto guarded = parse_trace(
      "split C i [2 6]\n"
      "reorder C i.0 i.1 j r i.2\n"
      "reverse_compute_at D C j scope=registers\n");
  for (const Trace& candidate : {*trace, *guarded}) {
    const auto scheduled = apply_trace(*task, candidate);
    ASSERT_TRUE(scheduled);
    const auto result = interpret(*scheduled, inputs);
    ASSERT_TRUE(result) << result.error().to_string();
    for (size_t i = 0; i < expected->at(0).values.size(); ++i) {
      EXPECT_NEAR(result->outputs[0].values[i], expected->at(0).values[i], 1e-5);
    }
  }
}

}  // namespace
}  // namespace lathe
