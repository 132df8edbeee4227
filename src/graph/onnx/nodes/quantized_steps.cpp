#include "graph/onnx/nodes/quantized_steps.h"

#include <algorithm>

namespace lathe {

bool QuantizedSteps::is_zero(size_t input) const {
  if (!has(input)) return true;
  if (is_step(input)) return false;
  if (!node_.is_constant(input)) return false;
  const auto numbers = node_.constant_numbers(input);
  return numbers && std::ranges::all_of(*numbers, [](double number) { return number == 0; });
}

size_t QuantizedSteps::placed(size_t input, size_t behind) {
  if (is_step(input)) return input - kFirstStep;
  const Shape& shape = node_.shape(input);
  if (shape.size() > 1) return input;
  if (elements_of(shape) == 1) return shape.empty() ? input : add(ReshapeOp{{}}, {input});
  if (behind == 0) return input;
  Shape wider = shape;
  wider.insert(wider.end(), behind, 1);
  return add(ReshapeOp{wider}, {input});
}

size_t QuantizedSteps::dequantized(const QuantizedInput& input, size_t behind) {
  size_t numbers = input.numbers;
  if (is_zero(input.zero)) {
    numbers = cast(DType::f32, numbers);
  } else {
    const size_t zero = cast(DType::i32, placed(input.zero, behind));
    numbers = cast(DType::f32, zip(ZipFunction::sub, cast(DType::i32, numbers), zero));
  }
  return zip(ZipFunction::mul, numbers, placed(input.scale, behind));
}

size_t QuantizedSteps::quantized(size_t reals, const QuantizedInput& result, DType type, size_t behind) {
  return rounded(zip(ZipFunction::div, reals, placed(result.scale, behind)), result, type, behind);
}

size_t QuantizedSteps::rounded(size_t quotients, const QuantizedInput& result, DType type, size_t behind) {
  size_t numbers = map(MapFunction::round, quotients);
  if (!is_zero(result.zero))
    numbers = zip(ZipFunction::add, numbers, cast(DType::f32, placed(result.zero, behind)));
  return cast(has(result.zero) ? node_.type(result.zero).dtype : type, numbers);
}

}  // namespace lathe
