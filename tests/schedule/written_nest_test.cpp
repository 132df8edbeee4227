// What one iteration of a loop writes, as loops that go through it again: exactly that, and no element more.
#include "schedule/written_nest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "expr/print.h"
#include "schedule/golden.h"

namespace lathe::testing {
namespace {

// "loops | index | conditions" for what block O writes in an iteration of the loop.
std::string written(const Task& task, const std::string& steps, const std::string& loop) {
  const Program program = scheduled(task, steps);
  const Result<Located> located = locate(program, "O");
  const Result<size_t> position = located->loop(loop);
  EXPECT_TRUE(position.has_value()) << position.error().to_string();
  const WrittenNest nest = written_nest(*located, *position, {"x", "y"});
  std::vector<std::string> loops;
  for (const auto& [var, extent] : nest.loops) loops.push_back(fmt::format("{} in {}", var.name(), extent));
  std::vector<std::string> index;
  for (const Affine& value : nest.index) index.push_back(to_string(value));
  std::vector<std::string> conditions;
  for (const Conjunct& conjunct : nest.conditions) conditions.push_back(to_string(conjunct));
  return fmt::format("{} | {} | {}", fmt::join(loops, ", "), fmt::join(index, ", "),
                     fmt::join(conditions, ", "));
}

Task image() { return task_of("O[i:6, j:8] = A[i, j] * 2.0"); }
Task product() { return task_of("O[i:6, j:8] = sum(r:10) A[i, r] * B[r, j]"); }

// One loop a dimension, of the given names; dimensions that do not move have one of one iteration.
TEST(WrittenNest, ABox) {
  EXPECT_EQ(written(image(), "", "i"), "x in 1, y in 8 | i + x, y | ");
  EXPECT_EQ(written(image(), "", "j"), "x in 1, y in 1 | i + x, j + y | ");
  EXPECT_EQ(written(image(), "split O i [2]; split O j [4]; reorder O i.0 j.0 i.1 j.1", "j.0"),
            "x in 2, y in 4 | 2*i.0 + x, 4*j.0 + y | ");
}

// Loops of two tilings that together count on by ones.
TEST(WrittenNest, ABoxOfSeveralLoops) {
  EXPECT_EQ(written(image(), "split O j [2 2]; reorder O j.0 i j.2 j.1", "j.0"),
            "x in 6, y in 4 | x, 4*j.0 + y | ");
}

// That an axis stays in its domain is no condition here: the caller guards it.
TEST(WrittenNest, ImperfectTiles) {
  EXPECT_EQ(written(image(), "split O j [5]; reorder O j.0 i j.1", "j.0"),
            "x in 6, y in 5 | x, 5*j.0 + y | ");
}

// A tile of imperfect tiles ends where its loops do.
TEST(WrittenNest, ATileThatIsImperfectItself) {
  EXPECT_EQ(written(image(), "split O j [5]; split O j.1 [3]; reorder O j.0 i j.1.0 j.1.1", "j.0"),
            "x in 6, y in 6 | x, 5*j.0 + y | y < 5 axis 1");
}

// Loops of the reduction move nothing; its imperfect tiles cut nothing where they go on below.
TEST(WrittenNest, AReduction) {
  EXPECT_EQ(written(product(), "split O r [4]; reorder O r.0 i j r.1", "i"), "x in 1, y in 8 | i + x, y | ");
  EXPECT_EQ(written(product(), "split O r [4]; reorder O i r.0 j r.1", "i"), "x in 1, y in 8 | i + x, y | ");
  EXPECT_EQ(written(product(), "split O r [4 2]; reorder O r.0 r.1 i j r.2", "r.1"),
            "x in 6, y in 8 | x, y | ");
}

// Fused with its reduction an element is written in several iterations: the copies go through them all.
TEST(WrittenNest, AFusedReduction) {
  EXPECT_EQ(written(product(), "fuse O j r; split O j_r [7]", "j_r.0"),
            "j_r.1 in 7 | i, (7*j_r.0 + j_r.1)/10 | 7*j_r.0 + j_r.1 < 80 axis 1");
}

// What hangs on a fused loop, or leaves gaps, is gone through by copies of the loops.
TEST(WrittenNest, CopiesOfTheLoops) {
  EXPECT_EQ(written(image(), "fuse O i j; split O i_j [6]", "i_j.0"),
            "i_j.1 in 6 | (6*i_j.0 + i_j.1)/8, (6*i_j.0 + i_j.1)%8 | ");
  EXPECT_EQ(written(image(), "split O j [4]; reorder O j.1 i j.0", "j.1"),
            "i in 6, j.0 in 2 | i, j.1 + 4*j.0 | ");
}

// The loops wrap a block in the order in which they are listed.
TEST(WrittenNest, InLoops) {
  const Block block = *locate(scheduled(image(), ""), "O")->block;
  const Stmt nest = in_loops(block, {{Var("a"), 2}, {Var("b"), 3}});
  const std::vector<For> loops = all<For>(nest);
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_EQ(loops[0].var.name(), "a");
  EXPECT_EQ(constant_extent(loops[0]), 2);
  EXPECT_EQ(loops[1].var.name(), "b");
  EXPECT_EQ(constant_extent(loops[1]), 3);
  EXPECT_NE(as<Block>(loops[1].body), nullptr);
}

}  // namespace
}  // namespace lathe::testing
