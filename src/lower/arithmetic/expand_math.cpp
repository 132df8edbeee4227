#include "lower/arithmetic/expand_math.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <unordered_map>

#include "lower/arithmetic/math_in_double.h"
#include "lower/arithmetic/polynomial.h"
#include "lower/map.h"

namespace lathe {
namespace {

// ln 2 in two parts; the first has 16 significant bits, so that its product with an exponent is exact.
constexpr double kLn2High = 0.693145751953125;
constexpr double kLn2Low = 1.428606765330187e-06;

// The polynomials are least-maximum-error fits (Remez) of the functions named beside them.

// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2: error 3.1e-9 of e^r.
constexpr std::initializer_list<double> kExp = {0.49999994, 0.166665196, 0.0416683927, 0.00836878084,
                                                0.00138144754};
// (log(1 + f) - f + f^2 / 2) / f^3 for 1 + f in [sqrt(1/2), sqrt(2)]: error 5.8e-9 of log(1 + f).
constexpr std::initializer_list<double> kLog = {0.333333313, -0.250008196, 0.200012282, -0.166233584,
                                                0.142017424, -0.131601572, 0.127616614, -0.0763465613};
// (tanh(x) - x) / x^3 in z = x^2 for |x| <= 0.625: error 4.4e-9 of tanh(x).
constexpr std::initializer_list<double> kTanh = {-0.333332807, 0.133314416, -0.0537397154, 0.0206390936,
                                                 -0.00570499478};
// erf(x) / x - 1 in z = x^2 for |x| <= 1: error 1.2e-9 of erf(x).
constexpr std::initializer_list<double> kErf = {0.128379166,   -0.376126258,   0.112835847,   -0.0268537893,
                                                0.00518827988, -0.00080097322, 7.85220133e-05};
// log(1 - erf(x)) for x in [1, 4]: the error that it makes in erf(x) is 1.1e-9.
constexpr std::initializer_list<double> kLogErfc = {
    -0.00034152536, -1.12708914, -0.638144851, -0.103106737, 0.0218380541, -0.00294765527, 0.000186378835};

// The functions on f32 values of one number of lanes.
std::optional<double> number_of(const Expr& e) {
  if (const Broadcast* copies = e.as<Broadcast>()) return number_of(copies->operand);
  const Literal* number = e.as<Literal>();
  return number == nullptr ? std::nullopt : std::optional(number->value);
}

// Whether the numbers that an expression ends by taking the larger and the smaller of it and them lie there.
// NaN may pass.
bool lies_within(const Expr& e, double least, double most) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double low = -kInfinity, high = kInfinity;
  for (const Binary* bound = e.as<Binary>(); bound != nullptr; bound = bound->a.as<Binary>()) {
    const auto number = number_of(bound->b);
    if (!number || (bound->op != BinaryOp::max && bound->op != BinaryOp::min)) break;
    double& nearer = bound->op == BinaryOp::max ? low : high;
    if (std::isinf(nearer)) nearer = *number;
  }
  return least <= low && low <= high && high <= most;
}

class Functions : Arithmetic {
 public:
  explicit Functions(int lanes) : Arithmetic({DType::f32, lanes}) {}

  // e^x = 2^n * p as 2^k * p * scale, with k within pow2's reach and one rounding where the result is
  // subnormal. Below kNone 0 comes without arithmetic on subnormals, which may take a hundred times as long.
  Expr exp(const Expr& x) const {
    constexpr double kNone = -104;
    constexpr double kSmall = -86;
    constexpr double kLarge = 89;
    if (lies_within(x, kSmall, kLarge - 1)) return ordinary_exp(x);
    const Parts parts = parts_of_exp(min(max(x, number(kNone)), number(kLarge)));
    const Expr is_small = x < number(kSmall);
    const Expr k = select(is_small, parts.n + number(25), parts.n - number(1));
    const Expr unscaled = select(x < number(kNone), number(0), parts.p * unary(UnaryOp::pow2, k));
    return unscaled * select(is_small, number(0x1p-25), number(2));
  }

