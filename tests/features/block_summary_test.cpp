// What is counted of a block: iterations, operations, bytes at each level, strides.
#include "features/block_summary.h"

#include <gmock/gmock.h>

#include <list>

#include "lower/programs.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;

const char* const kMatmul = "C[i:6, j:16] = sum(r:5) A[i,r] * B[r,j]";

// A summary points into its program, of which a copy stays until the tests end.
BlockSummary summary_of(const Program& program, size_t block = 0) {
  static std::list<Program> kept;
  return summarise_blocks(kept.emplace_back(program)).at(block);
}

BlockSummary matmul(const std::string& trace = "") { return summary_of(scheduled(task_of(kMatmul), trace)); }

const AccessSummary& access_to(const BlockSummary& summary, const std::string& name) {
  const auto found = std::ranges::find_if(
      summary.accesses, [&](const AccessSummary& access) { return access.tensor->name == name; });
  EXPECT_NE(found, summary.accesses.end()) << name;
  return *found;
}

TEST(BlockSummary, LoopsAndTheirAxes) {
  const BlockSummary summary = matmul("split C r [5]\nreorder C r.0 i r.1 j\nparallel C i\nvectorize C j\n");
  std::vector<std::string> names;
  std::vector<bool> reducing;
  for (const LoopLevel& level : summary.levels) {
    names.push_back(level.var.name());
    reducing.push_back(level.reduces);
  }
  EXPECT_THAT(names, ElementsAre("r.0", "i", "r.1", "j"));
  EXPECT_THAT(reducing, ElementsAre(true, false, true, false));
  EXPECT_EQ(summary.levels[1].kind, LoopKind::parallel);
  EXPECT_EQ(summary.levels[3].kind, LoopKind::vectorized);
  EXPECT_EQ(summary.levels[2].extent, 5);
}

TEST(BlockSummary, InstancesAreCounted) {
  const BlockSummary summary = matmul();
  EXPECT_EQ(summary.instances, 6 * 16 * 5);
  EXPECT_EQ(summary.useful, 6 * 16 * 5);
  EXPECT_EQ(summary.operations, 2) << "a product and a sum";
  EXPECT_EQ(summary.work(), 2 * 6 * 16 * 5);
  EXPECT_EQ(summary.iterations(0, 3), 6 * 16 * 5);
  EXPECT_EQ(summary.iterations(1, 2), 16);
  EXPECT_EQ(summary.iterations(2, 2), 1);
}

// Iterations beyond the end of a tile do nothing.
TEST(BlockSummary, ImperfectTilesHaveFewerUsefulInstances) {
  const BlockSummary summary = matmul("split C i [4]\n");
  EXPECT_EQ(summary.instances, 8 * 16 * 5);
  EXPECT_EQ(summary.useful, 6 * 16 * 5);
}

TEST(BlockSummary, LongFunctionsCountAsTen) {
  const auto operations = [](const char* text) {
    return summary_of(naive_program(task_of(text))).operations;
  };
  EXPECT_EQ(operations("O[i:4] = exp(A[i])"), 10);
  EXPECT_EQ(operations("O[i:4] = -A[i]"), 1);
  EXPECT_EQ(operations("O[i:4] = A[i] + B[i] * B[i]"), 2);
  EXPECT_EQ(operations("O[i:4] = A[i]"), 0);
  EXPECT_EQ(operations("O[i:4] = max(r:3) A[i,r]"), 1);
}

TEST(BlockSummary, CopiesAreSomeWorkToo) {
  EXPECT_EQ(summary_of(naive_program(task_of("O[i:4] = A[i]"))).work(), 1);
}

// Bytes of one run of the loops from each level inwards; the last is one element.
TEST(BlockSummary, FootprintsShrinkFromLoopToLoop) {
  const BlockSummary summary = matmul();
  EXPECT_THAT(access_to(summary, "C").footprint, ElementsAre(6 * 16 * 4, 16 * 4, 4, 4));
  EXPECT_THAT(access_to(summary, "A").footprint, ElementsAre(6 * 5 * 4, 5 * 4, 5 * 4, 4));
  EXPECT_THAT(access_to(summary, "B").footprint, ElementsAre(5 * 16 * 4, 5 * 16 * 4, 5 * 4, 4));
}

TEST(BlockSummary, AWindowTouchesItsHalo) {
  const BlockSummary summary = summary_of(naive_program(task_of("O[x:10] = sum(k:3) I[x + k] * W[k]")));
  EXPECT_THAT(access_to(summary, "I").footprint, ElementsAre(12 * 4, 3 * 4, 4));
}

TEST(BlockSummary, TheWriteComesFirst) {
  const BlockSummary summary = matmul();
  ASSERT_EQ(summary.accesses.size(), 3U);
  EXPECT_TRUE(summary.accesses[0].writes);
  EXPECT_EQ(summary.accesses[0].tensor->name, "C");
  EXPECT_FALSE(summary.accesses[1].writes || summary.accesses[2].writes);
}

TEST(BlockSummary, StridesOfVectorsAndOfTheInnermostLoop) {
  const BlockSummary along_j = matmul("reorder C i r j\nvectorize C j\n");
  EXPECT_EQ(access_to(along_j, "B").vector_stride, 1);
  EXPECT_EQ(access_to(along_j, "A").vector_stride, 0);
  EXPECT_EQ(access_to(along_j, "A").inner_stride, 1) << "along r";
  EXPECT_EQ(access_to(along_j, "B").inner_stride, 16);
  const BlockSummary along_i = matmul("reorder C j r i\nvectorize C i\n");
  EXPECT_EQ(access_to(along_i, "A").vector_stride, 5);
  EXPECT_EQ(access_to(along_i, "C").vector_stride, 16);
}

TEST(BlockSummary, RegistersAreTold) {
  const Program program = scheduled(task_of(kMatmul), "cache_write C L at=i scope=registers\n");
  bool found = false;
  for (const BlockSummary& summary : summarise_blocks(program)) {
    for (const AccessSummary& access : summary.accesses) {
      EXPECT_EQ(access.in_registers, access.tensor->name == "L") << access.tensor->name;
      found |= access.in_registers;
    }
  }
  EXPECT_TRUE(found);
}

TEST(BlockSummary, BlocksStandInProgramOrder) {
  const Program program = naive_program(task_of("T[i:4] = A[i] + 1.0\nO[i:4] = T[i] * 2.0"));
  const auto summaries = summarise_blocks(program);
  ASSERT_EQ(summaries.size(), 2U);
  EXPECT_EQ(summaries[0].block->name, "T");
  EXPECT_EQ(summaries[1].block->name, "O");
}

}  // namespace
}  // namespace lathe::testing
