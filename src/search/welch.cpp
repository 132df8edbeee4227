#include "search/welch.h"

#include <cmath>
#include <initializer_list>
#include <limits>

namespace lathe {
namespace {

// Lentz's continued fraction for I_x(a, b), which converges fast below (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr int kMostTerms = 500;
  constexpr double kTiny = 1e-300;
  const auto not_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / not_zero(1 - (a + b) * x / (a + 1));
  double value = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    for (const double term : {even, odd}) {
      d = 1 / not_zero(1 + term * d);
      c = not_zero(1 + term / c);
      value *= c * d;
    }
    if (std::abs(c * d - 1) < 1e-14) break;
  }
  return value;
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double log_factor =
      std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  if (x < (a + 1) / (a + b + 2)) return std::exp(log_factor) * beta_fraction(a, b, x) / a;
  return 1 - std::exp(log_factor) * beta_fraction(b, a, 1 - x) / b;
}

WelchTest welch_test(const SampleSummary& a, const SampleSummary& b) {
  const double of_a = a.variance / a.count;
  const double of_b = b.variance / b.count;
  const double squared_error = of_a + of_b;
  const double difference = a.mean - b.mean;
  WelchTest test;
  if (!(squared_error > 0)) {
    test.t = difference == 0 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), difference);
    test.probability = difference == 0 ? 1 : 0;
    return test;
  }
  test.t = difference / std::sqrt(squared_error);
  const double below =
      (a.count > 1 ? of_a * of_a / (a.count - 1) : 0) + (b.count > 1 ? of_b * of_b / (b.count - 1) : 0);
  test.degrees = below > 0 ? squared_error * squared_error / below : 1;
  test.probability = incomplete_beta(test.degrees / 2, 0.5, test.degrees / (test.degrees + test.t * test.t));
  return test;
}

}  // namespace lathe
