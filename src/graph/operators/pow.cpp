#include "graph/operators/pow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/onnx/node.h"

namespace lathe {
namespace {

// Beyond this of a power of integers, but for 0, 1 and -1, nothing fits: such an exponent counts as the
// largest up to it that is even or odd like it.
constexpr int64_t kLargestExponent = 63;
constexpr int kExponentBits = 6;
// An exponent of floats that is larger is even and whole; this one stands for it.
constexpr double kLargestWhole = 0x1p62;

int64_t integer_power(int64_t x, int64_t exponent) {
  if (exponent < 0 && x != 1 && x != -1) return 0;
  int64_t rest = std::abs(exponent);
  if (rest > kLargestExponent) rest = kLargestExponent - 1 + rest % 2;
  uint64_t result = 1;
  for (; rest > 0; --rest) result *= static_cast<uint64_t>(x);
  return static_cast<int64_t>(result);
}

// `exponent` is i64.
Expr integer_power(const Expr& x, const Expr& exponent) {
  const auto number = [&](double value) { return literal(x.type(), value); };
  const auto count = [](int64_t value) { return Expr(value); };
  const Expr size = abs(exponent);
  const Expr limited = count(kLargestExponent - 1) + size % count(2);
  Expr rest = select(size <= count(kLargestExponent), size, limited);
  Expr result = number(1);
  Expr square = x;
  for (int bit = 0; bit < kExponentBits; ++bit) {
    result = select(rest % count(2) == count(1), result * square, result);
    square = square * square;
    rest = rest / count(2);
  }
  const Expr vanishes = exponent < count(0) && x != number(1) && x != number(-1);
  return select(vanishes, number(0), result);
}

double power_of(DType base, DType exponent, double x, double y) {
  if (is_float(base)) return std::pow(x, y);
  if (is_float(exponent) && y != std::floor(y)) return number_kept(base, saturated(base, std::pow(x, y)));
  const auto whole = static_cast<int64_t>(std::clamp(y, -kLargestWhole, kLargestWhole));
  return number_kept(base, wrap_to(base, integer_power(cut_to(base, x), whole)));
}

}  // namespace

std::string attributes_of(const PowOp&) { return {}; }

Result<TensorType> infer(const PowOp&, std::span<const TensorType> inputs) {
  for (size_t i = 0; i < 2; ++i)
    LATHE_TRY_STATUS(require_type(inputs[i], i, is_number(inputs[i].dtype), "f32, f64 and integers"));
  LATHE_TRY(Shape shape, broadcast_shapes(inputs[0].shape, inputs[1].shape));
  return TensorType{inputs[0].dtype, std::move(shape)};
}

Values evaluate(const PowOp&, std::span<const Values> inputs) {
  Values result{*broadcast_shapes(inputs[0].shape, inputs[1].shape), {}};
  Shape at(result.shape.size(), 0);
  do {
    result.data.push_back(
        power_of(inputs[0].dtype, inputs[1].dtype, element_at(inputs[0], at), element_at(inputs[1], at)));
  } while (next_index(at, result.shape));
  return result;
}

Expr lower(const PowOp&, const PointOperands& point) {
  const Expr x = point.at(0);
  const Expr y = point.at(1);
  if (is_float(x.type().dtype)) return binary(BinaryOp::pow, x, cast(x.type(), y));
  if (!is_float(y.type().dtype)) return integer_power(x, cast({DType::i64}, y));
  const auto number = [&](double value) { return literal(y.type(), value); };
  const Expr exponent = min(max(y, number(-kLargestWhole)), number(kLargestWhole));
  const Expr whole = integer_power(x, cast({DType::i64}, exponent));
  return select(y == floor(y), whole, cast(x.type(), binary(BinaryOp::pow, cast(y.type(), x), y)));
}

Result<std::variant<MapOp, PowOp>> import_pow(OnnxNode& node) {
  const bool is_one = node.is_constant(1) && elements_of(node.shape(1)) == 1;
  if (!is_float(node.type(0).dtype) || !is_one || node.shape(1).size() > node.shape(0).size()) return PowOp{};
  MapOp op{MapFunction::power};
  if (is_float(node.type(1).dtype)) {
    LATHE_TRY(op.a, node.constant_real(1, 1));
  } else {
    LATHE_TRY(const Shape exponent, node.constant_integers(1));
    op.a = static_cast<double>(exponent[0]);
  }
  return op;
}

}  // namespace lathe
