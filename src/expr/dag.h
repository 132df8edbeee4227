// A tensor program as mathematics: inputs, and computes in topological order, each giving every element of
// one tensor by a scalar body over spatial and reduce axes. This is what a user writes and what a task is; it
// says nothing of order, memory or machine. Values: copies share tensors and bodies.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "expr/expr.h"

namespace lathe {

enum class AxisKind : uint8_t { spatial, reduce };

// An axis runs 0 .. extent - 1. Converts to an expression, so that bodies read `A(i, r)`.
struct Axis {
  Var var;
  int64_t extent = 1;
  AxisKind kind = AxisKind::spatial;

  operator Expr() const { return Expr(var); }  // NOLINT: an axis stands for its variable
};
Axis spatial(std::string name, int64_t extent);
Axis reduce(std::string name, int64_t extent);

enum class Reduction : uint8_t { none, sum, max, min };
// The value that a reduction starts from: 0, -infinity, +infinity.
double identity_of(Reduction reduction);

struct Compute {
  Tensor output;           // shape = the spatial axes' extents, in order
  std::vector<Axis> axes;  // spatial axes in the order of the output's dimensions, then reduce axes
  Reduction reduction = Reduction::none;  // `none` exactly if there is no reduce axis
  Expr body;

  size_t spatial_count() const { return output->shape.size(); }
};

struct Dag {
  std::vector<Tensor> inputs;     // the arguments that are read, in order
  std::vector<Compute> computes;  // producers before consumers
  std::vector<Tensor> outputs;    // the arguments that are written, in order; each is some compute's output

  // The compute that gives `tensor`, or null for an input or literal.
  const Compute* producer(const Tensor& tensor) const;
  // Indices into `computes` of those that read `tensor`.
  std::vector<size_t> consumers(const Tensor& tensor) const;
  bool is_output(const Tensor& tensor) const;
};

// A reduction in the making: `sum({r}, A(i, r) * B(r, j))`.
struct ReduceExpr {
  Reduction reduction;
  std::vector<Axis> axes;
  Expr body;
};
inline ReduceExpr sum(std::vector<Axis> axes, Expr body) {
  return {Reduction::sum, std::move(axes), std::move(body)};
}
inline ReduceExpr max_over(std::vector<Axis> axes, Expr body) {
  return {Reduction::max, std::move(axes), std::move(body)};
}
inline ReduceExpr min_over(std::vector<Axis> axes, Expr body) {
  return {Reduction::min, std::move(axes), std::move(body)};
}

// Collects a Dag: inputs and computes in the order in which they are written.
class DagBuilder {
 public:
  Tensor input(std::string name, std::vector<int64_t> shape, DType dtype = DType::f32);
  Tensor compute(std::string name, std::vector<Axis> axes, Expr body);
  Tensor compute(std::string name, std::vector<Axis> axes, ReduceExpr body);
  void output(const Tensor& tensor) { dag_.outputs.push_back(tensor); }
  // The Dag; an Error names the compute that reads outside its operand, divides by zero or has clashing
  // names.
  Result<Dag> build() const;

 private:
  Dag dag_;
};

// Checks what `DagBuilder::build` promises, for Dags made otherwise.
Status verify(const Dag& dag);

}  // namespace lathe
