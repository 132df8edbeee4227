#include "lower/arithmetic/math_in_double.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "lower/arithmetic/polynomial.h"

namespace lathe {
namespace {

// The polynomials are least-maximum-error fits (Remez) of the functions named beside them.

// sin(pi/2 f) / f and cos(pi/2 f) in z = f^2 for |f| <= 1/2: relative errors 7e-12 and 6e-14.
constexpr std::initializer_list<double> kSine = {1.5707963267880793, -0.6459640961430915, 0.07969258262988023,
                                                 -0.00468126550537648, 0.00015820452405595115};
constexpr std::initializer_list<double> kCosine = {0.9999999999999442,   -1.2337005501200982,
                                                   0.253669507151324,    -0.020863467970823182,
                                                   0.000919161571569715, -2.485066399208257e-05};

// 2^t for |t| <= 1/2: relative error 8e-13.
constexpr std::initializer_list<double> kPowerOfTwo = {
    1.0000000000000269,     0.6931471805459307,     0.24022650695467634,
    0.05550410941214777,    0.009618129228479091,   0.001333345056093913,
    0.00015403411641606374, 1.5310081014071364e-05, 1.326406728574071e-06};
// log2((1 + s) / (1 - s)) / s in z = s^2, up to the s of sqrt(2): relative error 8e-14.
constexpr std::initializer_list<double> kLogarithm = {2.8853900817778495, 0.9617966941140536,
                                                      0.577077942169536,  0.4122092711752471,
                                                      0.3199049580811166, 0.2829103267518571};

// 2/pi as a sum of kTwoOverPi[j] / 2^(24 (j + 1)): whole numbers of 24 bits.
constexpr int kChunkBits = 24;
constexpr std::array<double, 9> kTwoOverPi = {0xa2f983, 0x6e4e44, 0x1529fc, 0x2757d1, 0xf534dd,
                                              0xc0db62, 0x95993c, 0x439041, 0xfe5163};
// So many chunks make the quarter turns of any f32 right to 41 bits, even next to a zero.
constexpr size_t kChunks = 5;

Type wide(const Expr& x) { return {DType::f64, x.type().lanes}; }

// An angle as quarter turns: a whole number, whose multiples of 4 may be missing, and a rest in [-1/2, 1/2].
struct Turns {
  Expr quarters;
  Expr rest;
};

// Payne and Hanek's reduction of an f32 >= 0. It has 24 bits, so that its product with a chunk is exact in
// f64; where x is large, products with the first chunks are multiples of 4, which are left out.
Turns quarter_turns(const Arithmetic& in, const Expr& x) {
  const auto chunk = [](size_t j) {
    return std::ldexp(kTwoOverPi[j], -kChunkBits * (static_cast<int>(j) + 1));
  };
  std::array<Expr, kChunks> products;
  for (size_t k = 0; k < kChunks; ++k) {
    Expr factor = in.number(chunk(k));
    for (size_t skipped = 1; skipped + kChunks <= kTwoOverPi.size(); ++skipped) {
      const double from = std::ldexp(1.0, kChunkBits * static_cast<int>(skipped) + 25);
      factor = select(in.number(from) <= x, in.number(chunk(k + skipped)), factor);
    }
    products[k] = x * factor;
  }
  // The first two may hold more whole turns than a sum with the others has room for.
  for (size_t k = 0; k < 2; ++k)
    products[k] = products[k] - in.number(4) * floor(products[k] * in.number(0.25));
  const Expr quarters = round((products[0] + products[1]) + products[2]);
  Expr rest = products[0] - quarters;
  for (size_t k = 1; k < kChunks; ++k) rest = rest + products[k];
  return {quarters, rest};
}

Expr is_odd(const Arithmetic& in, const Expr& whole) {
  const Expr half = whole * in.number(0.5);
  return floor(half) != half;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// log2 of a number >= 0 that comes from an f32, so that none but 0 is subnormal.
Expr binary_logarithm(const Arithmetic& in, const Expr& x) {
  const Expr mantissa = unary(UnaryOp::mantissa, x);
  const Expr exponent = unary(UnaryOp::exponent, x);
  const Expr high = mantissa > in.number(1.4142135623730951);
  const Expr m = select(high, mantissa * in.number(0.5), mantissa);
  const Expr e = select(high, exponent + in.number(1), exponent);
  const Expr s = (m - in.number(1)) / (m + in.number(1));
  const Expr value = in.polynomial(kLogarithm, s * s) * s + e;
  const Expr finite = select(x < in.number(kInfinity), value, x);
  return select(x == in.number(0), in.number(-kInfinity), finite);
}

// 2^x, right where f32 holds it and beyond that too small or too large for f32.
Expr power_of_two(const Arithmetic& in, const Expr& x) {
  constexpr double kBeyond = 200;
  const Expr bounded = min(max(x, in.number(-kBeyond)), in.number(kBeyond));
  const Expr n = round(bounded);
  return in.polynomial(kPowerOfTwo, bounded - n) * unary(UnaryOp::pow2, n);
}

}  // namespace

Expr sine_in_double(const Expr& x, int quarters) {
  const Arithmetic in(wide(x));
  const Expr angle = cast(wide(x), x);
  const auto [whole, rest] = quarter_turns(in, abs(angle));
  const Expr turned = quarters == 0 ? whole : whole + in.number(quarters);
  const Expr square = rest * rest;
  const Expr sine = in.polynomial(kSine, square) * rest;
  const Expr value = select(is_odd(in, turned), in.polynomial(kCosine, square), sine);
  const Expr turns_back = is_odd(in, floor(turned * in.number(0.5)));
  const Expr result = select(turns_back, -value, value);
  // The sine is odd; a cosine of a number is one of its magnitude.
  return cast(x.type(), quarters % 2 == 0 ? result * copy_sign(in.number(1), angle) : result);
}

Expr power_in_double(const Expr& a, const Expr& b) {
  const Arithmetic in(wide(a));
  const Arithmetic in_f32(a.type());
  const auto number = [&](double value) { return in_f32.number(value); };
  const Expr base = abs(cast(wide(a), a));
  const Expr power = power_of_two(in, cast(wide(b), b) * binary_logarithm(in, base));
  const Expr magnitude = cast(a.type(), select(base == in.number(1), in.number(1), power));
  // Only whole powers of negative numbers are numbers; odd ones keep the sign, of zeros too.
  const Expr is_whole = floor(b) == b;
  const Expr of_whole = select(is_odd(in_f32, b), copy_sign(magnitude, a), magnitude);
  const Expr has_none = a < number(0) && number(-kInfinity) < a;
  const Expr of_fraction = select(has_none, number(std::numeric_limits<double>::quiet_NaN()), magnitude);
  return select(b == number(0), number(1), select(is_whole, of_whole, of_fraction));
}

Expr product_in_double(const Expr& a, int n) {
  const Arithmetic in(wide(a));
  Expr square = cast(wide(a), a);
  Expr product;
  for (int rest = std::abs(n); rest > 0; rest /= 2) {
    if (rest % 2 != 0) product = product.defined() ? square * product : square;
    if (rest > 1) square = square * square;
  }
  return cast(a.type(), n < 0 ? in.number(1) / product : product);
}

}  // namespace lathe
