#include "task/task.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "expr/structural_hash.h"

namespace lathe {
namespace {

int64_t count(const Expr& e);

// Counts the operations of one evaluation (flops_of in the header has the rule).
struct OperationCounter {
  int64_t operator()(const Literal&) const { return 0; }
  int64_t operator()(const Index&) const { return 0; }
  int64_t operator()(const Load&) const { return 0; }
  int64_t operator()(const Ramp&) const { return 0; }
  int64_t operator()(const Unary& e) const { return counts(e.operand) + count(e.operand); }
  int64_t operator()(const Binary& e) const { return counts(e.a) + count(e.a) + count(e.b); }
  int64_t operator()(const Select& e) const {
    return count(e.condition) + std::max(count(e.if_true), count(e.if_false));
  }
  int64_t operator()(const Cast& e) const { return count(e.operand); }
  int64_t operator()(const BitCast& e) const { return count(e.operand); }
  int64_t operator()(const Broadcast& e) const { return count(e.operand); }
  int64_t operator()(const Call&) const { return 0; }  // lowered programs only

  // An operator counts if what it works on is a value, not an index or a condition.
  static int64_t counts(const Expr& operand) {
    const DType dtype = operand.type().dtype;
    return dtype != DType::i64 && dtype != DType::boolean ? 1 : 0;
  }
};

int64_t count(const Expr& e) { return std::visit(OperationCounter{}, e->node); }

void add(Hasher& hasher, const Argument& argument) {
  hasher.add(argument.is_constant ? 1 : 0)
      .add(argument.is_output ? 1 : 0)
      .add(argument.layout_is_free ? 1 : 0);
  for (const LayoutDim& part : argument.layout.dims) {
    hasher.add(part.dim).add(part.divide).add(part.modulo).add(part.extra);
  }
}

}  // namespace

Result<Task> make_task(std::string name, Dag dag, Target target, const std::vector<std::string>& constants,
                       bool free_layouts) {
  LATHE_TRY_STATUS(verify(dag));
  if (const int cores = cores_of(target); cores < 1)
    return fail(ErrorKind::invalid_argument, fmt::format("{} cores cannot run anything", cores));
  Task task{std::move(name), std::move(dag), std::move(target), {}};
  const auto add_argument = [&](const Tensor& tensor, bool is_constant, bool is_output) {
    task.arguments.push_back({tensor, is_constant, is_output, free_layouts && !is_constant,
                              Layout::row_major(tensor->shape.size())});
  };
  for (const Tensor& input : task.dag.inputs) {
    add_argument(input, std::ranges::find(constants, input->name) != constants.end(), false);
  }
  for (const std::string& constant : constants) {
    const auto is_it = [&](const Tensor& input) { return input->name == constant; };
    if (std::ranges::none_of(task.dag.inputs, is_it)) {
      return fail(ErrorKind::invalid_argument, fmt::format("constant '{}' is no input", constant));
    }
  }
  for (const Tensor& output : task.dag.outputs) add_argument(output, false, true);
  return task;
}

uint64_t hash_of(const Task& task) {
  Hasher hasher;
  hasher.add(hash_of(task.dag)).add(task.target.name).add(cores_of(task.target));
  for (const Argument& argument : task.arguments) add(hasher, argument);
  if (task.runs_cold) hasher.add("cold");
  if (!task.algorithm.empty()) hasher.add("algorithm").add(task.algorithm);
  return hasher.finish();
}

int64_t flops_of(const Dag& dag) {
  int64_t operations = 0;
  for (const Compute& compute : dag.computes) {
    int64_t points = 1;
    for (const Axis& axis : compute.axes) points *= axis.extent;
    operations += points * (count(compute.body) + (compute.reduction != Reduction::none ? 1 : 0));
  }
  return operations;
}

int64_t bytes_of(const Dag& dag) {
  int64_t bytes = 0;
  for (const std::vector<Tensor>* tensors : {&dag.inputs, &dag.outputs}) {
    for (const Tensor& tensor : *tensors) bytes += tensor.elements() * bytes_of(tensor->dtype);
  }
  return bytes;
}

}  // namespace lathe
