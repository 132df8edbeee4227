#include "task/layout.h"

#include <gtest/gtest.h>

#include <set>

#include "base/rng.h"

namespace lathe {
namespace {

Layout parsed(std::string_view text) {
  TextCursor cursor(text, "layout");
  Result<Layout> layout = parse_layout(cursor);
  EXPECT_TRUE(layout.has_value() && cursor.at_end()) << text;
  return layout.value_or(Layout{});
}

std::string error_of(std::string_view text, std::vector<int64_t> shape = {}) {
  TextCursor cursor(text, "layout");
  const Result<Layout> layout = parse_layout(cursor);
  if (!layout) return layout.error().to_string();
  const Status status = verify(*layout, shape);
  return status ? "no error" : status.error().to_string();
}

TEST(Layout, PrintsAndParses) {
  for (const char* text :
       {"[]", "[0]", "[0][2][3][1]", "[0][1/16][2][3][1%16]", "[0/16][0/4%4][0%4]", "[1][0+16]"}) {
    EXPECT_EQ(to_string(parsed(text)), text);
  }
  EXPECT_EQ(parsed("[0][2][3][1]"), Layout::permuted(std::vector<int>{0, 2, 3, 1}));
  EXPECT_EQ(parsed("[0][1]"), Layout::row_major(2));
}

TEST(Layout, ShapesAndRoom) {
  const Layout blocked = parsed("[0][1/16][2+3][1%16]");
  const std::vector<int64_t> shape = {2, 20, 7};
  EXPECT_TRUE(verify(blocked, shape).has_value());
  EXPECT_EQ(physical_shape(blocked, shape), (std::vector<int64_t>{2, 2, 10, 16}));
  EXPECT_EQ(physical_elements(blocked, shape), 640);
  EXPECT_EQ(capacity(blocked, shape), (std::vector<int64_t>{2, 32, 7}));
}

TEST(Layout, RowMajorIsWhereTheElementsLie) {
  const auto keeps = [](const std::string& text, const std::vector<int64_t>& shape) {
    return is_row_major(parsed(text), shape);
  };
  EXPECT_TRUE(keeps("[0][1]", {3, 4}));
  EXPECT_TRUE(keeps("[0][2/16][1][2%16]", {6, 82, 16}));
  EXPECT_TRUE(keeps("[1][0]", {1, 7}));
  EXPECT_TRUE(keeps("[0][1/4][1%4]", {3, 8}));
  EXPECT_FALSE(keeps("[0][2/16][1][2%16]", {6, 82, 32}));
  EXPECT_FALSE(keeps("[0][2/16][1][2%16]", {6, 82, 15}));
  EXPECT_FALSE(keeps("[1][0]", {2, 7}));
  EXPECT_FALSE(keeps("[0][1%4][1/4]", {3, 8}));
  EXPECT_FALSE(keeps("[0][1+16]", {3, 8}));
}

TEST(Layout, Errors) {
  EXPECT_EQ(error_of("[0][1/16][1%8]", {4, 32}),
            "layout [0][1/16][1%8]: the parts of dimension 1 do not chain: one divides by 16, not 8");
  EXPECT_EQ(error_of("[0]", {4, 4}), "layout [0]: dimension 1 is missing");
  EXPECT_EQ(error_of("[0][1][2]", {4, 4}), "layout [0][1][2]: there is no dimension 2, the tensor has 2");
  EXPECT_EQ(error_of("[0%4]", {4}), "layout [0%4]: of dimension 0 exactly the outermost part has no modulo");
  EXPECT_EQ(error_of("[0][0]", {4}),
            "layout [0][0]: of dimension 0 exactly the outermost part has no modulo");
  EXPECT_EQ(error_of("[0/0]"), "layout:1:5: a layout's factor is 1 to 2147483648, not 0");
  EXPECT_EQ(error_of("[0+2000000000][1+2000000000]", {4, 4}),
            "layout [0+2000000000][1+2000000000]: 4e+18 elements are too many");
}

// Every index has a place of its own, and the symbolic offset is the numeric one.
TEST(Layout, FlattenIsInjective) {
  Rng rng(3);
  const std::vector<const char*> layouts = {"[0][1][2]", "[2][0][1]", "[1/4][0][2+5][1%4]",
                                            "[0%2][2/3][1][0/2][2%3]", "[1/8][1/2%4][0][2][1%2]"};
  for (const char* text : layouts) {
    const Layout layout = parsed(text);
    const std::vector<int64_t> shape = {rng.between(1, 5), rng.between(1, 9), rng.between(1, 7)};
    ASSERT_TRUE(verify(layout, shape).has_value()) << text;
    const std::vector<Var> vars = {Var("i"), Var("j"), Var("k")};
    Ranges ranges;
    for (size_t d = 0; d < 3; ++d) ranges.set_extent(vars[d], shape[d]);
    const Affine symbolic = flatten(layout, shape, std::vector<Affine>(vars.begin(), vars.end()), ranges);
    std::set<int64_t> seen;
    for (int64_t i = 0; i < shape[0]; ++i) {
      for (int64_t j = 0; j < shape[1]; ++j) {
        for (int64_t k = 0; k < shape[2]; ++k) {
          const std::vector<int64_t> index = {i, j, k};
          const int64_t offset = flatten(layout, shape, index);
          EXPECT_TRUE(seen.insert(offset).second) << text;
          EXPECT_LT(offset, physical_elements(layout, shape));
          EXPECT_TRUE(substitute(symbolic, {{vars[0], i}, {vars[1], j}, {vars[2], k}}).is(offset)) << text;
        }
      }
    }
  }
}

TEST(Layout, TilesThatFitABlockNeedNoDivision) {
  const Var block("b");
  const Var lane("l");
  Ranges ranges;
  ranges.set_extent(block, 4);
  ranges.set_extent(lane, 16);
  const std::vector<Affine> index = {Affine(block) * 16 + lane};
  EXPECT_EQ(to_string(flatten(parsed("[0/16][0%16]"), std::vector<int64_t>{64}, index, ranges)), "16*b + l");
}

}  // namespace
}  // namespace lathe
