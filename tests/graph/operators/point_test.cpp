// The elements of operands that an element of a result is made of.
#include "graph/operators/point.h"

#include <gtest/gtest.h>

#include "expr/print.h"

namespace lathe {
namespace {

// A point of a result [2, 3, 4] over operands of these shapes, "a", "b" ..
PointOperands point_over(const std::vector<std::vector<int64_t>>& shapes) {
  std::vector<PointOperand> operands;
  for (const auto& shape : shapes)
    operands.emplace_back(std::in_place_type<Tensor>,
                          std::string(1, static_cast<char>('a' + operands.size())), shape);
  return {{spatial("i", 2), spatial("j", 3), spatial("k", 4)}, operands};
}

TEST(PointOperands, BroadcastByNumPysRule) {
  const PointOperands point = point_over({{2, 3, 4}, {3, 4}, {4}, {2, 1, 4}, {1, 1, 1}, {}, {1}, {3, 1}});
  const std::vector<std::string> expected{"a[i, j, k]", "b[j, k]", "c[k]", "d[i, 0, k]",
                                          "e[0, 0, 0]", "f[]",     "g[0]", "h[j, 0]"};
  ASSERT_EQ(point.count(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(to_string(point.at(i)), expected[i]);
}

TEST(PointOperands, AValueStandsForItself) {
  const PointOperands point({spatial("i", 2)}, {Expr(7.0), Tensor("b", {2})});
  EXPECT_EQ(to_string(point.at(0)), to_string(Expr(7.0)));
  EXPECT_EQ(to_string(point.at(1)), "b[i]");
}

// An axis of the result that has one place itself is read at its variable, which is 0.
TEST(PointOperands, AnAxisOfOnePlaceIsTheResults) {
  const PointOperands point({spatial("i", 1), spatial("j", 3)}, {Tensor("a", {1, 3})});
  EXPECT_EQ(to_string(point.at(0)), "a[i, j]");
}

TEST(PointOperands, AtChannelReadsAlongTheSecondAxis) {
  EXPECT_EQ(to_string(point_over({{3}}).at_channel(0)), "a[j]");
}

TEST(PointOperands, AxesCountFromTheLast) {
  const PointOperands point = point_over({});
  EXPECT_EQ(point.axis_from_last(0).var.name(), "k");
  EXPECT_EQ(point.axis_from_last(2).var.name(), "i");
  EXPECT_EQ(point.axis_from_last(1).extent, 3);
}

}  // namespace
}  // namespace lathe
