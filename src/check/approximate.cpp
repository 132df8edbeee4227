#include "check/approximate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "expr/integers.h"
#include "loop/host_tensor.h"
#include "loop/interpreter/arithmetic.h"

namespace lathe {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// The functions are off by up to two units in the last place (docs/numerics.md).
constexpr double kFunctionRoundings = 4;
// Of n terms the sum is off by this times the square root of n, in units of the largest partial sum.
constexpr double kSumRoundings = 2;

// An exact operand makes no error, however large the other one is.
double product(double magnitude, double error) {
  if (error == 0) return 0;
  const double made = std::abs(magnitude) * error;
  return std::isnan(made) ? kInfinity : made;
}

// The distance of what may come out instead; NaN there: anything may.
double distance(double value, double other) {
  if (value == other || (std::isnan(value) && std::isnan(other))) return 0;
  const double difference = std::abs(value - other);
  return std::isnan(difference) ? kInfinity : difference;
}

// The same of everything between the two ends, where the function only rises or only falls.
double distance(double value, double at_least, double at_most) {
  return std::max(distance(value, at_least), distance(value, at_most));
}

// Of a function that only rises or only falls over the operand's interval.
template <class Function>
Approximate monotone(const Approximate& a, const Function& function) {
  const double value = function(a.value);
  if (a.is_exact()) return {value, 0};
  return {value, distance(value, function(a.value - a.error), function(a.value + a.error))};
}

Approximate mantissa_of(const Approximate& a) {
  const double value = interpreter::apply(UnaryOp::mantissa, a.value);
  if (a.is_exact()) return {value, 0};
  const double exponent = std::logb(a.value);
  const bool is_decided = std::logb(std::abs(a.value) + a.error) == exponent &&
                          std::logb(std::abs(a.value) - a.error) == exponent;
  return {value, is_decided ? a.error / std::exp2(exponent) : 1};
}

Approximate divided(const Approximate& a, const Approximate& b) {
  const double value = a.value / b.value;
  if (a.is_exact() && b.is_exact()) return {value, 0};
  const double margin = std::abs(b.value) - b.error;
  if (!(margin > 0)) return {value, kInfinity};
  return {value, (a.error + product(value, b.error)) / margin};
}

// The remainder of a division that rounds to zero: it jumps where the quotient is a whole number.
Approximate remainder(DType dtype, const Approximate& a, const Approximate& b) {
  const double value = interpreter::apply(BinaryOp::mod, a.value, b.value);
  const Approximate quotient = rounded(dtype, divided(a, b));
  const double whole = std::trunc(quotient.value);
  const bool is_decided = std::trunc(quotient.value - quotient.error) == whole &&
                          std::trunc(quotient.value + quotient.error) == whole;
  const double kept = a.error + product(whole, b.error) + epsilon_of(dtype) * std::abs(a.value);
  return {value, is_decided ? kept : a.error + std::abs(b.value) + b.error};
}

// It rises or falls in each operand where the base has one sign: the corners bound it.
Approximate power(const Approximate& a, const Approximate& b) {
  const double value = std::pow(a.value, b.value);
  if (a.is_exact() && b.is_exact()) return {value, 0};
  if (std::abs(a.value) <= a.error && b.value - b.error < 0) return {value, kInfinity};
  double error = 0;
  for (const double base : {a.value - a.error, a.value + a.error}) {
    error = std::max(error,
                     distance(value, std::pow(base, b.value - b.error), std::pow(base, b.value + b.error)));
  }
  return {value, error};
}

Approximate of_floats(DType dtype, BinaryOp op, const Approximate& a, const Approximate& b) {
  const double value = interpreter::apply(op, a.value, b.value);
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::sub: return rounded(dtype, {value, a.error + b.error});
    case BinaryOp::mul:
      return rounded(
          dtype, {value, product(a.value, b.error) + product(b.value, a.error) + product(a.error, b.error)});
    case BinaryOp::div: return rounded(dtype, divided(a, b));
    case BinaryOp::mod: return remainder(dtype, a, b);
    case BinaryOp::pow: return rounded(dtype, power(a, b), kFunctionRoundings);
    case BinaryOp::copy_sign: {
      const bool is_decided = b.is_exact() || std::abs(b.value) > b.error;
      return {value, a.error + (is_decided ? 0 : 2 * std::abs(a.value))};
    }
    default: break;  // min and max rise in both operands
  }
  return {value, distance(value, interpreter::apply(op, a.value - a.error, b.value - b.error),
                          interpreter::apply(op, a.value + a.error, b.value + b.error))};
}

