// lathe/computation.h.
#include "lathe/computation.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/compiler_version.h"
#include "lathe/lathe.h"
#include "ops/all.h"
#include "session/commands/write_model.h"
#include "session/computation_state.h"
#include "session/load_source.h"

namespace lathe {
namespace {

ProgramSource source_on(const TargetChoice& target, bool exact_specials) {
  ProgramSource source;
  source.target = target.name;
  source.cores = target.cores;
  source.exact_specials = exact_specials;
  return source;
}

Status check_cores(const TargetChoice& target) {
  if (target.cores >= 0) return {};
  return fail(ErrorKind::invalid_argument, "the number of cores must be at least 1, or 0 for all", "cores");
}

// An Error names the input whose bounds are none.
Result<SizeChoices> sizes_of(const NetworkFile& file) {
  SizeChoices sizes;
  if (file.batch < 0)
    return fail(ErrorKind::invalid_argument,
                fmt::format("the batch is {}, it must be at least 1", file.batch));
  if (file.batch > 0) sizes.batch = file.batch;
  for (const auto& [input, axes] : file.free) {
    const auto shape = file.inputs.find(input);
    for (const FreeSize& size : axes) {
      const auto axis = static_cast<size_t>(size.axis);
      const bool fits = shape != file.inputs.end() && size.axis >= 0 && axis < shape->second.size() &&
                        1 <= size.least && size.least <= size.most && shape->second[axis] == size.most;
      if (!fits)
        return fail(ErrorKind::invalid_argument,
                    fmt::format("axis {} of input '{}' cannot be free from {} to {}: its shape, with the "
                                "largest extents, must be given too",
                                size.axis, input, size.least, size.most));
      if (size.least < size.most) sizes.free[input].push_back({axis, size.name, size.least, size.most});
    }
  }
  return sizes;
}

}  // namespace

std::string version() { return compiler_version(); }

Result<std::string> describe_target(const TargetChoice& choice) {
  LATHE_TRY_STATUS(check_cores(choice));
  LATHE_TRY(const Target target, target_of(source_on(choice, false)));
  return print(target);
}

TensorInfo tensor_info(std::string name, DType dtype, std::vector<int64_t> shape, bool is_constant) {
  TensorInfo info;
  info.name = std::move(name);
  info.type = to_string(dtype);
  info.least = shape;
  info.shape = std::move(shape);
  info.is_constant = is_constant;
  return info;
}

std::vector<int64_t> least_shape(const FreeSizes& free, bool is_output, size_t tensor,
                                 std::vector<int64_t> shape) {
  for (const FreeExtent& extent : free.extents) {
    if (extent.is_output == is_output && extent.tensor == tensor)
      shape[extent.axis] = extent.outer * extent.inner * free.dimensions[extent.dimension].least;
  }
  return shape;
}

Result<Computation> make_operator(const Formula& formula, const TargetChoice& target) {
  LATHE_TRY_STATUS(check_cores(target));
  LATHE_TRY_STATUS(check_name(formula.name, 1));
  auto state = std::make_shared<Computation::State>();
  state->source = source_on(target, formula.exact_specials);
  state->name = formula.name;
  LATHE_TRY(state->target, target_of(state->source));
  const nlohmann::json entry = {
      {"name", formula.name}, {"op", "expression"}, {"text", formula.text}, {"constants", formula.constants}};
  Workload workload;
  workload.name = formula.name;
  workload.op = "expression";
  LATHE_TRY(workload.operation, make_operator(workload.op, entry));
  workload.entry = entry.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  LATHE_TRY([[maybe_unused]] const Task task,
            task_of(workload, state->target, false, formula.exact_specials));
  state->workload = std::move(workload);
  return Computation(std::move(state));
}

Result<Computation> make_network(const NetworkFile& file, const TargetChoice& target) {
  LATHE_TRY_STATUS(check_cores(target));
  auto state = std::make_shared<Computation::State>();
  state->source = source_on(target, file.exact_specials);
  state->source.model = file.path;
  state->source.input_shapes = {file.inputs.begin(), file.inputs.end()};
  LATHE_TRY(state->source.sizes, sizes_of(file));
  LATHE_TRY(state->target, target_of(state->source));
  LATHE_TRY(Network network, load_network(state->source, state->target));
  state->name = storable_name(network.name);
  state->network = std::make_shared<const Network>(std::move(network));
  return Computation(std::move(state));
}

const std::string& Computation::name() const { return state_->name; }

std::vector<TensorInfo> Computation::inputs() const {
  std::vector<TensorInfo> infos;
  if (state_->workload) {
    const Operator& operation = state_->workload->operation;
    for (const Tensor& input : operation.dag.inputs) {
      const bool is_constant =
          std::ranges::find(operation.constants, input->name) != operation.constants.end();
      infos.push_back(tensor_info(input->name, input->dtype, input->shape, is_constant));
    }
    return infos;
  }
  const Graph& graph = state_->network->graph;
  const FreeSizes& free = state_->network->free;
  // Behind its own inputs are counts of free sizes.
  const auto counts = std::ranges::count(free.dimensions, SizedBy::count, &FreeDimension::by);
  for (size_t i = 0; i + static_cast<size_t>(counts) < graph.inputs.size(); ++i) {
    const GraphTensor& tensor = graph.tensors[graph.inputs[i]];
    infos.push_back(tensor_info(tensor.name, tensor.type.dtype, tensor.type.shape, false));
    infos.back().least = least_shape(free, false, i, tensor.type.shape);
  }
  return infos;
}

std::vector<TensorInfo> Computation::outputs() const {
  std::vector<TensorInfo> infos;
  if (state_->workload) {
    for (const Tensor& output : state_->workload->operation.dag.outputs)
      infos.push_back(tensor_info(output->name, output->dtype, output->shape, false));
    return infos;
  }
  const Graph& graph = state_->network->graph;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const GraphTensor& tensor = graph.tensors[graph.outputs[i]];
    infos.push_back(tensor_info(tensor.name, tensor.type.dtype, tensor.type.shape, false));
    infos.back().least = least_shape(state_->network->free, true, i, tensor.type.shape);
  }
  return infos;
}

std::vector<std::string> Computation::notes() const {
  return state_->network ? state_->network->graph.notes : std::vector<std::string>();
}

}  // namespace lathe
