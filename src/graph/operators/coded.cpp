#include "graph/operators/coded.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace lathe {
namespace {

constexpr double kCodeInfinity = std::numeric_limits<double>::infinity();
constexpr double kCodeNan = std::numeric_limits<double>::quiet_NaN();

// Which codes are no finite numbers.
enum class Specials : uint8_t {
  none,
  ieee,           // of an exponent of ones: infinity and NaN
  nan_at_end,     // all bits but the sign: NaN
  nan_as_minus_0  // NaN has the code of -0, which there is none of
};

struct CodeRow {
  Code code;
  const char* name;
  int bits;  // the sign included
  bool has_sign;
  int fraction_bits;  // of floats
  int bias;           // the exponent of a code is this less; 0: an integer
  Specials specials;
};

constexpr std::array kCodeRows = {
    CodeRow{Code::f8e4m3fn, "f8e4m3fn", 8, true, 3, 7, Specials::nan_at_end},
    CodeRow{Code::f8e4m3fnuz, "f8e4m3fnuz", 8, true, 3, 8, Specials::nan_as_minus_0},
    CodeRow{Code::f8e5m2, "f8e5m2", 8, true, 2, 15, Specials::ieee},
    CodeRow{Code::f8e5m2fnuz, "f8e5m2fnuz", 8, true, 2, 16, Specials::nan_as_minus_0},
    CodeRow{Code::f8e8m0, "f8e8m0", 8, false, 0, 127, Specials::nan_at_end},
    CodeRow{Code::f4e2m1, "f4e2m1", 4, true, 1, 1, Specials::none},
    CodeRow{Code::i4, "i4", 4, true, 0, 0, Specials::none},
    CodeRow{Code::u4, "u4", 4, false, 0, 0, Specials::none},
    CodeRow{Code::i2, "i2", 2, true, 0, 0, Specials::none},
    CodeRow{Code::u2, "u2", 2, false, 0, 0, Specials::none}};

const CodeRow& code_row(Code code) {
  const auto* const row = std::ranges::find(kCodeRows, code, &CodeRow::code);
  LATHE_CHECK(row != kCodeRows.end());
  return *row;
}

bool holds_integers(const CodeRow& row) { return row.bias == 0; }
// Codes but for the sign's bit.
int magnitudes(const CodeRow& row) { return 1 << (row.bits - (row.has_sign ? 1 : 0)); }
// The largest finite float, and the exponent of the least normal one, whose step the subnormal ones share.
int largest_code(const CodeRow& row) {
  if (row.specials == Specials::ieee) return magnitudes(row) - (1 << row.fraction_bits) - 1;
  return magnitudes(row) - (row.specials == Specials::nan_at_end ? 2 : 1);
}
int least_exponent(const CodeRow& row) { return 1 - row.bias; }

// The least power of 2 that there is, in the place of 0.
bool has_powers_alone(const CodeRow& row) { return row.code == Code::f8e8m0; }

double magnitude_of_code(const CodeRow& row, int magnitude) {
  if (has_powers_alone(row)) return std::ldexp(1.0, magnitude - row.bias);
  const int exponent = magnitude >> row.fraction_bits;
  const int fraction = magnitude & ((1 << row.fraction_bits) - 1);
  const int steps = exponent == 0 ? fraction : fraction + (1 << row.fraction_bits);
  return std::ldexp(steps, least_exponent(row) - row.fraction_bits + std::max(exponent - 1, 0));
}

double largest_number(const CodeRow& row) { return magnitude_of_code(row, largest_code(row)); }

// What is beyond the largest and does not saturate.
double beyond_code(const CodeRow& row) { return row.specials == Specials::ieee ? kCodeInfinity : kCodeNan; }

// By the bits of f32, of which it has the exponent: of subnormal numbers that is 0, which stands for 2^-127.
double power_near(const RoundToCodeOp& op, double x) {
  const auto all = std::bit_cast<uint32_t>(static_cast<float>(x));
  const uint32_t exponent = all >> 23 & 255, fraction = all & 0x7fffff, half = 0x400000;
  if (exponent == 255) return kCodeNan;
  bool is_up = fraction > 0 && op.rounding == PowerRounding::up;
  if (op.rounding == PowerRounding::nearest) is_up = fraction > half || (fraction == half && exponent > 0);
  if (op.saturates && exponent == 254) is_up = false;
  return value_of_code(op.code, static_cast<uint8_t>(exponent + (is_up ? 1 : 0)));
}

double number_near(const RoundToCodeOp& op, double x) {
  const CodeRow& row = code_row(op.code);
  if (holds_integers(row)) return value_of_code(op.code, static_cast<uint8_t>(static_cast<int64_t>(x)));
  if (has_powers_alone(row)) return power_near(op, x);
  if (std::isnan(x)) return row.specials == Specials::none ? -0.0 : kCodeNan;
  const double largest = largest_number(row);
  double size = std::min(std::abs(x), 2 * largest);
  const int exponent = size == 0 ? least_exponent(row) : std::max(std::ilogb(size), least_exponent(row));
  const double step = std::ldexp(1.0, exponent - row.fraction_bits);
  size = std::nearbyint(size / step) * step;
  if (size > largest) size = op.saturates || row.specials == Specials::none ? largest : beyond_code(row);
  return size == 0 && row.specials == Specials::nan_as_minus_0 ? 0 : std::copysign(size, x);
}

Expr is_not_nan(const Expr& x) { return binary(BinaryOp::equal, x, x); }
Expr u32_bits(int64_t value) { return integer_literal({DType::u32}, value); }
Expr bits_of_number(const Expr& x) { return bit_cast({DType::u32}, x); }
Expr bit_op(BinaryOp op, const Expr& a, int64_t b) { return binary(op, a, u32_bits(b)); }

constexpr int kF32FractionBits = 23;  // of f32
constexpr int kF32Bias = 127;
constexpr int64_t kExponentMask = 0xff800000;  // the sign too, so that what is left rises with the number
constexpr int64_t kFractionMask = 0x7fffff;

// The exponent's bits of f32 as a power of two; of a code of 0, 2^-127.
Expr power_of_bits(const Expr& exponent) {
  const Expr power = bit_cast({DType::f32}, bit_op(BinaryOp::shift_left, exponent, kF32FractionBits));
  const Expr held = select(exponent == u32_bits(0), real(std::ldexp(1.0, -kF32Bias)), power);
  return select(exponent == u32_bits(255), real(kCodeNan), held);
}

Expr rounded_power(const RoundToCodeOp& op, const Expr& x) {
  const Expr all = bits_of_number(x);
  const Expr exponent = bit_op(BinaryOp::bit_and, bit_op(BinaryOp::shift_right, all, kF32FractionBits), 255);
  const Expr fraction = bit_op(BinaryOp::bit_and, all, kFractionMask);
  if (op.rounding == PowerRounding::down) return power_of_bits(exponent);
  const Expr half = u32_bits(int64_t{1} << (kF32FractionBits - 1));
  Expr is_up = u32_bits(0) < fraction;
  if (op.rounding == PowerRounding::nearest)
    is_up = half < fraction || (fraction == half && u32_bits(0) < exponent);
  is_up = is_up && exponent < u32_bits(op.saturates ? 254 : 255);
  return power_of_bits(exponent + select(is_up, u32_bits(1), u32_bits(0)));
}

// A power of two that divides a number exactly makes whole numbers of what the code holds.
Expr number_near(const RoundToCodeOp& op, const CodeRow& row, const Expr& x) {
  const double largest = largest_number(row);
  const Expr size = min(abs(x), real(2 * largest));
  const Expr power = bit_cast({DType::f32}, bit_op(BinaryOp::bit_and, bits_of_number(size), kExponentMask));
  const Expr step =
      max(power, real(std::ldexp(1.0, least_exponent(row)))) * real(std::ldexp(1.0, -row.fraction_bits));
  const Expr whole = round(size / step) * step;
  const bool saturates = op.saturates || row.specials == Specials::none;
  const Expr held =
      saturates ? min(whole, real(largest)) : select(whole > real(largest), real(beyond_code(row)), whole);
  const Expr result = copy_sign(held, x);
  if (row.specials == Specials::none) return select(is_not_nan(x), result, real(-0.0));
  return row.specials == Specials::nan_as_minus_0 ? select(result == real(0), real(0), result) : result;
}

Expr rounded_integer(const CodeRow& row, const Expr& x) {
  const Type type = x.type();
  const int beyond = 8 - row.bits;
  const Expr amount = integer_literal(type, beyond);
  const Expr shifted = binary(BinaryOp::shift_left, x, amount);
  return binary(BinaryOp::shift_right, shifted, amount);
}

// Of several the quiet one, as IEEE 754 has it.
int64_t code_of_nan(const CodeRow& row) {
  if (row.specials == Specials::nan_as_minus_0) return magnitudes(row);
  return row.specials == Specials::ieee ? largest_code(row) + 3 : magnitudes(row) - 1;
}

Expr encoded(const CodeRow& row, const Expr& x) {
  const Expr all = bits_of_number(x);
  const Expr magnitude = bit_op(BinaryOp::bit_and, all, INT32_MAX);
  const Expr size = abs(x);
  const double least = std::ldexp(1.0, least_exponent(row));
  const Expr normal = bit_op(BinaryOp::shift_right, magnitude, kF32FractionBits - row.fraction_bits) -
                      u32_bits(int64_t{kF32Bias - row.bias} << row.fraction_bits);
  const Expr steps = has_powers_alone(row)
                         ? u32_bits(0)
                         : cast({DType::u32}, size * real(std::ldexp(1 / least, row.fraction_bits)));
  Expr code = select(size < real(least), steps, normal);
  if (row.specials == Specials::ieee)
    code = select(size == real(kCodeInfinity), u32_bits(largest_code(row) + 1), code);
  if (row.has_sign) {
    const Expr sign = bit_op(BinaryOp::shift_left, bit_op(BinaryOp::shift_right, all, 31), row.bits - 1);
    code = binary(BinaryOp::bit_or, code, sign);
  }
  if (row.specials != Specials::none) code = select(is_not_nan(x), code, u32_bits(code_of_nan(row)));
  return cast({DType::u8}, code);
}

Expr decoded(const CodeRow& row, const Expr& x) {
  const Expr code = cast({DType::u32}, x);
  if (has_powers_alone(row)) return power_of_bits(code);
  const int64_t signs = magnitudes(row);
  const Expr magnitude = bit_op(BinaryOp::bit_and, code, signs - 1);
  const Expr raised = bit_op(BinaryOp::shift_left, magnitude, kF32FractionBits - row.fraction_bits) +
                      u32_bits(int64_t{kF32Bias - row.bias} << kF32FractionBits);
  const double step = std::ldexp(1.0, least_exponent(row) - row.fraction_bits);
  Expr size = select(magnitude < u32_bits(int64_t{1} << row.fraction_bits),
                     cast({DType::f32}, magnitude) * real(step), bit_cast({DType::f32}, raised));
  if (row.specials == Specials::ieee)
    size = select(magnitude == u32_bits(largest_code(row) + 1), real(kCodeInfinity), size);
  if (row.specials == Specials::ieee || row.specials == Specials::nan_at_end) {
    const int finite = row.specials == Specials::ieee ? largest_code(row) + 1 : largest_code(row);
    size = select(u32_bits(finite) < magnitude, real(kCodeNan), size);
  }
  const Expr is_negative = u32_bits(0) < bit_op(BinaryOp::bit_and, code, signs);
  Expr result = select(is_negative, -size, size);
  if (row.specials != Specials::nan_as_minus_0) return result;
  return select(code == u32_bits(signs), real(kCodeNan), result);
}

Status require_held(const TensorType& input, DType dtype) {
  return require_type(input, 0, input.dtype == dtype, info_of(dtype).name);
}

}  // namespace

