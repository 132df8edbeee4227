// The numbers of AutoTVM's figure 3.
#include "features/loop_context.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <list>

#include "lower/programs.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;

// `for y, x: C = 0, for k: C[y,x] += A[k,y] * B[k,x]`, all of 8.
const char* const kFigure3 = "C[y:8, x:8] = sum(k:8) A[k,y] * B[k,x]";

// A summary points into its program, of which a copy stays until the tests end.
std::vector<BlockSummary> blocks_of(const char* text, const std::string& trace = "") {
  static std::list<Program> kept;
  return summarise_blocks(kept.emplace_back(scheduled(task_of(text), trace)));
}

std::vector<double> numbers(const LoopContext& context, double BufferTouch::* member) {
  std::vector<double> all;
  for (const BufferTouch& touch : context.touches) all.push_back(touch.*member);
  return all;
}

TEST(LoopContext, Figure3HasItsNumbers) {
  const std::vector<LoopContext> loops = longest_chain(blocks_of(kFigure3));
  ASSERT_EQ(loops.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(loops[i].touches.size(), 3U);
    EXPECT_EQ(loops[i].touches[0].tensor->name, "C");
    EXPECT_TRUE(loops[i].touches[0].writes);
    EXPECT_EQ(loops[i].touches[1].tensor->name, "A");
    EXPECT_EQ(loops[i].touches[2].tensor->name, "B");
    EXPECT_EQ(loops[i].length, 8);
  }
  EXPECT_THAT(numbers(loops[0], &BufferTouch::touched), ElementsAre(64, 64, 64));
  EXPECT_THAT(numbers(loops[1], &BufferTouch::touched), ElementsAre(8, 8, 64));
  EXPECT_THAT(numbers(loops[2], &BufferTouch::touched), ElementsAre(1, 8, 8));
  EXPECT_EQ(loops[0].top_down, 1);
  EXPECT_EQ(loops[1].top_down, 8);
  EXPECT_EQ(loops[2].top_down, 64);
  EXPECT_EQ(loops[0].bottom_up, 512);
  EXPECT_EQ(loops[1].bottom_up, 64);
  EXPECT_EQ(loops[2].bottom_up, 8);
  EXPECT_THAT(numbers(loops[0], &BufferTouch::reuse), ElementsAre(8, 8, 8));
  EXPECT_THAT(numbers(loops[1], &BufferTouch::reuse), ElementsAre(8, 8, 1));
  EXPECT_THAT(numbers(loops[2], &BufferTouch::reuse), ElementsAre(8, 1, 1));
  EXPECT_THAT(numbers(loops[0], &BufferTouch::stride), ElementsAre(8, 1, 0));
  EXPECT_THAT(numbers(loops[1], &BufferTouch::stride), ElementsAre(1, 0, 1));
  EXPECT_THAT(numbers(loops[2], &BufferTouch::stride), ElementsAre(0, 8, 8));
}

TEST(LoopContext, AnnotationsAreTheLoops) {
  const auto loops = longest_chain(blocks_of(kFigure3, "parallel C y\nunroll C k\n"));
  EXPECT_EQ(loops[0].kind, LoopKind::parallel);
  EXPECT_EQ(loops[2].kind, LoopKind::unrolled);
  const std::vector<float> row = context_numbers(loops[0]);
  ASSERT_EQ(row.size(), loop_context_names().size());
  const auto at = [&](const char* name) {
    return row[static_cast<size_t>(std::ranges::find(loop_context_names(), name) -
                                   loop_context_names().begin())];
  };
  EXPECT_EQ(at("parallel"), 1);
  EXPECT_EQ(at("serial"), 0);
  EXPECT_FLOAT_EQ(at("length"), std::log2(9.0F));
  EXPECT_FLOAT_EQ(at("buffer1.touched"), std::log2(65.0F));
  EXPECT_EQ(at("buffer3.touched"), 0);
}

// Two accesses of other patterns are two buffers, two of one pattern one.
TEST(LoopContext, ABufferIsOnceForEachPattern) {
  const auto same = longest_chain(blocks_of("C[y:8, x:8] = A[y,x] * A[y,x]"));
  EXPECT_EQ(same[0].touches.size(), 2U);
  const auto turned = longest_chain(blocks_of("C[y:8, x:8] = A[y,x] * A[x,y]"));
  EXPECT_EQ(turned[0].touches.size(), 3U);
}

// Two stages one after the other: the longer nest is the chain; all loops are walked in their order.
TEST(LoopContext, OfSeveralNestsTheLongestIsTheChain) {
  const std::vector<BlockSummary> blocks =
      blocks_of("T[y:8] = A[y] + 1\nC[y:8, x:4] = sum(k:2) T[y] * B[k,x]");
  EXPECT_EQ(longest_chain(blocks).size(), 3U);
  const std::vector<LoopContext> all = loop_contexts(blocks);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].length, 8);
  EXPECT_EQ(all[0].bottom_up, 8);
  EXPECT_EQ(all[3].length, 2);
  EXPECT_TRUE(longest_chain({}).empty());
}

}  // namespace
}  // namespace lathe::testing
