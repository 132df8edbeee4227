// What the operator families share: shapes, places and axes.
#include "graph/operators/family.h"

#include <gtest/gtest.h>

#include <limits>

#include "expr/print.h"

namespace lathe {
namespace {

std::string joint(const Shape& a, const Shape& b) {
  const Result<Shape> shape = broadcast_shapes(a, b);
  return shape ? to_string(*shape) : shape.error().message;
}

TEST(BroadcastShapes, GoesByTheLastAxes) {
  EXPECT_EQ(joint({}, {}), "[]");
  EXPECT_EQ(joint({3}, {}), "[3]");
  EXPECT_EQ(joint({2, 3}, {3}), "[2,3]");
  EXPECT_EQ(joint({2, 1}, {3}), "[2,3]");
  EXPECT_EQ(joint({3}, {4, 1, 1}), "[4,1,3]");
  EXPECT_EQ(joint({1, 5, 1}, {7, 1, 6}), "[7,5,6]");
}

TEST(BroadcastShapes, IsTheSameTheOtherWayRound) {
  for (const auto& [a, b] : {std::pair<Shape, Shape>{{2, 3}, {3}}, {{2, 1}, {1, 4}}, {{}, {5, 1}}})
    EXPECT_EQ(joint(a, b), joint(b, a));
}

TEST(BroadcastShapes, NamesShapesThatDoNot) {
  EXPECT_EQ(joint({2, 3}, {2}), "the shapes [2,3] and [2] do not broadcast");
  EXPECT_EQ(joint({4, 2}, {3, 2}), "the shapes [4,2] and [3,2] do not broadcast");
  EXPECT_EQ(broadcast_shapes({2}, {3}).error().kind, ErrorKind::invalid_argument);
}

TEST(BroadcastOffset, IsTheRowMajorPlaceWithoutAxesOfOne) {
  EXPECT_EQ(broadcast_offset({2, 3, 4}, {1, 2, 3}), 23);
  EXPECT_EQ(broadcast_offset({2, 1, 4}, {1, 2, 3}), 7);
  EXPECT_EQ(broadcast_offset({3, 1}, {9, 2, 5}), 2);
  EXPECT_EQ(broadcast_offset({}, {9, 2, 5}), 0);
  EXPECT_EQ(broadcast_offset({1, 1, 1}, {9, 2, 5}), 0);
  EXPECT_EQ(element_at({{3, 1}, {10, 20, 30}}, {9, 2, 5}), 30);
}

TEST(NextIndex, CountsThroughAllAndEndsAtTheFirst) {
  Shape index(3, 0);
  std::vector<int64_t> places;
  do places.push_back(index[0] * 100 + index[1] * 10 + index[2]);
  while (next_index(index, {2, 1, 3}));
  EXPECT_EQ(places, (std::vector<int64_t>{0, 1, 2, 100, 101, 102}));
  EXPECT_EQ(index, (Shape{0, 0, 0}));
  Shape none;
  EXPECT_FALSE(next_index(none, {}));
}

TEST(Moved, TakesEachElementFromItsSource) {
  const Values x{{2, 3}, {1, 2, 3, 4, 5, 6}};
  const Values turned = moved(x, {3, 2}, [](const Shape& i) { return Shape{i[1], 2 - i[0]}; });
  EXPECT_EQ(turned.shape, (Shape{3, 2}));
  EXPECT_EQ(turned.data, (std::vector<double>{3, 6, 2, 5, 1, 4}));
  EXPECT_EQ(moved({{}, {7}}, {}, [](const Shape& i) { return i; }).data, (std::vector<double>{7}));
}

TEST(AxisOf, CountsNegativeOnesFromTheEnd) {
  EXPECT_EQ(*axis_of(0, 3), 0U);
  EXPECT_EQ(*axis_of(2, 3), 2U);
  EXPECT_EQ(*axis_of(-1, 3), 2U);
  EXPECT_EQ(*axis_of(-3, 3), 0U);
  EXPECT_EQ(axis_of(3, 3).error().message, "there is no axis 3 among 3 axes");
  EXPECT_EQ(axis_of(-4, 3).error().message, "there is no axis -4 among 3 axes");
  EXPECT_EQ(axis_of(0, 0).error().message, "there is no axis 0 among 0 axes");
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(axis_of(kLeast, 2).error().message, "there is no axis -9223372036854775808 among 2 axes");
}

TEST(AxesOfList, AreAscendingAndNamedOnce) {
  EXPECT_EQ(*axes_of_list({2, -4, 1}, 4), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(*axes_of_list({}, 4), std::vector<size_t>{});
  EXPECT_EQ(axes_of_list({1, -3}, 4).error().message, "axis 1 is named twice");
  EXPECT_EQ(axes_of_list({1, 4}, 4).error().message, "there is no axis 4 among 4 axes");
}

TEST(AxesFrom, RunsToTheLast) {
  EXPECT_EQ(axes_from(1, 4), (std::vector<size_t>{1, 2, 3}));
  EXPECT_EQ(axes_from(0, 1), std::vector<size_t>{0});
  EXPECT_EQ(axes_from(3, 3), std::vector<size_t>{});
}

TEST(Wrapped, TakesTheLowestBitsOfIntegers) {
  EXPECT_EQ(wrapped(DType::i8, 127), 127);
  EXPECT_EQ(wrapped(DType::i8, 128), -128);
  EXPECT_EQ(wrapped(DType::i8, -129), 127);
  EXPECT_EQ(wrapped(DType::i8, 512), 0);
  EXPECT_EQ(wrapped(DType::u8, -1), 255);
  EXPECT_EQ(wrapped(DType::i32, 2147483648.0), -2147483648.0);
  EXPECT_EQ(wrapped(DType::i32, 4294967297.0), 1);
  EXPECT_EQ(wrapped(DType::i64, 0x1p62), 0x1p62);
  EXPECT_EQ(wrapped(DType::f32, 1e300), 1e300);
  EXPECT_EQ(wrapped(DType::i32, -std::numeric_limits<double>::infinity()),
            -std::numeric_limits<double>::infinity());
}

TEST(RequireTypes, NamesTheFirstOperandThatIsWrong) {
  const TensorType real{DType::f32, {2}}, integer{DType::i64, {}}, truth{DType::boolean, {2}};
  EXPECT_TRUE(require_f32({}));
  EXPECT_TRUE(require_f32(std::vector{real, real}));
  EXPECT_EQ(require_f32(std::vector{real, integer, truth}).error().message,
            "input 1 is of type i64, and Lathe supports f32 here");
  const TensorType wide{DType::f64, {2}};
  EXPECT_TRUE(require_reals(std::vector{real, real}));
  EXPECT_TRUE(require_reals(std::vector{wide, wide}));
  EXPECT_EQ(require_reals(std::vector{wide, real}).error().message,
            "input 1 is of type f32, and Lathe supports f64 here");
  EXPECT_EQ(require_reals(std::vector{integer}).error().message,
            "input 0 is of type i64, and Lathe supports f32 and f64 here");
  EXPECT_TRUE(require_type(truth, 3, true, "nothing"));
  EXPECT_EQ(require_type(truth, 3, false, "i32 and i64").error().message,
            "input 3 is of type bool, and Lathe supports i32 and i64 here");
  EXPECT_TRUE(require_one_type({}));
  EXPECT_TRUE(require_one_type(std::vector{truth, truth}));
  EXPECT_EQ(require_one_type(std::vector{integer, integer, real}).error().message,
            "its operands are of types i64 and f32");
}

TEST(IsNumber, TakesWhatArithmeticTakes) {
  std::string numbers;
  for (const DTypeInfo& info : kDTypes)
    if (is_number(info.dtype)) numbers += std::string(info.name) + " ";
  EXPECT_EQ(numbers, "i8 i32 i64 f32 f64 u8 i16 u16 u32 u64 ");
}

TEST(AxesWith, HasAnAxisForEachExtent) {
  EXPECT_EQ(to_string(axes_with({2, 3})), "i:2, j:3");
  EXPECT_EQ(to_string(axes_with({1, 2, 3, 4})), "n:1, c:2, y:3, x:4");
  EXPECT_TRUE(axes_with({}).empty());
  EXPECT_EQ(real(0.5).type(), Type{DType::f32});
}

}  // namespace
}  // namespace lathe