double of_integers(DType dtype, BinaryOp op, double x, double y) {
  return number_kept(dtype, interpreter::apply_to_integers(dtype, op, cut_to(dtype, x), cut_to(dtype, y)));
}

// Whether the mask keeps all bits from some bit on, so that what it leaves rises with the number.
bool keeps_highest_bits(DType dtype, const Approximate& mask) {
  const auto left_out = static_cast<uint64_t>(largest_kept(dtype) & ~cut_to(dtype, mask.value));
  return is_unsigned(dtype) && mask.is_exact() && (left_out & (left_out + 1)) == 0;
}

// Of integers that some rounding has decided.
double integer_error(DType dtype, BinaryOp op, const Approximate& a, const Approximate& b) {
  const auto masked = [&](double x) { return of_integers(dtype, BinaryOp::bit_and, x, b.value); };
  switch (op) {
    case BinaryOp::bit_and:
      if (!keeps_highest_bits(dtype, b) || a.error > a.value) return kInfinity;
      return monotone({a.value, std::floor(a.error)}, masked).error;
    case BinaryOp::add:
    case BinaryOp::sub: return a.error + b.error;
    case BinaryOp::mul:
      return product(a.value, b.error) + product(b.value, a.error) + product(a.error, b.error);
    case BinaryOp::min:
    case BinaryOp::max: return std::max(a.error, b.error);
    default: return kInfinity;
  }
}

Approximate comparison(BinaryOp op, const Approximate& a, const Approximate& b) {
  const double value = interpreter::holds(op, a.value, b.value) ? 1 : 0;
  const double error = a.error + b.error;
  const bool may_turn =
      error > 0 && !(std::abs(a.value - b.value) > error) && !std::isnan(a.value) && !std::isnan(b.value);
  return {value, may_turn ? 1.0 : 0.0};
}

Approximate logical(BinaryOp op, const Approximate& a, const Approximate& b) {
  const double value = interpreter::holds(op, a.value, b.value) ? 1 : 0;
  const auto decides = [&](const Approximate& side) {
    return side.is_exact() && (side.value != 0) == (op == BinaryOp::logical_or);
  };
  const bool is_decided = (a.is_exact() && b.is_exact()) || decides(a) || decides(b);
  return {value, is_decided ? 0.0 : 1.0};
}

}  // namespace

Approximate rounded(DType dtype, Approximate exact, double roundings) {
  if (!is_float(dtype) || exact.value == 0 || !std::isfinite(exact.value)) return exact;
  const DTypeInfo& info = info_of(dtype);
  if (std::abs(exact.value) > largest_of(dtype)) return {exact.value, kInfinity};
  const double lost =
      is_storage_only(dtype) ? smallest_normal_of(dtype) * epsilon_of(dtype) : smallest_normal_of(info.dtype);
  exact.error += roundings * epsilon_of(dtype) * std::abs(exact.value) + lost;
  return exact;
}

Approximate apply(DType dtype, UnaryOp op, Approximate a) {
  const auto function = [&](double x) { return interpreter::apply(op, x); };
  switch (op) {
    case UnaryOp::logical_not: return {function(a.value), a.error};
    case UnaryOp::negate:
      return {is_float(dtype) ? -a.value : of_integers(dtype, BinaryOp::sub, 0, a.value), a.error};
    case UnaryOp::abs: return {function(a.value), a.error};
    case UnaryOp::mantissa: return mantissa_of(a);
    case UnaryOp::exponent:
      if (!a.is_exact() && std::abs(a.value) <= a.error) return {function(a.value), kInfinity};
      return monotone({std::abs(a.value), a.error}, function);
    case UnaryOp::floor:
    case UnaryOp::ceil:
    case UnaryOp::round:
    case UnaryOp::truncate:
    case UnaryOp::pow2: return monotone(a, function);
    case UnaryOp::sin:
    case UnaryOp::cos: return rounded(dtype, {function(a.value), std::min(a.error, 2.0)}, kFunctionRoundings);
    case UnaryOp::exp:
    case UnaryOp::log:
    case UnaryOp::sqrt:
    case UnaryOp::tanh:
    case UnaryOp::erf: break;
  }
  return rounded(dtype, monotone(a, function), kFunctionRoundings);
}

