// The list of passes for processors: its order, what each leaves for the next, and the one option that a pass
// of it has.
#include <gmock/gmock.h>

#include <set>

#include "lower/passes.h"
#include "lower/programs.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;

std::vector<std::string_view> names() {
  std::vector<std::string_view> found;
  for (const Pass& pass : cpu_passes()) found.push_back(pass.name);
  return found;
}

// A change of it is a change of every kernel.
TEST(CpuPasses, StandInThisOrder) {
  EXPECT_THAT(names(), ElementsAre("decompose_reductions", "drop_padding", "lower_blocks", "simplify_loops",
                                   "compact_buffers", "order_registers", "hoist_guards", "shrink_loops",
                                   "peel_tails", "flatten_buffers", "tensorize_loops", "vectorize_loops",
                                   "unroll_loops", "fold_arithmetic", "expand_math"));
}

// What is in a program, as names of its nodes and kinds of its loops.
std::set<std::string> contents(const Program& program) {
  std::set<std::string> found;
  for (const Stmt& root : {program.prepare, program.main}) {
    if (!root) continue;
    for_each(root, [&](const StmtNode& node) {
      if (std::holds_alternative<Block>(node.node)) found.insert("block");
      const For* loop = std::get_if<For>(&node.node);
      if (loop == nullptr) return;
      if (loop->kind == LoopKind::vectorized) found.insert("vectorized");
      if (loop->kind == LoopKind::unrolled) found.insert("unrolled");
      if (loop->kind == LoopKind::tensorized) found.insert("tensorized");
    });
  }
  return found;
}

const char* const kTrace =
    "split C i [4]\nsplit C j [8]\nreorder C i.0 j.0 r i.1 j.1\nunroll C i.1\nvectorize C j.1\ntail C i "
    "peel\n"
    "tail C j mask\n";

TEST(CpuPasses, EachTakesOutWhatItIsNamedAfter) {
  const Program program = scheduled(task_of("C[i:6, j:13] = sum(r:5) A[i,r] * B[r,j]"), kTrace);
  EXPECT_EQ(contents(lowered_until(program, "drop_padding")),
            (std::set<std::string>{"block", "unrolled", "vectorized"}));
  EXPECT_EQ(contents(lowered_until(program, "lower_blocks")),
            (std::set<std::string>{"unrolled", "vectorized"}));
  EXPECT_FALSE(lowered_until(program, "peel_tails").flat);
  EXPECT_TRUE(lowered_until(program, "flatten_buffers").flat);
  EXPECT_EQ(contents(lowered_until(program, "vectorize_loops")), (std::set<std::string>{"unrolled"}));
  EXPECT_EQ(contents(lowered_until(program, "unroll_loops")), (std::set<std::string>{}));
}

TEST(CpuPasses, UnrollingIsBoundedByTheOption) {
  const Task task = task_of("C[i:64] = A[i] + B[i]");
  const Program program = scheduled(task, "unroll C i\n");
  LowerOptions options;
  options.max_statements = 64;
  EXPECT_TRUE(lower(program, task.target, options));
  options.max_statements = 63;
  const Result<LoweredProgram> refused = lower(program, task.target, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "the unrolled program has more than 63 statements; unroll fewer or smaller loops");
}

TEST(CpuPasses, ANameOccursOnce) {
  const std::vector<std::string_view> all = names();
  EXPECT_EQ(std::set<std::string_view>(all.begin(), all.end()).size(), all.size());
}

}  // namespace
}  // namespace lathe::testing
