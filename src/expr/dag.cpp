#include "expr/dag.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "expr/inputs.h"
#include "expr/walk.h"

namespace lathe {

Axis spatial(std::string name, int64_t extent) { return {Var(std::move(name)), extent, AxisKind::spatial}; }
Axis reduce(std::string name, int64_t extent) { return {Var(std::move(name)), extent, AxisKind::reduce}; }

double identity_of(Reduction reduction) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (reduction) {
    case Reduction::none:
    case Reduction::sum: return 0;
    case Reduction::max: return -kInfinity;
    case Reduction::min: return kInfinity;
    case Reduction::product: return 1;
  }
  return 0;
}

const Compute* Dag::producer(const Tensor& tensor) const {
  const auto found = std::ranges::find(computes, tensor, &Compute::output);
  return found == computes.end() ? nullptr : &*found;
}

std::vector<size_t> Dag::consumers(const Tensor& tensor) const {
  std::vector<size_t> readers;
  for (size_t i = 0; i < computes.size(); ++i) {
    const std::vector<const Load*> loads = loads_of(computes[i].body);
    if (std::ranges::find(loads, tensor, &Load::tensor) != loads.end()) readers.push_back(i);
  }
  return readers;
}

Consumers::Consumers(const Dag& dag) {
  for (size_t i = 0; i < dag.computes.size(); ++i) {
    for (const Load* load : loads_of(dag.computes[i].body)) {
      std::vector<size_t>& readers = readers_[load->tensor.get()];
      if (readers.empty() || readers.back() != i) readers.push_back(i);
    }
  }
}

const std::vector<size_t>& Consumers::of(const Tensor& tensor) const {
  static const std::vector<size_t> none;
  const auto found = readers_.find(tensor.get());
  return found == readers_.end() ? none : found->second;
}

bool Dag::is_output(const Tensor& tensor) const {
  return std::ranges::find(outputs, tensor) != outputs.end();
}

Tensor DagBuilder::input(std::string name, std::vector<int64_t> shape, DType dtype) {
  return dag_.inputs.emplace_back(std::move(name), std::move(shape), dtype);
}

Tensor DagBuilder::compute(std::string name, std::vector<Axis> axes, Expr body) {
  return add(std::move(name), std::move(axes), Reduction::none, std::move(body));
}

Tensor DagBuilder::compute(std::string name, std::vector<Axis> axes, ReduceExpr body) {
  axes.insert(axes.end(), body.axes.begin(), body.axes.end());
  return add(std::move(name), std::move(axes), body.reduction, std::move(body.body));
}

Tensor DagBuilder::add(std::string name, std::vector<Axis> axes, Reduction reduction, Expr body) {
  LATHE_CHECK(body.defined());
  if (reduction != Reduction::none) body = widened(body);
  Substitution fresh;
  for (Axis& axis : axes) {
    const bool taken = std::ranges::any_of(dag_.computes, [&](const Compute& other) {
      return std::ranges::find(other.axes, axis.var, &Axis::var) != other.axes.end();
    });
    if (!taken) continue;
    const Var var(axis.var.name());
    fresh.emplace_back(axis.var, Affine(var));
    axis.var = var;
  }
  if (!fresh.empty()) body = substitute(body, fresh);
  std::vector<int64_t> shape;
  for (const Axis& axis : axes) {
    if (axis.kind == AxisKind::spatial) shape.push_back(axis.extent);
  }
  Tensor output(std::move(name), std::move(shape), body.type().dtype);
  dag_.computes.push_back({output, std::move(axes), reduction, std::move(body)});
  return output;
}

std::string DagBuilder::fresh_name(const std::string& name) const {
  const auto taken = [&](const std::string& candidate) {
    const auto named = [&](const Tensor& tensor) { return tensor->name == candidate; };
    return std::ranges::any_of(dag_.inputs, named) ||
           std::ranges::any_of(dag_.computes, named, &Compute::output);
  };
  std::string candidate = name;
  for (int i = 2; taken(candidate); ++i) candidate = fmt::format("{}.{}", name, i);
  return candidate;
}

Result<Dag> DagBuilder::build() const {
  Dag dag = dag_;
  if (dag.outputs.empty()) dag.outputs = implied_outputs(dag.computes);
  LATHE_TRY_STATUS(verify(dag));
  return dag;
}

}  // namespace lathe
