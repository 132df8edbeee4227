#include "graph/onnx/nodes/product_steps.h"

#include <fmt/format.h>

namespace lathe {

Factor factor_of(const OnnxNode& node, const QuantizedInput& input) {
  return {input, input.numbers, node.shape(input.numbers)};
}

// sum (a - p) (b - q) = sum a b - p sum b - q sum a + k p q.
size_t ProductSteps::product(const Factor& a, const Factor& b) {
  const Shape &left = a.shape, &right = b.shape;
  if (left.size() < 2 || right.size() < 2) {
    return add(MatMulOp{},
               {centred(a.matrix, a.zero, left.size() > 1 ? 1 : 0), centred(b.matrix, b.zero, 0)});
  }
  size_t sums = add(MatMulOp{}, {a.matrix, b.matrix});
  const bool left_is_zero = is_zero(a.zero), right_is_zero = is_zero(b.zero);
  if (!left_is_zero) {
    // Of b less its zero point, which leaves nothing to add for both.
    const size_t columns = sum(b.matrix, {right.size() - 2});
    size_t own = columns;
    if (!right_is_zero) {
      const size_t shift = zip(ZipFunction::mul, zero_point(b.zero, 0), whole(left.back()));
      own = zip(ZipFunction::sub, columns, shift);
    }
    sums = zip(ZipFunction::sub, sums, zip(ZipFunction::mul, own, zero_point(a.zero, 1)));
  }
  if (!right_is_zero) {
    const size_t rows = sum(a.matrix, {left.size() - 1});
    sums = zip(ZipFunction::sub, sums, zip(ZipFunction::mul, rows, zero_point(b.zero, 0)));
  }
  return sums;
}

Status require_narrow(const OnnxNode& node, std::initializer_list<size_t> inputs) {
  for (const size_t input : inputs) {
    const DType dtype = node.type(input).dtype;
    if (dtype == DType::i8 || dtype == DType::u8) continue;
    return fail(
        ErrorKind::unsupported,
        fmt::format("input {} is of type {}, and Lathe supports i8 and u8 here", input, to_string(dtype)));
  }
  return {};
}

}  // namespace lathe
