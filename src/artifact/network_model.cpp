#include "artifact/network_model.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "artifact/share_packing.h"
#include "artifact/weights.h"
#include "base/check.h"
#include "graph/index_inputs.h"
#include "measure/time_bounds.h"
#include "tune/smaller_traces.h"

namespace lathe {
namespace {

// Any address does for what the kernel does not look at.
constexpr int64_t kAnywhere = 0;

// What it takes to begin a launch, beside the work.
constexpr double kLaunchSeconds = 2e-6;

// Lays out weights.bin for the launches of all plans.
class WeightsLayout {
 public:
  // How the launch of that kernel finds its argument `index`, which is this constant.
  ModelBinding argument(const CompiledTask& compiled, const GraphTensor& constant, size_t index) {
    const Argument& argument = compiled.program.arguments[index];
    if (!kernel_reads(compiled.program, argument.tensor)) return {ModelStorage::weights, kAnywhere};
    const int64_t bytes = compiled.module.buffers[index].bytes;
    const auto [entry, is_new] = packed_.try_emplace(
        {constant.data.get(), argument.tensor->shape, to_string(argument.layout), bytes}, 0);
    if (is_new) entry->second = keep(bytes, index);
    return {ModelStorage::weights, entry->second};
  }

  // The same of what its prepare entry fills from these constants.
  std::vector<ModelBinding> prepared(const CompiledTask& compiled,
                                     const std::vector<const Bytes*>& constants) {
    const auto [entry, is_new] = prepared_.try_emplace({packing_of(compiled), constants});
    const size_t first = compiled.program.arguments.size();
    for (size_t i = 0; is_new && i < compiled.program.prepared.size(); ++i) {
      const bool is_read = kernel_reads(compiled.program, compiled.program.prepared[i].tensor);
      const int64_t bytes = compiled.module.buffers[first + i].bytes;
      entry->second.push_back({ModelStorage::weights, is_read ? keep(bytes, first + i) : kAnywhere});
    }
    return entry->second;
  }

  // What was kept since it was asked last.
  ModelConstants take_kept() { return std::exchange(kept_, {}); }
  int64_t bytes() const { return bytes_; }

 private:
  // A block for this buffer of the kernel at hand.
  int64_t keep(int64_t bytes, size_t buffer) {
    const int64_t place = block_place(bytes_);
    bytes_ = place + bytes;
    kept_.kept.push_back(buffer);
    kept_.places.push_back(place);
    return place;
  }

  int64_t bytes_ = kWeightsHeadBytes;
  ModelConstants kept_;
  std::map<std::tuple<const Bytes*, Shape, std::string, int64_t>, int64_t> packed_;
  std::map<std::pair<std::string, std::vector<const Bytes*>>, std::vector<ModelBinding>> prepared_;
};

class PlanBuilder {
 public:
  PlanBuilder(const Graph& graph, const Partition& partition, const NetworkTasks& tasks, Model& model,
              WeightsLayout& weights)
      : graph_(graph),
        partition_(partition),
        tasks_(tasks),
        plan_(plan_activations(graph, partition)),
        model_(model),
        weights_(weights) {
    result_.arena_bytes = plan_.bytes;
    for (TensorId id : graph_.inputs) add_interface(result_.inputs, id, id);
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      add_interface(result_.outputs, graph_.outputs[i], partition.outputs[i]);
    }
  }

  ModelPlan run(const std::vector<TaskUse>& uses) {
    number_pointers();
    add_loops();
    for (const TaskUse& use : uses) add_launch(use);
    return std::move(result_);
  }

 private:
  void add_interface(std::vector<ModelTensor>& tensors, TensorId id, TensorId storage) {
    const GraphTensor& tensor = graph_.tensor(id);
    places_[storage] = {&tensors == &result_.inputs ? ModelStorage::input : ModelStorage::output,
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
          result_.pointers.push_back(
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
      ModelLoop& made = result_.loops.emplace_back(loop.name, loop.steps, loop.first_use, loop.use_count,
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
    std::vector<const Bytes*> read;
    for (size_t i = 0; i < use.arguments.size(); ++i) {
      launch.buffers.push_back(place_of(compiled, use, i));
      const GraphTensor& tensor = graph_.tensor(use.arguments[i]);
      if (tensor.is_constant()) read.push_back(tensor.data.get());
    }
    if (compiled.module.buffers.size() > use.arguments.size()) {
      const std::vector<ModelBinding> prepared = weights_.prepared(compiled, read);
      launch.buffers.insert(launch.buffers.end(), prepared.begin(), prepared.end());
    }
    if (ModelConstants constants = weights_.take_kept(); !constants.kept.empty()) {
      constants.kernel = use.task;
      for (const TensorId id : use.arguments) constants.values.push_back(graph_.tensor(id).data);
      model_.constants.push_back(std::move(constants));
    }
    result_.seconds += kLaunchSeconds + fastest_seconds(compiled.task);
    result_.launches.push_back(std::move(launch));
  }

  ModelBinding place_of(const CompiledTask& compiled, const TaskUse& use, size_t index) {
    const TensorId id = use.arguments[index];
    const GraphTensor& tensor = graph_.tensor(id);
    if (tensor.is_constant()) return weights_.argument(compiled, tensor, index);
    // What one kernel writes the next one reads as it lies: no program may have layouts of its own.
    const Task& task = tasks_.tasks[use.task].task;
    LATHE_CHECK(compiled.program.arguments[index].layout == task.arguments[index].layout);
    LATHE_CHECK(compiled.module.buffers[index].bytes <= bytes_of(tensor.type));
    return place_of(id);
  }

  const Graph& graph_;
  const Partition& partition_;
  const NetworkTasks& tasks_;
  ActivationPlan plan_;
  Model& model_;  // whose kernels there are, and whose constants are added
  WeightsLayout& weights_;
  ModelPlan result_;
  std::map<TensorId, ModelBinding> places_;    // of the caller's tensors
  std::map<TensorId, ModelBinding> pointers_;  // of those that move with the steps of a loop
};

}  // namespace

Result<Model> network_model(const Network& network, std::vector<CompiledTask> compiled) {
  LATHE_CHECK(compiled.size() == network.tasks.tasks.size());
  if (compiled.empty())
    return fail(ErrorKind::unsupported, "the network computes nothing", network.graph.name);
  Model model;
  model.name = storable_name(network.name);
  model.target = compiled.front().task.target;
  model.kernels = std::move(compiled);
  model.free = network.free;
  model.count_inputs =
      static_cast<size_t>(std::ranges::count(network.free.dimensions, SizedBy::count, &FreeDimension::by));
  WeightsLayout weights;
  ModelPlan largest =
      PlanBuilder(network.graph, network.partition, network.tasks, model, weights).run(network.tasks.uses);
  model.inputs = std::move(largest.inputs);
  model.outputs = std::move(largest.outputs);
  model.launches = std::move(largest.launches);
  model.loops = std::move(largest.loops);
  model.pointers = std::move(largest.pointers);
  model.arena_bytes = largest.arena_bytes;
  model.seconds = largest.seconds;
  for (const NetworkPlan& plan : network.smaller) {
    model.smaller.push_back(
        PlanBuilder(plan.graph, plan.partition, network.tasks, model, weights).run(plan.uses));
    model.smaller.back().sizes = plan.sizes;
  }
  model.weights_bytes = weights.bytes();
  return model;
}

}  // namespace lathe