  // A subnormal is scaled to a normal number first.
  Expr log(const Expr& x) const {
    const Expr is_subnormal = x < number(std::numeric_limits<float>::min());
    const Expr normal = select(is_subnormal, x * number(0x1p24), x);
    const Expr mantissa = unary(UnaryOp::mantissa, normal);
    const Expr raw = unary(UnaryOp::exponent, normal);
    const Expr exponent = select(is_subnormal, raw - number(24), raw);
    const Expr high = mantissa > number(1.4142135623730951);
    const Expr f = select(high, mantissa * number(0.5), mantissa) - number(1);
    const Expr e = select(high, exponent + number(1), exponent);
    const Expr square = f * f;
    const Expr rest = polynomial(kLog, f) * (square * f) + e * number(kLn2Low) - square * number(0.5);
    const Expr value = (rest + f) + e * number(kLn2High);
    const Expr infinity = number(std::numeric_limits<double>::infinity());
    const Expr nan = number(std::numeric_limits<double>::quiet_NaN());
    const Expr of_no_positive = select(x == number(0), -infinity, nan);
    return select(x > number(0), select(x < infinity, value, x), of_no_positive);
  }

  Expr tanh(const Expr& x) const {
    constexpr double kOne = 10;  // from there on it is 1
    const Expr magnitude = abs(x);
    const Expr z = x * x;
    const Expr near = polynomial(kTanh, z) * (z * x) + x;
    const Expr bounded = min(magnitude, number(kOne));
    const Expr far = number(1) - number(2) / (ordinary_exp(bounded + bounded) + number(1));
    return select(magnitude < number(0.625), near, copy_sign(far, x));
  }

  Expr erf(const Expr& x) const {
    const Expr magnitude = abs(x);
    const Expr near = polynomial(kErf, x * x) * x + x;
    const Expr far = number(1) - ordinary_exp(polynomial(kLogErfc, min(magnitude, number(4))));
    return select(magnitude < number(1), near, copy_sign(far, x));
  }

  Expr pow(const Expr& a, const Expr& b) const {
    const Literal* value = b.as<Literal>();
    if (const Broadcast* splat = b.as<Broadcast>()) value = splat->operand.as<Literal>();
    return value != nullptr ? power(a, b, value->value) : power_in_double(a, b);
  }

 private:
  // e^x = p * 2^n with a whole n.
  struct Parts {
    Expr p;
    Expr n;
  };
  Parts parts_of_exp(const Expr& x) const {
    const Expr n = round(x * number(1.4426950408889634));
    const Expr r = (x - n * number(kLn2High)) - n * number(kLn2Low);
    return {polynomial(kExp, r) * (r * r) + r + number(1), n};
  }
  // Of numbers whose power of 2 `pow2` has: from -86 to 88.
  Expr ordinary_exp(const Expr& x) const {
    const Parts parts = parts_of_exp(x);
    return parts.p * unary(UnaryOp::pow2, parts.n);
  }

  // a to a literal exponent: in f32 where no more than two roundings add up.
  Expr power(const Expr& a, const Expr& b, double exponent) const {
    if (exponent == 0) return number(1);
    if (exponent == 1) return a;
    if (exponent == 2) return a * a;
    if (exponent == 3) return a * a * a;
    if (exponent == -1) return number(1) / a;
    if (exponent == 0.5) return root(a);
    if (exponent == -0.5) return number(1) / root(a);
    constexpr double kMostProducts = 16;
    const bool is_product = exponent == std::floor(exponent) && std::abs(exponent) <= kMostProducts;
    return is_product ? product_in_double(a, static_cast<int>(exponent)) : power_in_double(a, b);
  }

