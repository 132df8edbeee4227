// The one region analysis: sides of sums, and boxes of buffers.
#include "loop/region.h"

#include <gtest/gtest.h>

#include "loop/parse.h"
#include "loop/walk.h"

namespace lathe {
namespace {

class Sides : public ::testing::Test {
 protected:
  Sides() {
    moving.set_extent(i, 4);
    moving.set_extent(j, 3);
    fixed.set_extent(n, 10);
  }
  // "base + extent", or "none".
  std::string side(const Affine& value) const {
    const auto found = side_of(value, moving, fixed);
    return found ? to_string(found->base) + " + " + std::to_string(found->extent) : "none";
  }

  Var i{"i"}, j{"j"}, n{"n"};
  Ranges moving, fixed;
};

TEST_F(Sides, WhatIsFixedIsTheBase) {
  EXPECT_EQ(side(Affine(n) * 4 + i), "4*n + 4");
  EXPECT_EQ(side(Affine(n) + 5), "n + 5 + 1");
  EXPECT_EQ(side(Affine(3)), "3 + 1");
}

TEST_F(Sides, WhatMovesIsTheExtent) {
  EXPECT_EQ(side(Affine(i) + j), "0 + 6");
  EXPECT_EQ(side(Affine(i) * 2), "0 + 7") << "the gaps are in it";
  EXPECT_EQ(side(Affine(i) * 2 + j), "0 + 9");
}

TEST_F(Sides, WhatFallsBeginsAtItsEnd) {
  EXPECT_EQ(side(Affine(n) - i), "n - 3 + 4");
  EXPECT_EQ(side(Affine(7) - Affine(i) * 2 + j), "1 + 9");
}

TEST_F(Sides, AnIndirectIndexHasNoBox) {
  const Tensor table("T", {4}, DType::i32);
  const Affine chosen = opaque(cast({DType::i64, 1}, load(table, {0})));
  EXPECT_EQ(side(chosen + i), "none");
  EXPECT_TRUE(depends_on_values(chosen * 2 + i));
  EXPECT_TRUE(depends_on_values(floor_div(chosen + i, 3)));
  EXPECT_FALSE(depends_on_values(floor_div(i, 3) + n));
}

TEST(ReachesAll, WhereNoGapIsLeft) {
  const Var i("i"), j("j");
  Ranges ranges;
  ranges.set_extent(i, 4);
  ranges.set_extent(j, 3);
  EXPECT_TRUE(reaches_all(i, ranges));
  EXPECT_TRUE(reaches_all(Affine(i) * 3 + j, ranges));
  EXPECT_TRUE(reaches_all(Affine(i) * 2 + j, ranges));
  EXPECT_FALSE(reaches_all(Affine(i) * 4 + j, ranges)) << "3, 7 and 11 are left out";
  EXPECT_FALSE(reaches_all(Affine(i) * 2, ranges));
  EXPECT_TRUE(reaches_all(Affine(5), ranges));
}

const char* const kProgram = R"(
input A: f32[20] [0]
output C: f32[8, 4] [0][1]
main {
  for i in 8 {
    for j in 4 {
      block C {
        y: 8 = i
        x: 4 = j
        C[y, x] = A[2*y + x] + A[y]
      }
    }
  }
}
)";

class Regions : public ::testing::Test {
 protected:
  Program program = parse_program(kProgram).value();
  Tensor a = program.arguments[0].tensor, c = program.arguments[1].tensor;
  const For& outer() const { return *as<For>(program.main); }

  static std::string text(const std::optional<Box>& box) {
    if (!box) return "none";
    std::string all;
    for (const BoxSide& side : *box)
      all += "[" + to_string(side.base) + " + " + std::to_string(side.extent) + "]";
    return all;
  }
};

TEST_F(Regions, OfTheWholeProgram) {
  EXPECT_EQ(text(region(program.main, c, Access::write, {})), "[0 + 8][0 + 4]");
  EXPECT_EQ(text(region(program.main, a, Access::read, {})), "[0 + 18]");
}

TEST_F(Regions, OfOneIteration) {
  Ranges fixed;
  fixed.set_extent(outer().var, 8);
  EXPECT_EQ(text(region(outer().body, c, Access::any, fixed)), "[i + 1][0 + 4]");
}

TEST_F(Regions, OnlyWhatIsAskedFor) {
  EXPECT_EQ(text(region(program.main, c, Access::read, {})), "none");
  EXPECT_EQ(text(region(program.main, a, Access::write, {})), "none");
  EXPECT_EQ(text(region(program.main, Tensor("other", {4}), Access::any, {})), "none");
}

}  // namespace
}  // namespace lathe
