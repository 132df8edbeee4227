#include "cost/syntax_network.h"

#include <gtest/gtest.h>

#include "nn/gradients.h"

namespace lathe {
namespace {

// Trees of four and two nodes, the second with two roots; an identifier and two numbers each.
FeatureSet two_trees() {
  FeatureSet set;
  Rng rng(3);
  const auto numbers = [&](const std::vector<float>& identifiers) {
    std::vector<float> all;
    for (const float identifier : identifiers) {
      all.push_back(identifier);
      for (int i = 0; i < 2; ++i) all.push_back(static_cast<float>(rng.uniform()));
    }
    return all;
  };
  set.add({.numbers = numbers({2, 0, 1, 2}), .count = 4, .parents = {-1, 0, 0, 1}});
  set.add({.numbers = numbers({1, 1}), .count = 2, .parents = {-1, -1}});
  return set;
}

constexpr size_t kBoth[] = {0, 1};

TEST(SyntaxNetwork, SlopesAreThoseOfCentralDifferences) {
  Rng rng(5);
  SyntaxNetwork network(3, 2, 6, rng);
  const FeatureSet trees = two_trees();
  const auto loss = [&] {
    const std::vector<float> costs = network.costs(trees, kBoth);
    return 2.0 * static_cast<double>(costs[0]) - 3.0 * static_cast<double>(costs[1]);
  };
  network.train(trees, kBoth, [](std::span<const float>) { return std::vector<float>{2, -3}; });
  for (nn::Weights* weights : network.weights())
    nn::expect_slopes(weights->value.values, weights->slope.values, loss, 1e-3);
}

TEST(SyntaxNetwork, ACandidateCostsTheSameAloneAsBesideOthers) {
  Rng rng(5);
  const SyntaxNetwork network(3, 2, 6, rng);
  const FeatureSet trees = two_trees();
  const std::vector<float> both = network.costs(trees, kBoth);
  for (const size_t i : kBoth) EXPECT_FLOAT_EQ(network.costs(trees, std::vector{i})[0], both[i]);
}

}  // namespace
}  // namespace lathe
