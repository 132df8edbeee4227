// Arithmetic on values of one floating-point type and number of lanes, as `expand_math` writes it.
#pragma once

#include <initializer_list>
#include <iterator>

#include "expr/expr.h"

namespace lathe {

class Arithmetic {
 public:
  explicit Arithmetic(Type type) : type_(type) {}

  // All lanes alike, rounded to the type.
  Expr number(double value) const {
    const double rounded = type_.dtype == DType::f32 ? static_cast<double>(static_cast<float>(value)) : value;
    const Expr scalar = literal({type_.dtype, 1}, rounded);
    return type_.lanes == 1 ? scalar : broadcast(scalar, type_.lanes);
  }

  // c[0] + c[1] * x + c[2] * x^2 + .., by Horner's scheme.
  Expr polynomial(std::initializer_list<double> coefficients, const Expr& x) const {
    Expr sum;
    for (auto c = std::rbegin(coefficients); c != std::rend(coefficients); ++c) {
      sum = sum.defined() ? sum * x + number(*c) : number(*c);
    }
    return sum;
  }

 private:
  Type type_;
};

}  // namespace lathe
