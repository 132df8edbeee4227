// A tiling as a value becomes steps: loops over tiles, the sum, the tile, and what takes its results.
#include "space/templates/tiling.h"

#include <gmock/gmock.h>

#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kProduct = "C[i:8, j:48] = sum(r:8) A[i,r] * B[r,j]";
constexpr const char* kProductAndMore =
    "C[i:8, j:48] = sum(r:8) A[i,r] * B[r,j]\nO[j:48, i:8] = max(C[i,j], 0.0)";

// Rows of four and columns of 24, the latter in vectors of eight.
Tiling tiling_of(const RuleCase& one, LoopKind rows, LoopKind columns, bool columns_first = false) {
  const Compute& compute = one.dag().computes[0];
  Tiling tiling;
  tiling.tile = {split_tile_loop(tiling, compute, 0, {4}, rows, 8),
                 split_tile_loop(tiling, compute, 1, {24}, columns, 8)};
  if (columns_first) std::swap(tiling.tile[0], tiling.tile[1]);
  tiling.tiles = {{"i.0", 2}, {"j.0", 2}};
  tiling.shared = share_loops(one.analysis(), tiling.tiles);
  tiling.sums = {{"r", 8, LoopKind::unrolled}};
  tiling.scope = scope_of_results(tiling, {});
  return tiling;
}

std::string written(const RuleCase& one, const Tiling& tiling) {
  return one.written([&](Writer& writer) { write_tiling(writer, tiling); });
}

TEST(Tiling, ACopyTakesTheResults) {
  const RuleCase one(kProduct);
  EXPECT_EQ(written(one, tiling_of(one, LoopKind::unrolled, LoopKind::vectorized)), R"(split C i [4]
split C j [3 8]
reorder C i.0 j.0 r i.1 j.1 j.2
unroll C r
unroll C i.1
unroll C j.1
vectorize C j.2
cache_write C C.acc at=j.0 scope=registers
split C.acc.out j [8]
reorder C.acc.out i j.0 j.1
unroll C.acc.out i
unroll C.acc.out j.0
vectorize C.acc.out j.1
)");
}

TEST(Tiling, TheConsumerTakesThemWhereThereIsOne) {
  const RuleCase one(kProductAndMore);
  EXPECT_THAT(written(one, tiling_of(one, LoopKind::unrolled, LoopKind::vectorized)),
              HasSubstr("reverse_compute_at O C j.0 scope=registers\nsplit O j [8]\nreorder O i j.0 j.1\n"));
}

TEST(Tiling, CoresShareTheOuterLoops) {
  const RuleCase one(kProduct, {}, 2);
  EXPECT_THAT(written(one, tiling_of(one, LoopKind::unrolled, LoopKind::vectorized)),
              HasSubstr("fuse C i.0 j.0\nparallel C i.0_j.0\n"));
}

// In memory the results of a tile lie as its loops go.
TEST(Tiling, ResultsOfLoopsLieInTheirOrder) {
  const RuleCase one(kProduct);
  const std::string rows_last = written(one, tiling_of(one, LoopKind::serial, LoopKind::unrolled, true));
  EXPECT_THAT(rows_last, HasSubstr("cache_write C C.acc at=j.0 scope=thread\nlayout C.acc [1][0]\n"));
  const std::string rows_first = written(one, tiling_of(one, LoopKind::serial, LoopKind::unrolled));
  EXPECT_THAT(rows_first, Not(HasSubstr("layout")));
}

TEST(Tiling, ItsLengthIsThatOfWhatIsWrittenOut) {
  const RuleCase one(kProduct);
  Tiling tiling = tiling_of(one, LoopKind::unrolled, LoopKind::vectorized);
  EXPECT_TRUE(check_length_of(tiling, "C"));
  tiling.sums.front().extent = 4096 / 12;
  EXPECT_TRUE(check_length_of(tiling, "C"));
  tiling.sums.front().extent += 1;
  EXPECT_EQ(check_length_of(tiling, "C").error().message,
            "too long: the body of 'C' becomes 4104 statements by unrolling, of which 4096 are the most");
  tiling.sums.front().kind = LoopKind::serial;
  EXPECT_TRUE(check_length_of(tiling, "C"));
}

// Seven lanes are four and two and one.
TEST(Tiling, OddVectorsAreSeveralStatements) {
  const RuleCase one("C[i:8, j:28] = sum(r:8) A[i,r] * B[r,j]");
  Tiling tiling;
  const TileLoop loop = split_tile_loop(tiling, one.dag().computes[0], 1, {28}, LoopKind::vectorized, 8);
  EXPECT_EQ(loop.lanes, 7);
  EXPECT_EQ(loop.vectors(), 4);
  EXPECT_EQ(loop.statements(), 12);
}

}  // namespace
}  // namespace lathe::testing
