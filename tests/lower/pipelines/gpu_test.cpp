// The list of passes for devices of many threads.
#include <gmock/gmock.h>

#include "lower/passes.h"
#include "lower/programs.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;

TEST(GpuPasses, StandInThisOrder) {
  std::vector<std::string_view> names;
  for (const Pass& pass : gpu_passes()) names.push_back(pass.name);
  EXPECT_THAT(names, ElementsAre("decompose_reductions", "drop_padding", "lower_blocks", "simplify_loops",
                                 "compact_buffers", "hoist_guards", "merge_threads", "distribute_registers",
                                 "insert_barriers", "flatten_buffers", "vectorize_loops", "unroll_loops",
                                 "fold_arithmetic", "expand_math"));
}

// What each leaves for the next.
TEST(GpuPasses, EachTakesOutWhatItIsNamedAfter) {
  const Task task = task_of("C[i:6, j:13] = sum(r:5) A[i,r] * B[r,j]");
  const Program program = scheduled(task, "bind C i block\nbind C j thread\nunroll C r\n");
  const auto until = [&](const char* pass) {
    LowerOptions options;
    options.stop_after = pass;
    return lower(program, generic_target("opencl"), options).value().program;
  };
  EXPECT_TRUE(all<Block>(until("lower_blocks").main).empty());
  EXPECT_TRUE(until("flatten_buffers").flat);
  for (const For& loop : all<For>(until("merge_threads").main))
    EXPECT_TRUE(loop.kind != LoopKind::thread || loop.var.name() == "thread") << loop.var.name();
  for (const For& loop : all<For>(until("unroll_loops").main)) EXPECT_NE(loop.kind, LoopKind::unrolled);
}

}  // namespace
}  // namespace lathe::testing
