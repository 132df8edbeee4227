// A tensor program as mathematics: inputs, and computes in topological order, each giving every element of
// one tensor by a scalar body over spatial and reduce axes. This is what a user writes and what a task is; it
// says nothing of order, memory or machine. Values: copies share tensors and bodies.
#pragma once

#include <map>
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

enum class Reduction : uint8_t { none, sum, max, min, product };
// The value that a reduction starts from: 0, -infinity, +infinity, 1.
double identity_of(Reduction reduction);
// Whether each term is rounded into the result: a sum's and a product's, not a choice's.
inline bool accumulates(Reduction reduction) {
  return reduction == Reduction::sum || reduction == Reduction::product;
}

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

// What `Dag::consumers` says of every tensor, from one walk over the Dag. Says nothing of a Dag that changed
// since.
class Consumers {
 public:
  explicit Consumers(const Dag& dag);
  const std::vector<size_t>& of(const Tensor& tensor) const;

 private:
  std::map<const TensorNode*, std::vector<size_t>> readers_;
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
inline ReduceExpr product_over(std::vector<Axis> axes, Expr body) {
  return {Reduction::product, std::move(axes), std::move(body)};
}

// Collects a Dag: inputs and computes in the order in which they are written. Axes may serve several
// computes: each compute gets variables of its own.
class DagBuilder {
 public:
  Tensor input(std::string name, std::vector<int64_t> shape, DType dtype = DType::f32);
  // The output's element type is the body's.
  Tensor compute(std::string name, std::vector<Axis> axes, Expr body);
  Tensor compute(std::string name, std::vector<Axis> axes, ReduceExpr body);
  // Without any call, the outputs are the computes that nobody reads.
  void output(const Tensor& tensor) { dag_.outputs.push_back(tensor); }
  // `name`, or with a number behind it where that is taken: for the nodes that an operator adds by itself.
  std::string fresh_name(const std::string& name) const;
  // The Dag, verified.
  Result<Dag> build() const;

 private:
  Tensor add(std::string name, std::vector<Axis> axes, Reduction reduction, Expr body);
  Dag dag_;
};

// An Error, naming the compute, unless: names are distinct identifiers (axis names: within their compute);
// extents are positive; an axis belongs to one compute, spatial axes come first and give the output's shape;
// bodies are scalar, use only their own axes, inputs, tables and earlier computes, and stay inside them as
// far as ranges and the selects around a read tell (an indirect index is the user's word); a constant that
// divides integers is positive; every compute is read or an output.
Status verify(const Dag& dag);

// Letters, digits, '_' and '.', starting with a letter or '_'.
bool is_identifier(std::string_view text);

}  // namespace lathe