  // a^(1/2), which differs from the root in -0 and -infinity.
  Expr root(const Expr& a) const {
    const Expr infinity = number(std::numeric_limits<double>::infinity());
    return select(a == -infinity, infinity, abs(sqrt(a)));
  }
};

class MathExpander {
 public:
  // Shared parts stay shared: each node is expanded once.
  Expr visit(const Expr& e) {
    if (const auto known = done_.find(e.get()); known != done_.end()) return known->second;
    const auto child = [this](const Expr& inner) { return visit(inner); };
    const auto affine = [&](const Affine& a) { return map_opaque(a, child); };
    const Expr mapped = expand(map_children(e, child, affine));
    kept_.push_back(e);
    done_.emplace(e.get(), mapped);
    return mapped;
  }

 private:
  // Of two f32 it is one.
  static Expr remainder(const Expr& a, const Expr& b) {
    const Type wide{DType::f64, a.type().lanes};
    return cast(a.type(), binary(BinaryOp::mod, cast(wide, a), cast(wide, b)));
  }

  static Expr expand(const Expr& e) {
    if (e.type().dtype != DType::f32) return e;
    const Functions functions(e.type().lanes);
    const Binary* binary = e.as<Binary>();
    if (binary != nullptr && binary->op == BinaryOp::pow) return functions.pow(binary->a, binary->b);
    if (binary != nullptr && binary->op == BinaryOp::mod) return remainder(binary->a, binary->b);
    const Unary* unary = e.as<Unary>();
    if (unary == nullptr) return e;
    switch (unary->op) {
      case UnaryOp::exp: return functions.exp(unary->operand);
      case UnaryOp::log: return functions.log(unary->operand);
      case UnaryOp::tanh: return functions.tanh(unary->operand);
      case UnaryOp::erf: return functions.erf(unary->operand);
      case UnaryOp::sin: return sine_in_double(unary->operand, 0);
      case UnaryOp::cos: return sine_in_double(unary->operand, 1);
      case UnaryOp::negate:
      case UnaryOp::sqrt:
      case UnaryOp::abs:
      case UnaryOp::floor:
      case UnaryOp::ceil:
      case UnaryOp::round:
      case UnaryOp::truncate:
      case UnaryOp::logical_not:
      case UnaryOp::pow2:
      case UnaryOp::exponent:
      case UnaryOp::mantissa: return e;
    }
    return e;
  }

  std::unordered_map<const ExprNode*, Expr> done_;
  std::vector<Expr> kept_;  // keeps the addresses in `done_` from being used again
};

bool has_math(const Expr& e) {
  if (const Unary* node = e.as<Unary>()) {
    const bool is_math = node->op == UnaryOp::exp || node->op == UnaryOp::log || node->op == UnaryOp::tanh ||
                         node->op == UnaryOp::erf || node->op == UnaryOp::sin || node->op == UnaryOp::cos;
    return is_math || has_math(node->operand);
  }
  if (const Binary* node = e.as<Binary>()) {
    const bool is_remainder = node->op == BinaryOp::mod && is_float(e.type().dtype);
    return node->op == BinaryOp::pow || is_remainder || has_math(node->a) || has_math(node->b);
  }
  if (const Select* node = e.as<Select>()) {
    return has_math(node->condition) || has_math(node->if_true) || has_math(node->if_false);
  }
  if (const Cast* node = e.as<Cast>()) return has_math(node->operand);
  if (const BitCast* node = e.as<BitCast>()) return has_math(node->operand);
  if (const Broadcast* node = e.as<Broadcast>()) return has_math(node->operand);
  if (const Call* node = e.as<Call>()) return std::ranges::any_of(node->operands, has_math);
  return false;
}

Stmt expand_tree(const Stmt& stmt) {
  const Store* store = as<Store>(stmt);
  if (store == nullptr) return map_statements(stmt, [](const Stmt& child) { return expand_tree(child); });
  if (!has_math(store->value)) return stmt;
  return make_stmt(Store{store->tensor, store->index, expand_math(store->value), store->stride, store->mask});
}

}  // namespace

Expr expand_math(const Expr& e) { return MathExpander().visit(e); }

Program expand_math(const Program& program) {
  return map_trees(program, [](const Stmt& tree) { return expand_tree(tree); });
}

}  // namespace lathe
