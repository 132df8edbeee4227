#include "graph/operators/inverse_functions.h"

#include <cmath>
#include <numbers>
#include <ranges>

namespace lathe {
namespace {

// log(1 + e) for e >= 0.
Expr log_1_plus(const Expr& e) {
  return select(e < real(1), near_log_1_plus(min(e, real(1))), log(real(1) + e));
}

constexpr double kTangent1 = 0.41421356237309503;  // of pi / 8
constexpr double kTangent3 = 2.4142135623730950;   // of 3 pi / 8

// tan(acos(x) / 2), which loses nothing near 1, where 1 - x^2 would.
Expr half_tangent_of_arccosine(const Expr& x) { return sqrt((real(1) - x) / (real(1) + x)); }

}  // namespace

Expr polynomial(const std::vector<double>& coefficients, const Expr& x) {
  Expr sum;
  for (const double c : std::views::reverse(coefficients)) sum = sum.defined() ? sum * x + real(c) : real(c);
  return sum;
}

// log(1 + e) is w + w^3 / 12 + w^5 / 80 .. with w = 2e / (2 + e).
Expr near_log_1_plus(const Expr& e) {
  const Expr w = e / (e * real(0.5) + real(1));
  const Expr square = w * w;
  // (2 atanh(w / 2) - w) / w^3 for w in [-2/3, 2/3], by its square: of f32 fitted for the least largest
  // error.
  std::vector<double> rest = {0.0833330164, 0.012506781, 0.0021874329, 0.000547352709};
  if (e.type().dtype == DType::f64) {
    constexpr int kTerms = 17;
    rest.clear();
    for (int n = 1; n <= kTerms; ++n) rest.push_back(std::ldexp(1.0 / (2 * n + 1), -2 * n));
  }
  return polynomial(rest, square) * square * w + w;
}

// Of a magnitude beyond tan(3 pi / 8) by its reciprocal, beyond tan(pi / 8) by the angle's difference to pi /
// 4, whose tangent is (x - 1) / (x + 1): within pi / 8 an odd polynomial is as exact as the type.
Expr atan(const Expr& x) {
  const Expr size = abs(x);
  const Expr is_steep = size > real(kTangent3), is_middle = size > real(kTangent1);
  const Expr middle = select(is_middle, (size - real(1)) / (size + real(1)), size);
  const Expr reduced = select(is_steep, real(-1) / size, middle);
  const auto number = [&](double value) { return literal(x.type(), value); };
  const Expr start = select(is_steep, number(std::numbers::pi / 2),
                            select(is_middle, number(std::numbers::pi / 4), number(0)));
  const Expr square = reduced * reduced;
  // (atan(r) / r - 1) / r^2 for r up to tan(pi / 8) (Moshier, Cephes), of f64 its series.
  std::vector<double> rest = {-3.33329491539e-1, 1.99777106478e-1, -1.38776856032e-1, 8.05374449538e-2};
  if (x.type().dtype == DType::f64) {
    constexpr int kTerms = 20;
    rest.clear();
    for (int n = 1; n <= kTerms; ++n) rest.push_back((n % 2 == 0 ? 1.0 : -1.0) / (2 * n + 1));
  }
  return copy_sign(start + (polynomial(rest, square) * square * reduced + reduced), x);
}

Expr acos(const Expr& x) { return real(2) * atan(half_tangent_of_arccosine(x)); }

Expr asin(const Expr& x) { return atan(x / sqrt((real(1) - x) * (real(1) + x))); }

// log(a + sqrt(a^2 + 1)) is log(1 + a + a^2 / (1 + sqrt(1 + a^2))); beyond 1e9 the 1 is lost, and a^2 could
// overflow.
Expr asinh(const Expr& x) {
  constexpr double kLarge = 1e9;
  const Expr size = abs(x);
  const Expr held = min(size, real(kLarge));
  const Expr square = held * held;
  const Expr near = log_1_plus(held + square / (real(1) + sqrt(real(1) + square)));
  return copy_sign(select(size > real(kLarge), log(size) + real(std::numbers::ln2), near), x);
}

// With t = x - 1: log(1 + t + sqrt(2 t + t^2)); each root by itself is NaN below 1.
Expr acosh(const Expr& x) {
  constexpr double kLarge = 1e9;
  const Expr t = min(x, real(kLarge)) - real(1);
  const Expr near = log_1_plus(t + sqrt(t) * sqrt(t + real(2)));
  return select(x > real(kLarge), log(x) + real(std::numbers::ln2), near);
}

// log((1 + x) / (1 - x)) / 2.
Expr atanh(const Expr& x) {
  const Expr size = abs(x);
  const Expr ratio = real(2) * size / (real(1) - size);
  return copy_sign(real(0.5) * select(size > real(1), log(real(1) - size), log_1_plus(ratio)), x);
}

}  // namespace lathe
