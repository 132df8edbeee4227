// Slopes by central differences, beside which those of backward passes stand.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "nn/weights.h"

namespace lathe::nn {

// A loss whose slope by each output is another number: sum of output * (its place's weight).
inline float weight_of(size_t place) { return 0.25F + 0.5F * static_cast<float>(place % 7); }

inline double weighted_sum(const Matrix& outputs) {
  double sum = 0;
  for (size_t i = 0; i < outputs.values.size(); ++i)
    sum += static_cast<double>(weight_of(i)) * static_cast<double>(outputs.values[i]);
  return sum;
}

inline Matrix slope_of_weighted_sum(const Matrix& outputs) {
  Matrix slope = Matrix::zeros(outputs.rows, outputs.columns);
  for (size_t i = 0; i < slope.values.size(); ++i) slope.values[i] = weight_of(i);
  return slope;
}

inline Matrix random_matrix(size_t rows, size_t columns, Rng& rng) {
  Matrix matrix = Matrix::zeros(rows, columns);
  for (float& value : matrix.values) value = static_cast<float>(rng.normal());
  return matrix;
}

// Each slope against (loss(x + h) - loss(x - h)) / 2h: to within 1e-4, or that share of the largest of them.
inline void expect_slopes(std::vector<float>& values, const std::vector<float>& slopes,
                          const std::function<double()>& loss, double tolerance = 1e-4) {
  constexpr float kStep = 1.0F / 256;
  ASSERT_EQ(values.size(), slopes.size());
  double largest = 1;
  for (const float slope : slopes) largest = std::max(largest, std::abs(static_cast<double>(slope)));
  for (size_t i = 0; i < values.size(); ++i) {
    const float kept = values[i];
    values[i] = kept + kStep;
    const double above = loss();
    values[i] = kept - kStep;
    const double below = loss();
    values[i] = kept;
    EXPECT_NEAR(static_cast<double>(slopes[i]), (above - below) / (2.0 * static_cast<double>(kStep)),
                tolerance * largest)
        << i;
  }
}

}  // namespace lathe::nn
