#include "cost/tree_network.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "nn/gradients.h"

namespace lathe {
namespace {

// Two trees of 3 and 1 loops, of two numbers and two buffers each.
FeatureSet two_trees() {
  FeatureSet set;
  Rng rng(3);
  const auto numbers = [&](size_t rows) {
    std::vector<float> all;
    for (size_t i = 0; i < rows * 8; ++i) all.push_back(static_cast<float>(8 * rng.uniform()));
    return all;
  };
  set.add({.numbers = numbers(3), .count = 3, .parents = {-1, 0, 0}});
  set.add({.numbers = numbers(1), .count = 1, .parents = {-1}});
  return set;
}

constexpr TreeRow kRow{.own = 2, .per_buffer = 3, .buffers = 2};
constexpr size_t kBoth[] = {0, 1};

TEST(TreeNetwork, SlopesAreThoseOfCentralDifferences) {
  Rng rng(5);
  TreeNetwork network(kRow, 6, 3, rng);
  const FeatureSet trees = two_trees();
  const auto loss = [&] {
    const std::vector<float> costs = network.costs(trees, kBoth);
    return 2.0 * static_cast<double>(costs[0]) - 3.0 * static_cast<double>(costs[1]);
  };
  network.train(trees, kBoth, [](std::span<const float>) { return std::vector<float>{2, -3}; });
  for (nn::Weights* weights : network.weights())
    nn::expect_slopes(weights->value.values, weights->slope.values, loss, 1e-3);
}

TEST(TreeNetwork, ACandidateCostsTheSameAloneAsBesideOthers) {
  Rng rng(5);
  TreeNetwork network(kRow, 6, 3, rng);
  const FeatureSet trees = two_trees();
  const std::vector<float> both = network.costs(trees, kBoth);
  for (const size_t i : kBoth) EXPECT_FLOAT_EQ(network.costs(trees, std::vector{i})[0], both[i]);
}

}  // namespace
}  // namespace lathe
