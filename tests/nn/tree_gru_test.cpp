#include "nn/tree_gru.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nn/gradients.h"

namespace lathe::nn {
namespace {

// Two trees: 0 with children 1 and 2, of which 2 has child 3; and 4 alone.
Forest two_trees() { return {{Forest::kRoot, 0, 0, 2, Forest::kRoot}}; }

TEST(TreeGru, SlopesAreThoseOfCentralDifferences) {
  Rng rng(7);
  TreeGru unit(3, 4, rng);
  const Forest forest = two_trees();
  Matrix inputs = random_matrix(forest.size(), 3, rng);
  const auto loss = [&] { return weighted_sum(unit.forward(forest, inputs)); };
  const TreeGru::Kept kept = unit.forward_kept(forest, inputs);
  const Matrix by_inputs = unit.backward(kept, slope_of_weighted_sum(kept.states));
  expect_slopes(inputs.values, by_inputs.values, loss);
  for (Weights* weights : unit.weights()) expect_slopes(weights->value.values, weights->slope.values, loss);
}

// Of one weight each: h = z * hbar + (1 - z) * n by hand.
TEST(TreeGru, TheCellIsThatOfItsFormula) {
  Rng rng(1);
  TreeGru unit(1, 1, rng);
  const std::vector<float> values{0.5F, 0.1F, -0.3F, 0.2F, 0.7F, -0.1F, 0.4F, 0.6F, -0.8F};
  size_t next = 0;
  for (Weights* weights : unit.weights()) weights->value.values[0] = values[next++];
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const auto leaf = [&](double x) {
    const double z = sigmoid(0.5 * x + 0.1);
    return (1 - z) * std::tanh(0.7 * x - 0.1);
  };
  const double left = leaf(1);
  const double right = leaf(-2);
  const double mean = (left + right) / 2;
  const double z = sigmoid(0.5 * 3 + 0.1 + 0.4 * mean);
  const auto reset = [&](double child) { return sigmoid(-0.3 * 3 + 0.2 + 0.6 * child) * child; };
  const double n = std::tanh(0.7 * 3 - 0.1 - 0.8 * (reset(left) + reset(right)) / 2);
  const Matrix states = unit.forward({{Forest::kRoot, 0, 0}}, {3, 1, {3, 1, -2}});
  EXPECT_NEAR(static_cast<double>(states.values[1]), left, 1e-6);
  EXPECT_NEAR(static_cast<double>(states.values[0]), z * mean + (1 - z) * n, 1e-6);
}

// A tree has the same states alone as beside others.
TEST(TreeGru, TreesDoNotTouchEachOther) {
  Rng rng(7);
  const TreeGru unit(3, 4, rng);
  const Matrix inputs = random_matrix(5, 3, rng);
  const Matrix all = unit.forward(two_trees(), inputs);
  const Matrix last{1, 3, {inputs.row(4), inputs.row(4) + 3}};
  const Matrix alone = unit.forward({{Forest::kRoot}}, last);
  for (size_t j = 0; j < 4; ++j) EXPECT_FLOAT_EQ(alone.values[j], all.row(4)[j]);
  EXPECT_EQ(unit.forward({}, Matrix::zeros(0, 3)).rows, 0U);
}

}  // namespace
}  // namespace lathe::nn
