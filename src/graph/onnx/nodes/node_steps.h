// The steps of a node that becomes several operators, by short names for the operators that most are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph/onnx/steps.h"

namespace lathe {

class NodeSteps {
 public:
  // `operands`: how many operands of the graph's nodes the ONNX node has.
  explicit NodeSteps(size_t operands) : steps_(operands) {}

  // For what adds steps by itself.
  StepList& list() {
    last_ = SIZE_MAX;
    return steps_;
  }
  size_t add(GraphOp op, std::vector<size_t> reads) {
    last_ = steps_.add(std::move(op), std::move(reads));
    return last_;
  }

  size_t constant(DType dtype, const Shape& shape, const std::vector<double>& values) {
    last_ = SIZE_MAX;
    return steps_.constant(dtype, shape, values);
  }
  // One f32, one i64, and several i64.
  size_t real(double value) { return constant(DType::f32, {}, {value}); }
  size_t whole(int64_t value) { return integers({}, {value}); }
  size_t integers(const Shape& shape, const Shape& values) {
    last_ = SIZE_MAX;
    return steps_.integers(shape, values);
  }
  // 0, step, 2 step .. as i64, as many as the shape has elements.
  size_t counted(const Shape& shape, int64_t step = 1);

  size_t zip(ZipFunction function, size_t a, size_t b) { return add(ZipOp{function}, {a, b}); }
  size_t plus(size_t a, size_t b) { return zip(ZipFunction::add, a, b); }
  size_t minus(size_t a, size_t b) { return zip(ZipFunction::sub, a, b); }
  size_t times(size_t a, size_t b) { return zip(ZipFunction::mul, a, b); }
  size_t map(MapFunction function, size_t x, double a = 0, double b = 0) {
    return add(MapOp{function, a, b}, {x});
  }
  size_t cast(DType to, size_t x) { return add(CastOp{to}, {x}); }
  size_t where(size_t condition, size_t then, size_t otherwise) {
    return add(WhereOp{}, {condition, then, otherwise});
  }
  size_t matmul(size_t a, size_t b) { return add(MatMulOp{}, {a, b}); }
  size_t reduce(ReduceFunction function, size_t x, std::vector<size_t> axes, bool keeps_axes = true);

  size_t reshape(size_t x, Shape shape) { return add(ReshapeOp{std::move(shape)}, {x}); }
  size_t expand(size_t x, Shape shape) { return add(ExpandOp{std::move(shape)}, {x}); }
  // Nothing where the order is the one that there is.
  size_t transpose(size_t x, const std::vector<size_t>& order);
  size_t gather(size_t x, size_t axis, size_t places) { return add(GatherByOp{axis}, {x, places}); }
  size_t concat(size_t axis, std::vector<size_t> parts) { return add(ConcatOp{axis}, std::move(parts)); }
  // `count` places of an axis of x, which has this shape.
  size_t part(size_t x, const Shape& shape, size_t axis, int64_t first, int64_t count, int64_t step = 1);
  // Zeros beside x, as many before and behind each axis.
  size_t pad(size_t x, Shape before, Shape after) {
    return add(PadOp{std::move(before), std::move(after)}, {x});
  }

  // Makes x the node's next output.
  void give(size_t x);
  std::vector<ImportedOutput> outputs() { return std::move(outputs_); }

 private:
  StepList steps_;
  size_t last_ = SIZE_MAX;  // the last step, where it is an operator and ends no output
  std::vector<ImportedOutput> outputs_;
};

// The elements of a shape's axes from `first` to before `last`.
int64_t elements_between(const Shape& shape, size_t first, size_t last);

}  // namespace lathe
