// Sums of products of quantized matrices, as several kinds of nodes have them.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "graph/onnx/nodes/quantized_steps.h"

namespace lathe {

// A factor of a matrix product: what its zero point and scale say of, its numbers as they are multiplied, and
// their shape.
struct Factor : QuantizedInput {
  size_t matrix = kNoInput;
  Shape shape;
};

// Of a node's input.
Factor factor_of(const OnnxNode& node, const QuantizedInput& input);

class ProductSteps : public QuantizedSteps {
 public:
  using QuantizedSteps::QuantizedSteps;

  size_t zero_point(size_t input, size_t behind) { return cast(DType::i32, placed(input, behind)); }
  // The numbers less their zero point.
  size_t centred(size_t numbers, size_t zero, size_t behind) {
    const size_t wide = cast(DType::i32, numbers);
    return is_zero(zero) ? wide : zip(ZipFunction::sub, wide, zero_point(zero, behind));
  }
  // The sum along axes, which stay with one place.
  size_t sum(size_t x, std::vector<size_t> axes) {
    ReduceOp op;
    op.function = ReduceFunction::sum;
    op.axes = std::move(axes);
    return add(op, {cast(DType::i32, x)});
  }
  // [.., m, n] of i32: sums of products of two factors less their zero points.
  size_t product(const Factor& a, const Factor& b);
  // What the sums stand for, in the type of the result's zero point; `behind` as for `placed`.
  void requantize(size_t sums, size_t factors, const QuantizedInput& result, DType type, size_t behind) {
    const size_t scale = zip(ZipFunction::div, factors, placed(result.scale, behind));
    rounded(zip(ZipFunction::mul, cast(DType::f32, sums), scale), result, type, behind);
  }
};

// An Error unless the inputs are integers of 8 bits.
Status require_narrow(const OnnxNode& node, std::initializer_list<size_t> inputs);

}  // namespace lathe
