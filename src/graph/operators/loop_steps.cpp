#include "graph/operators/loop_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/axes.h"

namespace lathe {
namespace {

std::string text_of(const StepLoop& loop) {
  return fmt::format("loop '{}', {} steps", loop.name, loop.steps);
}
const char* direction(bool backwards) { return backwards ? ", backwards" : ""; }

Status require_truth(const TensorType& type, size_t operand) {
  const bool is_truth = type.dtype == DType::boolean && elements_of(type.shape) == 1;
  if (is_truth) return {};
  return fail(ErrorKind::invalid_argument,
              fmt::format("input {} is {}, and must be one bool", operand, to_string(type)));
}

// Where a step's part lies among all.
size_t place_of(int64_t step, int64_t steps, bool backwards) {
  return static_cast<size_t>(backwards ? steps - 1 - step : step);
}

}  // namespace

std::string attributes_of(const TakeStepOp& op) { return text_of(op.loop) + direction(op.backwards); }
std::string attributes_of(const StepStateOp& op) {
  return fmt::format("{}, state {}", text_of(op.loop), op.number);
}
std::string attributes_of(const LastStateOp& op) {
  return fmt::format("{}, state {}", text_of(op.loop), op.number);
}
std::string attributes_of(const StackStepsOp& op) {
  const std::string slot = op.slot > 0 ? fmt::format(", rows of {}", op.slot) : "";
  return text_of(op.loop) + direction(op.backwards) + slot;
}
std::string attributes_of(const StepsWhileOp& op) { return text_of(op.loop); }
std::string attributes_of(const CopyOp& op) { return op.inside ? text_of(*op.inside) : ""; }

Result<TensorType> infer(const TakeStepOp& op, std::span<const TensorType> inputs) {
  const Shape& shape = inputs[0].shape;
  if (!shape.empty() && shape[0] == op.loop.steps)
    return TensorType{inputs[0].dtype, {shape.begin() + 1, shape.end()}};
  return fail(ErrorKind::invalid_argument,
              fmt::format("{} does not have a place for each of {} steps", to_string(shape), op.loop.steps));
}

Result<TensorType> infer(const StepStateOp&, std::span<const TensorType> inputs) { return inputs[0]; }
Result<TensorType> infer(const LastStateOp&, std::span<const TensorType> inputs) { return inputs[0]; }

Result<TensorType> infer(const StackStepsOp& op, std::span<const TensorType> inputs) {
  const TensorType& step = inputs[0];
  if (op.loop.steps < 1) return fail(ErrorKind::invalid_argument, "its loop has no steps");
  if (op.slot == 0) {
    TensorType all{step.dtype, {op.loop.steps}};
    all.shape.insert(all.shape.end(), step.shape.begin(), step.shape.end());
    return all;
  }
  if (op.slot >= elements_of(step.shape)) return TensorType{step.dtype, {op.loop.steps, op.slot}};
  return fail(ErrorKind::invalid_argument,
              fmt::format("{} has more elements than a row of {}", to_string(step.shape), op.slot));
}

Result<TensorType> infer(const StepsWhileOp&, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_truth(inputs[0], 0));
  LATHE_TRY_STATUS(require_truth(inputs[1], 1));
  return inputs[0];
}

Result<TensorType> infer(const CopyOp&, std::span<const TensorType> inputs) { return inputs[0]; }
Values evaluate(const CopyOp&, std::span<const Values> inputs) { return inputs[0]; }

Tensor lower(const CopyOp&, DagBuilder& builder, std::span<const Tensor> operands) {
  const std::vector<Axis> axes = axes_with(operands[0]->shape);
  return builder.compute("copy", axes, load(operands[0], indices(axes)));
}

Values evaluate_step(const TakeStepOp& op, const Values& operand, int64_t step) {
  Values part{{operand.shape.begin() + 1, operand.shape.end()}, {}, operand.dtype};
  const auto count = static_cast<size_t>(elements_of(part.shape));
  const auto first =
      operand.data.begin() + static_cast<std::ptrdiff_t>(place_of(step, op.loop.steps, op.backwards) * count);
  part.data.assign(first, first + static_cast<std::ptrdiff_t>(count));
  return part;
}

Values evaluate_steps(const StackStepsOp& op, const std::vector<Values>& operands) {
  const Values& first = operands.front();
  Values all{infer(op, std::vector<TensorType>{{first.dtype, first.shape}})->shape, {}, first.dtype};
  all.data.resize(static_cast<size_t>(elements_of(all.shape)));
  const size_t row = all.data.size() / static_cast<size_t>(op.loop.steps);
  for (size_t step = 0; step < operands.size(); ++step) {
    const size_t place = place_of(static_cast<int64_t>(step), op.loop.steps, op.backwards) * row;
    std::ranges::copy(operands[step].data, all.data.begin() + static_cast<std::ptrdiff_t>(place));
  }
  return all;
}

}  // namespace lathe
