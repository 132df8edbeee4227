// The steps of nodes on quantized tensors: integers of 8 or 16 bits that stand for real numbers, by a scale
// and a zero point that are one number, or one for each place of an axis.
#pragma once

#include <utility>
#include <vector>

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// An input that a node does not have.
constexpr size_t kNoInput = SIZE_MAX;

// The inputs of a node that hold a quantized tensor's numbers, scale and zero point.
struct QuantizedInput {
  size_t numbers = kNoInput;
  size_t scale = kNoInput;
  size_t zero = kNoInput;
};

class QuantizedSteps {
 public:
  // `node` must outlive the object.
  explicit QuantizedSteps(const OnnxNode& node) : node_(node), steps_(node.input_count()) {}

  const OnnxNode& node() const { return node_; }
  size_t add(GraphOp op, std::vector<size_t> reads) { return steps_.add(std::move(op), std::move(reads)); }
  size_t zip(ZipFunction function, size_t a, size_t b) { return add(ZipOp{function}, {a, b}); }
  size_t map(MapFunction function, size_t x) { return add(MapOp{function}, {x}); }
  size_t cast(DType to, size_t x) { return add(CastOp{to}, {x}); }
  size_t real(double value) { return steps_.real(value); }
  size_t whole(int64_t number) { return steps_.constant(DType::i32, {}, {static_cast<double>(number)}); }
  std::vector<ImportedStep> finish() { return steps_.finish(); }

  bool has(size_t input) const { return input != kNoInput && node_.has_input(input); }
  // Whether the zero point is 0 whatever runs.
  bool is_zero(size_t input) const;
  // An input of one number, or of several along an axis with so many axes behind it. What has more axes than
  // one is left as it is.
  size_t placed(size_t input, size_t behind);
  // What an input's numbers stand for, in f32; `behind` as for `placed`.
  size_t dequantized(const QuantizedInput& input, size_t behind = 0);
  // Numbers of f32 over the scale, rounded, beyond the zero point, in the nearest of its type's numbers
  // (`type` where there is no zero point).
  size_t quantized(size_t reals, const QuantizedInput& result, DType type, size_t behind = 0);
  // The same of numbers that are over the scale already.
  size_t rounded(size_t quotients, const QuantizedInput& result, DType type, size_t behind = 0);

 private:
  const OnnxNode& node_;
  StepList steps_;
};

}  // namespace lathe
