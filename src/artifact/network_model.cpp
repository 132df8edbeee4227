// The model of a network: its kernels, and where each constant lies in weights.bin (artifact/model.h).
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "artifact/model.h"
#include "artifact/weights.h"
#include "base/check.h"
#include "graph/index_inputs.h"
#include "tune/smaller_traces.h"

namespace lathe {
namespace {

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
    model_.kernels = std::move(compiled);
    model_.arena_bytes = plan_.bytes;
    for (TensorId id : graph_.inputs) add_interface(model_.inputs, id, id);
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      add_interface(model_.outputs, graph_.outputs[i], partition_.outputs[i]);
    }
    number_pointers();
    add_loops();
    model_.weights_bytes = kWeightsHeadBytes;
    for (const TaskUse& use : tasks_.uses) add_launch(use);
    return std::move(model_);
  }

 private:
  void add_interface(std::vector<ModelTensor>& tensors, TensorId id, TensorId storage) {
    const GraphTensor& tensor = graph_.tensor(id);
    places_[storage] = {&tensors == &model_.inputs ? ModelStorage::input : ModelStorage::output,
                        static_cast<int64_t>(tensors.size())};
    tensors.push_back({storable_name(tensor.name), tensor.type.dtype, tensor.type.shape, false,
                       Layout::row_major(tensor.type.shape.size())});
    if (!is_float(tensor.type.dtype)) tensors.back().index_range = index_range(graph_, id);
  }

  void number_pointers() {
    int64_t number = 0;
    for (const LoopOfUses& loop : partition_.loops) {
      for (const std::vector<MovingTensor>* list : {&loop.moving, &loop.last})
        for (const MovingTensor& moving : *list) pointers_[moving.tensor] = {ModelStorage::pointer, number++};
    }
  }

  // Outer loops before inner ones, which begin no sooner and end no later.
  void add_loops() {
    std::vector<size_t> first_pointers;
    size_t pointer = 0;
    for (const LoopOfUses& loop : partition_.loops) {
      first_pointers.push_back(pointer);
      pointer += loop.moving.size() + loop.last.size();
      for (const std::vector<MovingTensor>* list : {&loop.moving, &loop.last})
        for (const MovingTensor& moving : *list)
          model_.pointers.push_back(
              {place_of(moving.first, loop), place_of(moving.even, loop), place_of(moving.odd, loop)});
    }
    std::vector<size_t> order(partition_.loops.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto depth = [&](size_t loop) {
      size_t count = 0;
      for (auto at = partition_.loops[loop].parent; at; at = partition_.loops[*at].parent) ++count;
      return count;
    };
    std::ranges::stable_sort(order, {},
                             [&](size_t i) { return std::pair(partition_.loops[i].first_use, depth(i)); });
    for (const size_t i : order) {
      const LoopOfUses& loop = partition_.loops[i];
      ModelLoop& made = model_.loops.emplace_back(loop.name, loop.steps, loop.first_use, loop.use_count,
                                                  first_pointers[i], loop.moving.size());
      made.last_count = loop.last.size();
      if (loop.condition)
        made.condition = {place_of(loop.condition->begins), place_of(loop.condition->goes_on)};
    }
  }

  ModelStepPlace place_of(const StepPlace& place, const LoopOfUses& loop) const {
    return {keeps(loop, place.base) ? fixed_place(place.base) : place_of(place.base), place.offset,
            place.stride};
  }

  ModelBinding fixed_place(TensorId id) const {
    if (const auto known = places_.find(id); known != places_.end()) return known->second;
    LATHE_CHECK(plan_.offsets[id] >= 0);
    return {ModelStorage::arena, plan_.offsets[id]};
  }

  ModelBinding place_of(TensorId id) const {
    const auto moving = pointers_.find(id);
    return moving != pointers_.end() ? moving->second : fixed_place(id);
  }

  void add_launch(const TaskUse& use) {
    const CompiledTask& compiled = model_.kernels[use.task];
    ModelLaunch launch{use.name, use.task, {}, use.operators};
    kept_.clear();
    for (size_t i = 0; i < use.arguments.size(); ++i) launch.buffers.push_back(place_of(compiled, use, i));
    if (compiled.module.buffers.size() > use.arguments.size()) {
      const std::vector<ModelBinding>& prepared = places_of_prepared(compiled, use);
      launch.buffers.insert(launch.buffers.end(), prepared.begin(), prepared.end());
    }
    if (!kept_.empty()) {
      ModelConstants& constants = model_.constants.emplace_back(model_.launches.size());
      for (const TensorId id : use.arguments) constants.values.push_back(graph_.tensor(id).data);
      constants.kept = kept_;
    }
    model_.launches.push_back(std::move(launch));
  }

  ModelBinding place_of(const CompiledTask& compiled, const TaskUse& use, size_t index) {
    const TensorId id = use.arguments[index];
    if (graph_.tensor(id).is_constant()) return constant_place(compiled, id, index);
    // What one kernel writes the next one reads as it lies: no program may have layouts of its own.
    const Task& task = tasks_.tasks[use.task].task;
    LATHE_CHECK(compiled.program.arguments[index].layout == task.arguments[index].layout);
    LATHE_CHECK(compiled.module.buffers[index].bytes <= bytes_of(graph_.tensor(id).type));
    return place_of(id);
  }

  ModelBinding constant_place(const CompiledTask& compiled, TensorId id, size_t index) {
    const Argument& argument = compiled.program.arguments[index];
    if (!kernel_reads(compiled.program, argument.tensor)) return {ModelStorage::weights, kAnywhere};
    const auto [entry, is_new] = constants_.try_emplace({id, to_string(argument.layout)}, 0);
    if (is_new) entry->second = keep(compiled, index);
    return {ModelStorage::weights, entry->second};
  }

  const std::vector<ModelBinding>& places_of_prepared(const CompiledTask& compiled, const TaskUse& use) {
    std::vector<TensorId> constants;
    for (TensorId id : use.arguments) {
      if (graph_.tensor(id).is_constant()) constants.push_back(id);
    }
    const auto [entry, is_new] = prepared_.try_emplace({use.task, constants});
    for (size_t i = 0; is_new && i < compiled.program.prepared.size(); ++i) {
      const bool is_read = kernel_reads(compiled.program, compiled.program.prepared[i].tensor);
      entry->second.push_back(
          {ModelStorage::weights, is_read ? keep(compiled, use.arguments.size() + i) : kAnywhere});
    }
    return entry->second;
  }

  // A block of the weights for this buffer of the launch at hand.
  int64_t keep(const CompiledTask& compiled, size_t buffer) {
    const int64_t place = block_place(model_.weights_bytes);
    model_.weights_bytes = place + compiled.module.buffers[buffer].bytes;
    kept_.push_back(buffer);
    return place;
  }

  const Graph& graph_;
  const Partition& partition_;
  const NetworkTasks& tasks_;
  ActivationPlan plan_;
  Model model_;
  std::vector<size_t> kept_;                   // of the launch at hand, as in ModelConstants
  std::map<TensorId, ModelBinding> places_;    // of the caller's tensors
  std::map<TensorId, ModelBinding> pointers_;  // of those that move with the steps of a loop
  std::map<std::pair<TensorId, std::string>, int64_t> constants_;
  std::map<std::pair<size_t, std::vector<TensorId>>, std::vector<ModelBinding>> prepared_;
};

}  // namespace

Result<Model> network_model(const Graph& graph, const Partition& partition, const NetworkTasks& tasks,
                            std::vector<CompiledTask> compiled) {
  return NetworkBuilder(graph, partition, tasks).build(std::move(compiled));
}

}  // namespace lathe
