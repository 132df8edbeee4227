#include "artifact/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "artifact/weights.h"
#include "artifact/write/emit_sources.h"
#include "artifact/write/runtime_bytes.h"
#include "base/abridged.h"
#include "base/check.h"
#include "base/hash.h"
#include "compile/compile.h"
#include "expr/index_limit.h"
#include "schedule/apply.h"

namespace lathe {
namespace {

ModelTensor model_tensor(const Argument& argument) {
  const std::vector<int64_t>& shape = argument.tensor->shape;
  const bool is_plain = is_row_major(argument.layout, shape);
  return {argument.tensor->name, argument.tensor->dtype, shape, argument.is_constant,
          is_plain ? Layout::row_major(shape.size()) : argument.layout};
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// What leaves room for the rest of "liblathe_NAME.so", a file's name.
constexpr size_t kLongestName = 255 - std::string_view("liblathe_.so").size();

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

std::string symbol_prefix(size_t number) { return fmt::format("lathe_task{}", number); }

const char* to_string(Checked checked) {
  switch (checked) {
    case Checked::none: return "none";
    case Checked::sampled: return "sampled";
    case Checked::full: return "full";
  }
  return "none";
}

Result<CompiledTask> compile_task(const Task& task, const Trace& trace, std::optional<int64_t> record,
                                  size_t number) {
  CompiledTask result{task, trace, record, {}, {}};
  LATHE_TRY(result.program, apply_trace(task, trace));
  CompileOptions options;
  options.symbol_prefix = symbol_prefix(number);
  LATHE_TRY(result.module, compile_program(result.program, task.target, options));
  return result;
}

std::string storable_name(const std::string& name) {
  using nlohmann::json;
  const std::string text = json(name).dump(-1, ' ', false, json::error_handler_t::replace);
  auto result = json::parse(text).get<std::string>();
  std::ranges::replace(result, '\0', '_');
  return result;
}

Model operator_model(const std::string& name, const std::string& op, const Task& task,
                     CompiledTask compiled) {
  Model model;
  model.name = storable_name(name);
  model.target = compiled.task.target;
  ModelLaunch launch{model.name, 0, {}, {op}};
  for (size_t i = 0; i < task.arguments.size(); ++i) {
    const Argument& argument = compiled.program.arguments[i];
    std::vector<ModelTensor>& tensors = argument.is_output ? model.outputs : model.inputs;
    launch.buffers.push_back({argument.is_output ? ModelStorage::output : ModelStorage::input,
                              static_cast<int64_t>(tensors.size())});
    tensors.push_back(model_tensor(argument));
    const Tensor& tensor = task.arguments[i].tensor;
    tensors.back().name = tensor->name;
    if (!is_float(tensor->dtype) && !argument.is_output)
      tensors.back().index_range = index_range(task.dag, tensor);
  }
  for (size_t i = launch.buffers.size(); i < compiled.module.buffers.size(); ++i) {
    launch.buffers.push_back({ModelStorage::resident, model.resident_bytes});
    model.resident_bytes += aligned(compiled.module.buffers[i].bytes);
  }
  if (!compiled.module.prepare_symbol.empty()) model.prepares.push_back(launch);
  model.launches.push_back(std::move(launch));
  model.kernels.push_back(std::move(compiled));
  model.weights_bytes = kWeightsHeadBytes;
  return model;
}

int64_t run_bytes(const Model& model) {
  int64_t bytes = model.weights_bytes + model.arena_bytes + model.resident_bytes;
  for (const auto* tensors : {&model.inputs, &model.outputs})
    for (const ModelTensor& tensor : *tensors) bytes += bytes_of(TensorType{tensor.dtype, tensor.shape});
  int64_t workspace = 0;
  for (const CompiledTask& kernel : model.kernels)
    workspace = std::max(workspace, kernel.module.workspace_bytes);
  return bytes + workspace;
}

std::string public_prefix(const Model& model) {
  std::string name = model.name.substr(0, kLongestName);
  for (char& c : name) {
    if (!is_plain(c)) c = '_';
  }
  return "lathe_" + (name.empty() ? "model" : name);
}

Status check_model_name(const std::string& name) {
  if (!name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, is_plain)) return {};
  return fail(ErrorKind::invalid_argument,
              fmt::format("'{}' names no model: a name has letters, digits and underscores, at most {}",
                          abridged(name), kLongestName));
}

uint64_t build_id(const Model& model, uint64_t weights_id) {
  Hasher hasher;
  hasher.add(model_tables_source(model, 0)).add(model_runtime_archive());
  for (const CompiledTask& kernel : model.kernels) hasher.add(kernel.module.object);
  return hasher.add(weights_id).finish();
}

}  // namespace lathe
