#include "nn/perceptron.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nn/gradients.h"
#include "nn/optimizer.h"

namespace lathe::nn {
namespace {

TEST(Perceptron, SlopesAreThoseOfCentralDifferences) {
  // No sum lies so near 0 that a step takes it to the other side.
  Rng rng(23);
  Perceptron network({3, 8, 8, 2}, rng);
  Matrix inputs = random_matrix(2, 3, rng);
  const auto loss = [&] { return weighted_sum(network.forward(inputs)); };
  const std::vector<Matrix> kept = network.forward_kept(inputs);
  const Matrix by_inputs = network.backward(kept, slope_of_weighted_sum(kept.back()));
  expect_slopes(inputs.values, by_inputs.values, loss);
  for (Weights* weights : network.weights())
    expect_slopes(weights->value.values, weights->slope.values, loss);
}

// The mean square error of |x0 - x1| on a grid, after so many steps.
template <class Optimizer>
double error_after(int steps, Optimizer optimizer) {
  Rng rng(5);
  Perceptron network({2, 16, 16, 1}, rng);
  Matrix inputs = Matrix::zeros(81, 2);
  for (size_t i = 0; i < inputs.rows; ++i) {
    const size_t line = i / 9;
    inputs.row(i)[0] = static_cast<float>(i % 9) / 4 - 1;
    inputs.row(i)[1] = static_cast<float>(line) / 4 - 1;
  }
  double error = 0;
  for (int step = 0; step <= steps; ++step) {
    const std::vector<Matrix> kept = network.forward_kept(inputs);
    Matrix slope = kept.back();
    error = 0;
    for (size_t i = 0; i < inputs.rows; ++i) {
      slope.values[i] -= std::abs(inputs.row(i)[0] - inputs.row(i)[1]);
      error += static_cast<double>(slope.values[i] * slope.values[i]) / static_cast<double>(inputs.rows);
      slope.values[i] *= 2.0F / static_cast<float>(inputs.rows);
    }
    network.backward(kept, slope);
    optimizer.step(network.weights());
  }
  return error;
}

TEST(Optimizer, AdamAndAdaDeltaLearn) {
  EXPECT_LT(error_after(1000, Adam({.rate = 3e-3F})), 0.01 * error_after(0, Adam({})));
  EXPECT_LT(error_after(2000, AdaDelta({.rate = 1})), 0.03 * error_after(0, AdaDelta({})));
}

// Two steps by hand, of one weight of slopes 2 and 1.
TEST(Optimizer, StepsAreThoseOfTheirPapers) {
  Weights one = Weights::zeros(1, 1);
  AdaDelta delta({.rho = 0.5F, .epsilon = 1e-2F, .rate = 1});
  one.slope.values[0] = 2;
  delta.step(std::vector{&one});
  const double first = std::sqrt(0.01) / std::sqrt(2 + 0.01) * 2;
  EXPECT_NEAR(static_cast<double>(one.value.values[0]), -first, 1e-6);
  EXPECT_EQ(one.slope.values[0], 0);
  one.slope.values[0] = 1;
  delta.step(std::vector{&one});
  const double second = std::sqrt(0.5 * first * first + 0.01) / std::sqrt(1.5 + 0.01);
  EXPECT_NEAR(static_cast<double>(one.value.values[0]), -first - second, 1e-6);

  Weights other = Weights::zeros(1, 1);
  Adam adam({.rate = 0.1F});
  other.slope.values[0] = 2;
  adam.step(std::vector{&other});
  EXPECT_NEAR(static_cast<double>(other.value.values[0]), -0.1, 1e-6);
}

}  // namespace
}  // namespace lathe::nn
