#include "cost/rank_loss.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "base/check.h"

namespace lathe {
namespace {

constexpr size_t kMostPairs = 1 << 20;    // all of 1,448 rows
constexpr double kLargestExponent = 300;  // e^300 squared is still a double

// exp(f) up to a common factor, which cancels in the ratios below.
std::vector<double> scaled_exponentials(std::span<const float> predictions) {
  const auto [least, most] = std::minmax_element(predictions.begin(), predictions.end());
  const double middle = 0.5 * (static_cast<double>(*least) + *most);
  std::vector<double> result;
  for (float f : predictions)
    result.push_back(std::exp(std::clamp(f - middle, -kLargestExponent, kLargestExponent)));
  return result;
}

}  // namespace

double rank_loss(std::span<const double> seconds, std::span<const double> predictions) {
  LATHE_CHECK(seconds.size() == predictions.size());
  double loss = 0;
  for (size_t i = 0; i < seconds.size(); ++i) {
    for (size_t j = i + 1; j < seconds.size(); ++j) {
      const int sign = (seconds[i] > seconds[j]) - (seconds[i] < seconds[j]);
      loss += std::log1p(std::exp(-sign * (predictions[i] - predictions[j])));
    }
  }
  return loss;
}

void add_rank_gradient(std::span<const double> seconds, std::span<const float> predictions,
                       std::span<float> gradient, std::span<float> hessian) {
  const size_t rows = seconds.size();
  LATHE_CHECK(predictions.size() == rows && gradient.size() == rows && hessian.size() == rows);
  if (rows < 2) return;
  const std::vector<double> exponential = scaled_exponentials(predictions);
  std::vector<size_t> order(rows);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return seconds[a] < seconds[b]; });

  const size_t pairs = rows * (rows - 1) / 2;
  const size_t stride = (pairs + kMostPairs - 1) / kMostPairs;
  const double scale = static_cast<double>(stride) / static_cast<double>(rows - 1);
  for (size_t i = 0; i < rows; ++i) {
    const size_t faster = order[i];
    // Pairs with i + j divisible by the stride: every row is in as many, and every distance between ranks
    // occurs.
    for (size_t j = i + 1 + (stride - (2 * i + 1) % stride) % stride; j < rows; j += stride) {
      const size_t slower = order[j];
      if (seconds[faster] == seconds[slower]) continue;
      const double wrong = exponential[faster] / (exponential[faster] + exponential[slower]);
      const float slope = static_cast<float>(scale * wrong);
      const float curvature = static_cast<float>(scale * wrong * (1 - wrong));
      gradient[faster] += slope;
      gradient[slower] -= slope;
      hessian[faster] += curvature;
      hessian[slower] += curvature;
    }
  }
}

}  // namespace lathe
