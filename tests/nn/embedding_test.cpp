#include "nn/embedding.h"

#include <gtest/gtest.h>

#include "nn/gradients.h"

namespace lathe::nn {
namespace {

TEST(Embedding, SlopesAreThoseOfCentralDifferences) {
  Rng rng(3);
  Embedding layer(5, 4, rng);
  const std::vector<size_t> chosen{4, 0, 4, 2};
  const auto loss = [&] { return weighted_sum(layer.forward(chosen)); };
  layer.backward(chosen, slope_of_weighted_sum(layer.forward(chosen)));
  for (Weights* weights : layer.weights()) expect_slopes(weights->value.values, weights->slope.values, loss);
}

TEST(Embedding, AThingHasTheSameRowWhereverItStands) {
  Rng rng(3);
  const Embedding layer(5, 4, rng);
  const Matrix rows = layer.forward(std::vector<size_t>{1, 3, 1});
  for (size_t j = 0; j < 4; ++j) {
    EXPECT_EQ(rows.row(0)[j], rows.row(2)[j]);
    EXPECT_NE(rows.row(0)[j], rows.row(1)[j]);
  }
}

}  // namespace
}  // namespace lathe::nn
