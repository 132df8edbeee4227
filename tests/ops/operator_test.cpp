// How operators are entered and counted.
#include "ops/operator.h"

#include <gtest/gtest.h>

#include <limits>

namespace lathe {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TEST(OperatorCounts, AMultiplyAddIsTwoOperations) {
  EXPECT_EQ(multiply_adds({}), 2);
  EXPECT_EQ(multiply_adds({3, 4, 5}), 120);
  EXPECT_EQ(multiply_adds({int64_t{1} << 61}), int64_t{1} << 62);
}

TEST(OperatorCounts, StopAtTheLargestInteger) {
  constexpr int64_t kMany = int64_t{1} << 31;
  EXPECT_EQ(multiply_adds({kMany, kMany}), kMost);
  EXPECT_EQ(multiply_adds({kMany, kMany, kMany, 1}), kMost);
  EXPECT_EQ(power(kMany, 2), int64_t{1} << 62);
  EXPECT_EQ(power(kMany, 3), kMost);
  EXPECT_EQ(power(3037000500, 2), kMost);  // just beyond
}

TEST(OperatorCounts, PowersOfAKernel) {
  EXPECT_EQ(power(7, 0), 1);
  EXPECT_EQ(power(7, 1), 7);
  EXPECT_EQ(power(3, 3), 27);
  EXPECT_EQ(power(1, 60), 1);
}

TEST(OperatorParameters, AreFoundByName) {
  Parameters parameters;
  parameters.set("first", 3);
  parameters.set("second", -4);
  EXPECT_EQ(parameters["second"], -4);
  EXPECT_EQ(parameters["first"], 3);
}

// [4] + 1.0.
DagBuilder addition() {
  DagBuilder builder;
  const Tensor x = builder.input("X", {4});
  const Axis i = spatial("i", 4);
  builder.compute("Y", {i}, x(i) + 1.0);
  return builder;
}

TEST(OperatorFinish, TakesTheCountThatIsGiven) {
  const Result<Operator> made = finish(addition(), {"X"}, 77);
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(made->flops, 77);
  EXPECT_EQ(made->constants, std::vector<std::string>{"X"});
  EXPECT_EQ(made->algorithm, "");
  EXPECT_EQ(made->dag.computes.size(), 1U);
}

TEST(OperatorFinish, CountsOnTheDagWhereNoneIs) {
  const Result<Operator> made = finish(addition());
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(made->flops, 4);
  EXPECT_TRUE(made->constants.empty());
}

TEST(OperatorFinish, NamesWhatIsNoDag) {
  DagBuilder builder = addition();
  builder.input("Y", {4});
  EXPECT_EQ(finish(builder).error().to_string(), "there are two tensors named 'Y'");
  EXPECT_EQ(finish(builder, {}, 5).error().to_string(), "there are two tensors named 'Y'");
}

}  // namespace
}  // namespace lathe
