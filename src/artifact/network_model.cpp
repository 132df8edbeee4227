#include <algorithm>
#include <map>
#include <optional>

#include "artifact/model.h"
#include "artifact/weights.h"
#include "base/check.h"
#include "graph/index_inputs.h"
#include "loop/host_tensor.h"
#include "runtime/launch.h"
#include "tune/smaller_traces.h"

namespace lathe {
namespace {

template <class Element>
Bytes pack_as(const Argument& argument, const Bytes& row_major) {
  const std::span<const Element> logical(reinterpret_cast<const Element*>(row_major.data()),
                                         row_major.size() / sizeof(Element));
  const std::vector<Element> packed =
      pack<Element>(argument.layout, argument.tensor->shape, logical, Element{});
  const auto* const begin = reinterpret_cast<const std::byte*>(packed.data());
  return Bytes(begin, begin + packed.size() * sizeof(Element));
}

// A constant's row-major bytes in the layout that the program gives it.
Bytes packed(const Argument& argument, const Bytes& row_major) {
  switch (bytes_of(argument.tensor->dtype)) {
    case 1: return pack_as<uint8_t>(argument, row_major);
    case 2: return pack_as<uint16_t>(argument, row_major);
    case 4: return pack_as<uint32_t>(argument, row_major);
    default: return pack_as<uint64_t>(argument, row_major);
  }
}

// Any address does for what the kernel does not look at.
constexpr int64_t kAnywhere = 0;

class NetworkBuilder {
 public:
  NetworkBuilder(const Graph& graph, const Partition& partition, const NetworkTasks& tasks)
      : graph_(graph), partition_(partition), tasks_(tasks), plan_(plan_activations(graph, partition)) {}

  Result<Model> build(std::vector<CompiledTask> compiled) {
    LATHE_CHECK(compiled.size() == tasks_.tasks.size());
    if (compiled.empty()) return fail(ErrorKind::unsupported, "the network computes nothing", graph_.name);
    model_.name = graph_.name;
    model_.target = compiled.front().task.target;
    model_.cores = compiled.front().task.cores;
    model_.kernels = std::move(compiled);
    model_.arena_bytes = plan_.bytes;
    for (TensorId id : graph_.inputs) add_interface(model_.inputs, id, id);
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      add_interface(model_.outputs, graph_.outputs[i], partition_.outputs[i]);
    }
    int64_t most = 0;  // some uses share their constants
    for (const TaskUse& use : tasks_.uses) most += reserved_bytes(model_.kernels[use.task]);
    weights_.reserve(most);
    for (const TaskUse& use : tasks_.uses) LATHE_TRY_STATUS(add_launch(use));
    model_.weights = weights_.finish();
    return std::move(model_);
  }

 private:
  // Each block begins at a multiple of 64 bytes.
  static int64_t reserved_bytes(const CompiledTask& kernel) {
    return weight_bytes(kernel.program) + 64 * static_cast<int64_t>(kernel.module.buffers.size());
  }

  void add_interface(std::vector<ModelTensor>& tensors, TensorId id, TensorId storage) {
    const GraphTensor& tensor = graph_.tensor(id);
    places_[storage] = {&tensors == &model_.inputs ? ModelStorage::input : ModelStorage::output,
                        static_cast<int64_t>(tensors.size())};
    tensors.push_back({storable_name(tensor.name), tensor.type.dtype, tensor.type.shape, false,
                       Layout::row_major(tensor.type.shape.size())});
    if (!is_float(tensor.type.dtype)) tensors.back().index_range = index_range(graph_, id);
  }

  Status add_launch(const TaskUse& use) {
    const CompiledTask& compiled = model_.kernels[use.task];
    ModelLaunch launch{use.name, use.task, {}};
    for (size_t i = 0; i < use.arguments.size(); ++i) launch.buffers.push_back(place_of(compiled, use, i));
    if (compiled.module.buffers.size() > use.arguments.size()) {
      LATHE_TRY(const std::vector<ModelBinding> prepared, prepare(compiled, use));
      launch.buffers.insert(launch.buffers.end(), prepared.begin(), prepared.end());
    }
    model_.launches.push_back(std::move(launch));
    return {};
  }

  ModelBinding place_of(const CompiledTask& compiled, const TaskUse& use, size_t index) {
    const TensorId id = use.arguments[index];
    if (graph_.tensor(id).is_constant()) return constant_place(compiled, id, index);
    // What one kernel writes the next one reads as it lies: no program may have layouts of its own.
    const Task& task = tasks_.tasks[use.task].task;
    LATHE_CHECK(compiled.program.arguments[index].layout == task.arguments[index].layout);
    if (const auto known = places_.find(id); known != places_.end()) return known->second;
    LATHE_CHECK(plan_.offsets[id] >= 0);
    LATHE_CHECK(compiled.module.buffers[index].bytes <= bytes_of(graph_.tensor(id).type));
    return {ModelStorage::arena, plan_.offsets[id]};
  }

  ModelBinding constant_place(const CompiledTask& compiled, TensorId id, size_t index) {
    const Argument& argument = compiled.program.arguments[index];
    if (!kernel_reads(compiled.program, argument.tensor)) return {ModelStorage::weights, kAnywhere};
    const auto [entry, is_new] = constants_.try_emplace({id, to_string(argument.layout)}, 0);
    if (is_new) entry->second = weights_.add(packed(argument, *graph_.tensor(id).data));
    return {ModelStorage::weights, entry->second};
  }

  // Runs the module's prepare entry on the use's constants and keeps what it filled.
  Result<std::vector<ModelBinding>> prepare(const CompiledTask& compiled, const TaskUse& use) {
    std::vector<TensorId> constants;
    for (TensorId id : use.arguments) {
      if (graph_.tensor(id).is_constant()) constants.push_back(id);
    }
    const auto [entry, is_new] = prepared_.try_emplace({use.task, constants});
    if (!is_new) return entry->second;
    LATHE_TRY(Instance instance, Instance::create(compiled.module));
    for (size_t i = 0; i < use.arguments.size(); ++i) {
      const GraphTensor& tensor = graph_.tensor(use.arguments[i]);
      if (!tensor.is_constant()) continue;
      const Bytes bytes = packed(compiled.program.arguments[i], *tensor.data);
      LATHE_CHECK(bytes.size() == instance.buffer(i).size());
      std::ranges::copy(bytes, instance.buffer(i).begin());
    }
    LATHE_TRY_STATUS(instance.prepare());
    LATHE_TRY_STATUS(instance.check_slack());
    for (size_t i = 0; i < compiled.program.prepared.size(); ++i) {
      const bool is_read = kernel_reads(compiled.program, compiled.program.prepared[i].tensor);
      const auto bytes = instance.buffer(use.arguments.size() + i);
      entry->second.push_back({ModelStorage::weights, is_read ? weights_.add(bytes) : kAnywhere});
    }
    return entry->second;
  }

  const Graph& graph_;
  const Partition& partition_;
  const NetworkTasks& tasks_;
  ActivationPlan plan_;
  Model model_;
  WeightsFile weights_;
  std::map<TensorId, ModelBinding> places_;  // of the caller's tensors
  std::map<std::pair<TensorId, std::string>, int64_t> constants_;
  std::map<std::pair<size_t, std::vector<TensorId>>, std::vector<ModelBinding>> prepared_;
};

}  // namespace

Result<Model> network_model(const Graph& graph, const Partition& partition, const NetworkTasks& tasks,
                            std::vector<CompiledTask> compiled) {
  return NetworkBuilder(graph, partition, tasks).build(std::move(compiled));
}

}  // namespace lathe