DType held_in(Code code) {
  const CodeRow& row = code_row(code);
  if (!holds_integers(row)) return DType::f32;
  return row.has_sign ? DType::i8 : DType::u8;
}

DType stored_in(Code code) { return is_float(held_in(code)) ? DType::u8 : held_in(code); }

Interval integers_of(Code code) {
  const CodeRow& row = code_row(code);
  const int64_t most = magnitudes(row) - 1;
  return {row.has_sign ? -most - 1 : 0, most};
}

int bits_of(Code code) { return code_row(code).bits; }

const char* to_string(Code code) { return code_row(code).name; }

double value_of_code(Code code, uint8_t all) {
  const CodeRow& row = code_row(code);
  const int signs = magnitudes(row);
  const int magnitude = all & (signs - 1);
  const bool is_negative = row.has_sign && (all & signs) != 0;
  if (holds_integers(row)) return is_negative ? magnitude - signs : magnitude;
  if (row.specials == Specials::nan_as_minus_0 && is_negative && magnitude == 0) return kCodeNan;
  const bool is_infinite = row.specials == Specials::ieee && magnitude == largest_code(row) + 1;
  const bool is_nan = !is_infinite && magnitude > largest_code(row);
  const double size = is_nan ? kCodeNan : is_infinite ? kCodeInfinity : magnitude_of_code(row, magnitude);
  return is_negative ? -size : size;
}

