#include "graph/operators/top_threshold.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/network_runner.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

// The threshold after a step, by the definition. Expects the computes to give the same.
Numbers after_step(const TopThresholdOp& op, const Values& keys, const Values& threshold, double bit) {
  GraphBuilder builder("m");
  std::vector<Values> operands{keys, threshold, {{}, {bit}, DType::i32}};
  std::vector<TensorId> inputs;
  for (const Values& each : operands)
    inputs.push_back(*builder.input("x" + std::to_string(inputs.size()), {DType::i32, each.shape}));
  EXPECT_TRUE(builder.output(*builder.node("n", op, inputs, "y")));
  const Graph graph = builder.build();
  const Values reference = evaluate(op, operands);
  EXPECT_EQ(run_partition(graph, partition(graph).value(), operands)[0].data, reference.data);
  return reference.data;
}

TEST(TopThreshold, TurnsABitWhereEnoughKeysReachIt) {
  const Values keys{{5}, {7, 4, 3, 9, -1}, DType::i32};
  EXPECT_EQ(after_step({0, 3}, keys, {{1}, {0}, DType::i32}, 4), (Numbers{4}));
  EXPECT_EQ(after_step({0, 3}, keys, {{1}, {0}, DType::i32}, 8), (Numbers{0}));
  EXPECT_EQ(after_step({0, 3}, keys, {{1}, {4}, DType::i32}, 2), (Numbers{4}));
}

TEST(TopThreshold, TheSignComesFirst) {
  const double least = -2147483648.0;
  const Values keys{{2, 3}, {7, -4, -3, -9, -1, -5}, DType::i32};
  const Values before{{2, 1}, {least, least}, DType::i32};
  EXPECT_EQ(after_step({1, 1}, keys, before, least), (Numbers{0, least}));
  EXPECT_EQ(after_step({1, 1}, keys, before, 1073741824), (Numbers{-1073741824, -1073741824}));
}

TEST(TopThreshold, BecomesTheSmallestOfTheLargest) {
  const Values keys{{3, 2}, {5, -2, 3, -8, 5, 0}, DType::i32};
  const std::vector<std::pair<int64_t, Numbers>> cases{{1, {5, 0}}, {2, {5, -2}}, {3, {3, -8}}};
  for (const auto& [count, expected] : cases) {
    const TopThresholdOp op{0, count};
    Values threshold{{1, 2}, {-2147483648.0, -2147483648.0}, DType::i32};
    threshold.data = after_step(op, keys, threshold, -2147483648.0);
    for (int bit = 30; bit >= 0; --bit)
      threshold.data = evaluate(op, std::vector<Values>{keys, threshold, {{}, {std::ldexp(1.0, bit)}}}).data;
    EXPECT_EQ(threshold.data, expected);
  }
}

TEST(TopThreshold, NamesWhatItDoesNotTake) {
  const auto error = [](const TopThresholdOp& op, DType dtype, const Shape& keys, const Shape& threshold) {
    const std::vector<TensorType> types{{dtype, keys}, {dtype, threshold}, {dtype, {}}};
    const auto type = infer(op, types);
    return type ? to_string(*type) : type.error().message;
  };
  EXPECT_EQ(to_string(GraphOp(TopThresholdOp{1, 2})), "TopThreshold(axis 1, 2 largest)");
  EXPECT_EQ(error({1, 2}, DType::i64, {3, 4}, {3, 1}), "i64[3,1]");
  EXPECT_EQ(error({0, 1}, DType::f32, {3}, {1}),
            "input 0 is of type f32, and Lathe supports i32 and i64 here");
  EXPECT_EQ(error({1, 1}, DType::i32, {3}, {1}), "[3] has no axis 1");
  EXPECT_EQ(error({0, 4}, DType::i32, {3}, {1}),
            "[3], [1] and [] are not keys, a threshold and a bit of the 4 largest along axis 0");
  const int64_t many = int64_t{1} << 31;
  EXPECT_EQ(error({0, 1}, DType::i32, {many}, {1}),
            "axis 0 of [2147483648] has 2147483648 places, and Lathe supports 2147483647");
}

}  // namespace
}  // namespace lathe
