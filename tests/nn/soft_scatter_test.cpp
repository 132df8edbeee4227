#include "nn/soft_scatter.h"

#include <gtest/gtest.h>

#include "nn/gradients.h"

namespace lathe::nn {
namespace {

TEST(SoftScatter, SlopesAreThoseOfCentralDifferences) {
  Rng rng(7);
  SoftScatter scatter(4, 3, rng);
  const std::vector<size_t> trees{0, 0, 1, 0, 1};
  Matrix states = random_matrix(5, 4, rng);
  const auto loss = [&] { return weighted_sum(scatter.forward(states, trees, 2).outputs); };
  const SoftScatter::Kept kept = scatter.forward(states, trees, 2);
  const Matrix by_states = scatter.backward(kept, slope_of_weighted_sum(kept.outputs));
  expect_slopes(states.values, by_states.values, loss);
  for (Weights* weights : scatter.weights())
    expect_slopes(weights->value.values, weights->slope.values, loss);
}

// All slots of a tree together are the sum of its states: the shares of a node add up to 1.
TEST(SoftScatter, SlotsAddUpToTheStates) {
  Rng rng(7);
  const SoftScatter scatter(2, 8, rng);
  const Matrix states{3, 2, {1, 2, 3, 4, 10, 20}};
  const SoftScatter::Kept kept = scatter.forward(states, {0, 0, 1}, 2);
  for (size_t tree = 0; tree < 2; ++tree) {
    for (size_t j = 0; j < 2; ++j) {
      double sum = 0;
      for (size_t slot = 0; slot < 8; ++slot)
        sum += static_cast<double>(kept.outputs.row(tree)[slot * 2 + j]);
      EXPECT_NEAR(sum, tree == 0 ? (j == 0 ? 4 : 6) : (j == 0 ? 10 : 20), 1e-4);
    }
  }
}

}  // namespace
}  // namespace lathe::nn