std::string attributes_of(const RoundToCodeOp& op) {
  constexpr std::array kWords = {"up", "down", "nearest"};
  std::string text = to_string(op.code);
  if (!op.saturates) text += ", beyond it no number";
  if (has_powers_alone(code_row(op.code)))
    text += fmt::format(", {}", kWords.at(static_cast<size_t>(op.rounding)));
  return text;
}
std::string attributes_of(const EncodeOp& op) { return to_string(op.code); }
std::string attributes_of(const DecodeOp& op) { return to_string(op.code); }

Result<TensorType> infer(const RoundToCodeOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_held(inputs[0], held_in(op.code)));
  return inputs[0];
}

Result<TensorType> infer(const EncodeOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_held(inputs[0], held_in(op.code)));
  return TensorType{stored_in(op.code), inputs[0].shape};
}

Result<TensorType> infer(const DecodeOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_held(inputs[0], stored_in(op.code)));
  return TensorType{held_in(op.code), inputs[0].shape};
}

Values evaluate(const RoundToCodeOp& op, std::span<const Values> inputs) {
  Values result = inputs[0];
  for (double& x : result.data) x = number_near(op, x);
  return result;
}

Values evaluate(const EncodeOp& op, std::span<const Values> inputs) {
  Values result = inputs[0];
  for (double& x : result.data) {
    int code = static_cast<int>(code_of_nan(code_row(op.code)));
    for (int tried = 0; tried < 256 && !std::isnan(x); ++tried) {
      const double value = value_of_code(op.code, static_cast<uint8_t>(tried));
      if (value != x || std::signbit(value) != std::signbit(x)) continue;
      code = tried;
      break;
    }
    x = code;
  }
  return result;
}

Values evaluate(const DecodeOp& op, std::span<const Values> inputs) {
  Values result = inputs[0];
  for (double& x : result.data) x = value_of_code(op.code, static_cast<uint8_t>(x));
  return result;
}

Expr lower(const RoundToCodeOp& op, const PointOperands& point) {
  const CodeRow& row = code_row(op.code);
  if (holds_integers(row)) return rounded_integer(row, point.at(0));
  return has_powers_alone(row) ? rounded_power(op, point.at(0)) : number_near(op, row, point.at(0));
}

Expr lower(const EncodeOp& op, const PointOperands& point) { return encoded(code_row(op.code), point.at(0)); }

Expr lower(const DecodeOp& op, const PointOperands& point) { return decoded(code_row(op.code), point.at(0)); }

}  // namespace lathe
