#include "expr/function_costs.h"

#include <cmath>

#include "expr/walk.h"

namespace lathe {
namespace {

// To a constant exponent: a few products or a root, products in double, or as to any other.
double cost_of_power(double exponent) {
  constexpr double kProducts = 40;
  constexpr double kAnyPower = 500;
  if (exponent == 0.5 || exponent == -0.5) return kProducts;
  if (exponent != std::floor(exponent) || std::abs(exponent) > 16) return kAnyPower;
  return exponent >= 0 && exponent <= 3 ? 0 : kProducts;
}

double cost_of(const Unary& e) {
  switch (e.op) {
    case UnaryOp::exp: return 40;
    case UnaryOp::log:
    case UnaryOp::tanh:
    case UnaryOp::erf: return 60;
    case UnaryOp::sqrt: return 20;
    case UnaryOp::sin:
    case UnaryOp::cos: return 250;
    default: return 0;
  }
}

double cost_of(const Binary& e) {
  const bool is_of_integers = !is_float(e.a.type().dtype);
  const Literal* constant = e.b.as<Literal>();
  if (e.op == BinaryOp::pow) return constant != nullptr ? cost_of_power(constant->value) : 500;
  if (constant != nullptr) return 0;
  if (e.op == BinaryOp::div || e.op == BinaryOp::mod) return is_of_integers ? 250 : 15;
  return 0;
}

}  // namespace

double multiply_adds_of_point(const Expr& e) {
  double multiply_adds = 1;
  for_each(e, [&](const Expr& part) {
    if (const Unary* unary = part.as<Unary>()) multiply_adds += cost_of(*unary);
    if (const Binary* binary = part.as<Binary>()) multiply_adds += cost_of(*binary);
  });
  return multiply_adds;
}

}  // namespace lathe
