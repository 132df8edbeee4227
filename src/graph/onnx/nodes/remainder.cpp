#include "graph/onnx/nodes/remainder.h"

#include <array>

#include "graph/onnx/nodes/node_steps.h"

namespace lathe {
namespace {

using Parts = std::array<size_t, 3>;

// Numbers of 8 bits each that add up to x, the largest first: a product of two of them is exact in f32.
Parts parts_of(NodeSteps& steps, size_t x) {
  Parts parts{};
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    parts.at(i) = steps.cast(DType::f32, steps.cast(DType::bf16, x));
    x = steps.minus(x, parts.at(i));
  }
  parts.back() = x;
  return parts;
}

}  // namespace

ImportedOutputs import_real_remainder(OnnxNode& node) {
  constexpr size_t kDividend = 0, kDivisor = 1;
  const bool has_dividends_sign = node.integer("fmod", 0) != 0;
  NodeSteps steps(node.input_count());
  const size_t zero = steps.real(0);
  const size_t x = steps.map(MapFunction::abs, kDividend), y = steps.map(MapFunction::abs, kDivisor);
  const size_t quotient = steps.map(MapFunction::floor, steps.zip(ZipFunction::div, x, y));
  // x less the parts of quotient * y, the largest ones first, so that each difference is exact.
  const Parts of_quotient = parts_of(steps, quotient), of_divisor = parts_of(steps, y);
  size_t rest = x;
  for (const size_t a : of_quotient)
    for (const size_t b : of_divisor) rest = steps.minus(rest, steps.times(a, b));
  // The quotient was rounded, up to the next whole number at the worst.
  const size_t is_too_low = steps.zip(ZipFunction::less, rest, zero);
  rest = steps.where(is_too_low, steps.plus(rest, y), rest);
  rest = steps.where(steps.zip(ZipFunction::less, x, y), x, rest);
  const auto is_negative = [&](size_t number) { return steps.zip(ZipFunction::less, number, zero); };
  rest = steps.where(is_negative(kDividend), steps.map(MapFunction::negate, rest), rest);
  if (!has_dividends_sign) {
    const size_t is_other_side = steps.zip(
        ZipFunction::less,
        steps.times(steps.map(MapFunction::sign, rest), steps.map(MapFunction::sign, kDivisor)), zero);
    rest = steps.where(is_other_side, steps.plus(rest, kDivisor), rest);
  }
  steps.give(rest);
  return steps.outputs();
}

}  // namespace lathe
