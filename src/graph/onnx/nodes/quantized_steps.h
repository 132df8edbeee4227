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
  explicit QuantizedSteps(const OnnxNode& node) : node_(node), own_(node.input_count()), steps_(own_) {}
  // Adds to the steps of the same node, which must outlive the object.
  QuantizedSteps(const OnnxNode& node, StepList& steps) : node_(node), own_(0), steps_(steps) {}
  QuantizedSteps(const QuantizedSteps&) = delete;
  QuantizedSteps& operator=(const QuantizedSteps&) = delete;

  const OnnxNode& node() const { return node_; }
  size_t add(GraphOp op, std::vector<size_t> reads) { return steps_.add(std::move(op), std::move(reads)); }
  size_t zip(ZipFunction function, size_t a, size_t b) { return add(ZipOp{function}, {a, b}); }
  size_t map(MapFunction function, size_t x) { return add(MapOp{function}, {x}); }
  size_t cast(DType to, size_t x) { return add(CastOp{to}, {x}); }
  size_t real(double value) { return steps_.real(value); }
  size_t whole(int64_t number) { return steps_.constant(DType::i32, {}, {static_cast<double>(number)}); }
  std::vector<ImportedStep> finish() { return steps_.finish(); }

  // A step that stands where the number of an input does.
  static size_t step_as_input(size_t step) { return kFirstStep + step; }
  bool has(size_t input) const { return input != kNoInput && (is_step(input) || node_.has_input(input)); }
  // Whether the zero point is 0 whatever runs.
  bool is_zero(size_t input) const;
  // The step of an input of one number, or of several along an axis with so many axes behind it. What has
  // more axes than one, or is a step, is left as it is.
  size_t placed(size_t input, size_t behind);
  // What an input's numbers stand for, in f32; `behind` as for `placed`.
  size_t dequantized(const QuantizedInput& input, size_t behind = 0);
  // Numbers of f32 over the scale, rounded, beyond the zero point, in the nearest of its type's numbers
  // (`type` where there is no zero point).
  size_t quantized(size_t reals, const QuantizedInput& result, DType type, size_t behind = 0);
  // The same of numbers that are over the scale already.
  size_t rounded(size_t quotients, const QuantizedInput& result, DType type, size_t behind = 0);

 private:
  static constexpr size_t kFirstStep = size_t{1} << 32;  // no node has as many inputs
  static bool is_step(size_t input) { return input >= kFirstStep; }

  const OnnxNode& node_;
  StepList own_;
  StepList& steps_;
};

}  // namespace lathe
