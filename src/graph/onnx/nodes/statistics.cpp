#include "graph/onnx/nodes/statistics.h"

#include <fmt/format.h>

#include "graph/onnx/nodes/node_steps.h"

namespace lathe {

ImportedOutputs import_batch_norm_outputs(OnnxNode& node) {
  constexpr size_t kData = 0, kScale = 1, kShift = 2, kMean = 3, kVariance = 4;
  const bool trains = node.integer("training_mode", 0) != 0;
  const double momentum = node.real("momentum", 0.9);
  LATHE_TRY(const BatchNormOp op, import_batch_norm(node));
  if (!trains) return std::vector<ImportedOutput>{GraphOp(op)};
  std::vector<TensorType> types;
  for (size_t i = 0; i < node.input_count(); ++i) types.push_back(node.type(i));
  LATHE_TRY(const TensorType result, infer(op, types));
  std::vector<size_t> axes{0};
  for (size_t d = 2; d < result.shape.size(); ++d) axes.push_back(d);
  const Shape channels{result.shape[1]};
  NodeSteps steps(node.input_count());
  const size_t mean = steps.reduce(ReduceFunction::mean, kData, axes);
  const size_t centred = steps.minus(kData, mean);
  const size_t variance =
      steps.reshape(steps.reduce(ReduceFunction::mean, steps.times(centred, centred), axes), channels);
  const size_t own_mean = steps.reshape(mean, channels);
  steps.give(steps.add(op, {kData, kScale, kShift, own_mean, variance}));
  const size_t kept = steps.real(momentum), taken = steps.real(1 - momentum);
  const auto give_moved = [&](size_t running, size_t own) {
    steps.give(steps.plus(steps.times(running, kept), steps.times(own, taken)));
  };
  give_moved(kMean, own_mean);
  give_moved(kVariance, variance);
  return steps.outputs();
}

ImportedOutputs import_any_reduce(OnnxNode& node, ReduceFunction function) {
  LATHE_TRY(const ReduceOp op, import_reduce(node, function));
  const bool chooses = function == ReduceFunction::max || function == ReduceFunction::min;
  if (!chooses || node.type(0).dtype != DType::boolean) return std::vector<ImportedOutput>{GraphOp(op)};
  NodeSteps steps(1);  // the axes are no operand
  steps.give(steps.cast(DType::boolean, steps.add(op, {steps.cast(DType::u8, 0)})));
  return steps.outputs();
}

}  // namespace lathe
