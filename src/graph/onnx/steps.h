// What the import of a node gives: for each output an operator of the graph, a constant, or several operators
// one after another.
#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/onnx/tensor.h"

namespace lathe {

using ImportedValue = std::variant<GraphOp, OnnxConstant>;

// One of several operators that compute an output, or a constant that they read. An operator reads by
// numbers: those of the node's operands, after them those of all steps before, of earlier outputs too.
struct ImportedStep {
  ImportedValue value;
  std::vector<size_t> reads = {};
};

// An output of which only a run of the model tells how long it is along an axis: the steps give it at its
// largest extent, and a step, an i64, says how many places from the first on count.
struct CountedOutput {
  std::vector<ImportedStep> steps;
  size_t axis = 0;
  size_t count = 0;  // the number of a step
};

// What one output of a node is: an operator of the graph over the node's operands, a constant, or what the
// last of several steps gives, all of it or the first places.
using ImportedOutput = std::variant<GraphOp, OnnxConstant, std::vector<ImportedStep>, CountedOutput>;
using ImportedOutputs = Result<std::vector<ImportedOutput>>;

// The same as steps, one where it is one operator of all operands or a constant.
std::vector<ImportedStep> steps_of(ImportedOutput output, size_t operands);

// Collects steps; each call gives the number by which later ones read what it adds.
class StepList {
 public:
  // `operands`: how many operands of the graph's nodes the ONNX node has.
  explicit StepList(size_t operands) : operands_(operands) {}

  size_t add(GraphOp op, std::vector<size_t> reads) {
    ImportedStep& step = steps_.emplace_back();
    step.value.emplace<GraphOp>(std::move(op));
    step.reads = std::move(reads);
    return operands_ + steps_.size() - 1;
  }
  size_t add(OnnxConstant constant) {
    steps_.push_back({std::move(constant)});
    return operands_ + steps_.size() - 1;
  }
  size_t constant(DType dtype, const Shape& shape, const std::vector<double>& values) {
    return add(OnnxConstant{{dtype, shape}, to_bytes(dtype, values)});
  }
  // One f32.
  size_t real(double value) { return constant(DType::f32, {}, {value}); }
  // As i64.
  size_t integers(const Shape& shape, const Shape& values) {
    return constant(DType::i64, shape, {values.begin(), values.end()});
  }
  // Tensors side by side along an axis, however many.
  size_t joined(std::vector<size_t> parts, size_t axis);
  // The steps since the last call, which give one output.
  std::vector<ImportedStep> finish() {
    operands_ += steps_.size();
    return std::exchange(steps_, {});
  }

 private:
  size_t operands_;  // and the steps of earlier outputs
  std::vector<ImportedStep> steps_;
};

}  // namespace lathe