Approximate apply(DType dtype, BinaryOp op, Approximate a, Approximate b) {
  if (op == BinaryOp::logical_and || op == BinaryOp::logical_or) return logical(op, a, b);
  if (interpreter::is_condition(op)) return comparison(op, a, b);
  if (is_float(dtype)) return of_floats(dtype, op, a, b);
  const bool is_exact = a.is_exact() && b.is_exact();
  return {of_integers(dtype, op, a.value, b.value), is_exact ? 0 : integer_error(dtype, op, a, b)};
}

Approximate converted(DType from, DType to, Approximate a) {
  if (is_float(to)) {
    const bool keeps = is_float(from) ? info_of(from).digits <= info_of(to).digits
                                      : std::abs(a.value) <= std::ldexp(1.0, info_of(to).digits);
    const double value = is_storage_only(to) ? as_stored(to, a.value) : a.value;
    return keeps ? Approximate{value, a.error} : Approximate{value, rounded(to, a).error};
  }
  if (to == DType::boolean) {
    const bool may_turn = !a.is_exact() && std::abs(a.value) <= a.error;
    return {a.value != 0 ? 1.0 : 0.0, may_turn ? 1.0 : 0.0};
  }
  if (is_float(from)) return monotone(a, [&](double x) { return number_kept(to, saturated(to, x)); });
  const double value = round_to(to, a.value);
  return {value, a.is_exact() || value == a.value ? a.error : kInfinity};
}

Approximate bits_kept(DType from, DType to, Approximate a) {
  const auto kept = [&](double x) {
    const interpreter::Bits bits = interpreter::bits_as(
        from, to, is_float(from) ? interpreter::Bits{x, 0} : interpreter::Bits{0, cut_to(from, x)});
    return is_float(to) ? bits.number : number_kept(to, bits.integer);
  };
  if (a.is_exact() || a.error < std::abs(a.value)) return monotone(a, kept);
  return {kept(a.value), kInfinity};
}

Approximate either(Approximate taken, Approximate other) {
  return {taken.value, std::max(taken.error, distance(taken.value, other.value) + other.error)};
}

ApproximateReduction::ApproximateReduction(Reduction reduction, DType dtype)
    : reduction_(reduction), dtype_(dtype), value_(identity_of(reduction)), least_(value_), most_(value_) {}

void ApproximateReduction::add(Approximate term) {
  ++terms_;
  value_ = interpreter::apply(reduction_, value_, term.value);
  if (reduction_ == Reduction::sum) {
    errors_ += term.error;
    squares_ += term.value * term.value;
  } else if (reduction_ == Reduction::product) {
    most_ *= std::abs(term.value) + term.error;
  } else {
    least_ = interpreter::apply(reduction_, least_, term.value - term.error);
    most_ = interpreter::apply(reduction_, most_, term.value + term.error);
  }
}

Approximate ApproximateReduction::result() const {
  const bool rounds = is_float(dtype_) && terms_ > 1;
  const double epsilon = rounds ? epsilon_of(info_of(dtype_).computed_in) : 0;
  switch (reduction_) {
    case Reduction::none:
    case Reduction::max:
    case Reduction::min: return {value_, distance(value_, least_, most_)};
    case Reduction::product: {
      const double grown = distance(std::abs(value_), most_) + product(most_, terms_ * epsilon);
      return {is_float(dtype_) ? value_ : round_to(dtype_, value_), grown};
    }
    case Reduction::sum: break;
  }
  if (!is_float(dtype_)) return {round_to(dtype_, value_), errors_};
  const double largest = std::max(std::abs(value_), std::sqrt(squares_));
  const double roundings =
      rounds && std::isfinite(largest) ? kSumRoundings * std::sqrt(terms_) * epsilon * largest : 0;
  return {value_, errors_ + roundings};
}

}  // namespace lathe
