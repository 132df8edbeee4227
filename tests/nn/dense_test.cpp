#include "nn/dense.h"

#include <gtest/gtest.h>

#include "nn/gradients.h"

namespace lathe::nn {
namespace {

TEST(Dense, SlopesAreThoseOfCentralDifferences) {
  Rng rng(3);
  Dense layer(5, 4, rng);
  Matrix inputs = random_matrix(6, 5, rng);
  const auto loss = [&] { return weighted_sum(layer.forward(inputs)); };
  const Matrix by_inputs = layer.backward(inputs, slope_of_weighted_sum(layer.forward(inputs)));
  expect_slopes(inputs.values, by_inputs.values, loss);
  for (Weights* weights : layer.weights()) expect_slopes(weights->value.values, weights->slope.values, loss);
}

TEST(Dense, SlopesAddUpUntilAStep) {
  Rng rng(3);
  Dense layer(2, 2, rng);
  const Matrix inputs = random_matrix(3, 2, rng);
  const Matrix slope = slope_of_weighted_sum(layer.forward(inputs));
  layer.backward(inputs, slope);
  const std::vector<float> once = layer.weights()[0]->slope.values;
  layer.backward(inputs, slope);
  for (size_t i = 0; i < once.size(); ++i) EXPECT_FLOAT_EQ(layer.weights()[0]->slope.values[i], 2 * once[i]);
}

TEST(Dense, RectifyingKeepsWhatIsAboveZero) {
  Matrix values{1, 3, {-1, 0, 2}};
  rectify(values);
  EXPECT_EQ(values.values, (std::vector<float>{0, 0, 2}));
  Matrix slope{1, 3, {5, 5, 5}};
  rectify_slope(values, slope);
  EXPECT_EQ(slope.values, (std::vector<float>{0, 0, 5}));
}

}  // namespace
}  // namespace lathe::nn
