#include "lower/expand_math.h"

#include <cmath>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <unordered_map>

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
// erf(x) / x in z = x^2 for |x| <= 1: error 1.2e-9 of erf(x).
constexpr std::initializer_list<double> kErf = {1.12837911,    -0.37612626,     0.112835854,   -0.0268538129,
                                                0.00518832775, -0.000801019545, 7.85386655e-05};
// log(1 - erf(x)) for x in [1, 4]: the error that it makes in erf(x) is 1.1e-9.
constexpr std::initializer_list<double> kLogErfc = {
    -0.00034152536, -1.12708914, -0.638144851, -0.103106737, 0.0218380541, -0.00294765527, 0.000186378835};

// Arithmetic on f32 values of one number of lanes.
class Arithmetic {
 public:
  explicit Arithmetic(int lanes) : lanes_(lanes) {}

  Expr number(double value) const {
    const Expr scalar = literal({DType::f32, 1}, static_cast<double>(static_cast<float>(value)));
    return lanes_ == 1 ? scalar : broadcast(scalar, lanes_);
  }

  // c[0] + c[1] * x + c[2] * x^2 + .., by Horner's scheme.
  Expr polynomial(std::initializer_list<double> coefficients, const Expr& x) const {
    Expr sum;
    for (auto c = std::rbegin(coefficients); c != std::rend(coefficients); ++c) {
      sum = sum.defined() ? sum * x + number(*c) : number(*c);
    }
    return sum;
  }

  Expr exp(const Expr& x) const {
    // pow2 takes whole numbers from -126 on; doubling the polynomial instead of the power reaches up to
    // 2^128.
    constexpr double kLeast = -86.9;
    const Expr inside = min(max(x, number(kLeast)), number(89.0));
    const Expr n = unary(UnaryOp::floor, inside * number(1.4426950408889634) + number(0.5));
    const Expr r = (inside - n * number(kLn2High)) - n * number(kLn2Low);
    const Expr p = polynomial(kExp, r) * (r * r) + r + number(1);
    const Expr scaled = (p + p) * unary(UnaryOp::pow2, n - number(1));
    return select(x < number(kLeast), number(0), scaled);
  }

  Expr log(const Expr& x) const {
    const Expr mantissa = unary(UnaryOp::mantissa, x);
    const Expr exponent = unary(UnaryOp::exponent, x);
    const Expr high = mantissa > number(1.4142135623730951);
    const Expr f = select(high, mantissa * number(0.5), mantissa) - number(1);
    const Expr e = select(high, exponent + number(1), exponent);
    const Expr square = f * f;
    const Expr rest = polynomial(kLog, f) * (square * f) + e * number(kLn2Low) - square * number(0.5);
    const Expr normal = (rest + f) + e * number(kLn2High);
    const Expr infinity = number(std::numeric_limits<double>::infinity());
    const Expr finite = select(x < infinity, normal, x);
    const Expr nan = number(std::numeric_limits<double>::quiet_NaN());
    const Expr tiny = select(x >= number(0), -infinity, nan);
    return select(x >= number(std::numeric_limits<float>::min()), finite, tiny);
  }

  Expr tanh(const Expr& x) const {
    const Expr magnitude = abs(x);
    const Expr z = x * x;
    const Expr near = polynomial(kTanh, z) * (z * x) + x;
    const Expr far = number(1) - number(2) / (exp(magnitude + magnitude) + number(1));
    return select(magnitude < number(0.625), near, select(x < number(0), -far, far));
  }

  Expr erf(const Expr& x) const {
    const Expr magnitude = abs(x);
    const Expr near = polynomial(kErf, x * x) * x;
    const Expr far = number(1) - exp(polynomial(kLogErfc, min(magnitude, number(4))));
    return select(magnitude < number(1), near, select(x < number(0), -far, far));
  }

  Expr pow(const Expr& a, const Expr& b) const {
    const Literal* value = b.as<Literal>();
    if (const Broadcast* splat = b.as<Broadcast>()) value = splat->operand.as<Literal>();
    if (value != nullptr) return power(a, value->value);
    const Expr half = b * number(0.5);
    const Expr is_whole = unary(UnaryOp::floor, b) == b;
    const Expr is_odd = unary(UnaryOp::floor, half) != half;
    const Expr nan = number(std::numeric_limits<double>::quiet_NaN());
    const Expr magnitude = exp(b * log(abs(a)));
    const Expr of_negative = select(is_whole, select(is_odd, -magnitude, magnitude), nan);
    return select(b == number(0), number(1), select(a < number(0), of_negative, magnitude));
  }

 private:
  // a to a literal exponent: products where it is small and whole.
  Expr power(const Expr& a, double exponent) const {
    constexpr double kMostProducts = 16;
    const double size = std::abs(exponent);
    const bool is_whole = size == std::floor(size);
    if (size == 0.5 || (is_whole && size <= kMostProducts)) {
      const Expr result = size == 0.5 ? sqrt(a) : product(a, static_cast<int>(size));
      return exponent < 0 ? number(1) / result : result;
    }
    // A negative number has whole powers alone: NaN comes from its logarithm.
    if (!is_whole) return exp(number(exponent) * log(a));
    const Expr magnitude = exp(number(exponent) * log(abs(a)));
    return std::fmod(size, 2) == 0 ? magnitude : select(a < number(0), -magnitude, magnitude);
  }

  Expr product(const Expr& a, int exponent) const {
    Expr result;
    Expr square = a;
    for (; exponent > 0; exponent /= 2) {
      if (exponent % 2 != 0) result = result.defined() ? square * result : square;
      if (exponent > 1) square = square * square;
    }
    return result.defined() ? result : number(1);
  }

  int lanes_;
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
  static Expr expand(const Expr& e) {
    if (e.type().dtype != DType::f32) return e;
    const Arithmetic arithmetic(e.type().lanes);
    const Binary* binary = e.as<Binary>();
    if (binary != nullptr && binary->op == BinaryOp::pow) return arithmetic.pow(binary->a, binary->b);
    const Unary* unary = e.as<Unary>();
    if (unary == nullptr) return e;
    switch (unary->op) {
      case UnaryOp::exp: return arithmetic.exp(unary->operand);
      case UnaryOp::log: return arithmetic.log(unary->operand);
      case UnaryOp::tanh: return arithmetic.tanh(unary->operand);
      case UnaryOp::erf: return arithmetic.erf(unary->operand);
      case UnaryOp::negate:
      case UnaryOp::sqrt:
      case UnaryOp::abs:
      case UnaryOp::floor:
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
                         node->op == UnaryOp::erf;
    return is_math || has_math(node->operand);
  }
  if (const Binary* node = e.as<Binary>())
    return node->op == BinaryOp::pow || has_math(node->a) || has_math(node->b);
  if (const Select* node = e.as<Select>()) {
    return has_math(node->condition) || has_math(node->if_true) || has_math(node->if_false);
  }
  if (const Cast* node = e.as<Cast>()) return has_math(node->operand);
  if (const Broadcast* node = e.as<Broadcast>()) return has_math(node->operand);
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
