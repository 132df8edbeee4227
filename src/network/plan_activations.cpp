// Where the activations of a network lie (network/partition.h).
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "network/liveness.h"
#include "network/partition.h"

namespace lathe {
namespace {

class ActivationPlanner {
 public:
  ActivationPlanner(const Graph& graph, const Partition& partition)
      : graph_(graph),
        partition_(partition),
        elsewhere_(graph.tensors.size(), false),
        home_(graph.tensors.size()),
        place_(graph.tensors.size()) {
    for (TensorId id = 0; id < graph.tensors.size(); ++id) elsewhere_[id] = graph.tensors[id].is_constant();
    for (TensorId id : graph.inputs) elsewhere_[id] = true;
    for (TensorId id : partition.outputs) elsewhere_[id] = true;
    for (const TaskUse& use : partition.uses) home_[use.arguments.back()] = use.loop;
    for (const LoopOfUses& loop : partition.loops) {
      for (const TensorId id : loop.kept) home_[id] = loop.parent;
      for (const MovingTensor& moving : loop.moving) add_moving(moving, loop);
      for (const MovingTensor& moving : loop.last) add_moving(moving, loop);
    }
  }

  ActivationPlan run() {
    for (size_t step = 0; step < partition_.uses.size(); ++step) {
      const TaskUse& use = partition_.uses[step];
      for (const TensorId id : use.arguments) live(id, step, use.loop);
    }
    for (const LoopOfUses& loop : partition_.loops) live_through(loop);
    const ArenaPlan arena = plan_arena(lives_);
    ActivationPlan plan{std::vector<int64_t>(graph_.tensors.size(), -1), arena.bytes};
    for (size_t i = 0; i < tensors_.size(); ++i) plan.offsets[tensors_[i]] = arena.offsets[i];
    return plan;
  }

 private:
  // A storage that the loop itself keeps is meant as it is; another one may move with loops around this one.
  void add_moving(const MovingTensor& moving, const LoopOfUses& loop) {
    for (const StepPlace* place : {&moving.first, &moving.even, &moving.odd})
      moves_through_[moving.tensor].insert({place->base, keeps(loop, place->base)});
  }

  // The condition, and what moves with the steps, are needed in all of them.
  void live_through(const LoopOfUses& loop) {
    if (loop.use_count == 0) return;
    const auto own = static_cast<size_t>(&loop - partition_.loops.data());
    const size_t last = loop.first_use + loop.use_count - 1;
    for (const MovingTensor& moving : loop.moving) live(moving.tensor, last, own);
    if (!loop.condition) return;
    live(loop.condition->begins, loop.first_use, loop.parent);
    live(loop.condition->goes_on, last, own);
  }

  // The tensor is written or read at that step, in that loop.
  void live(TensorId id, size_t step, std::optional<size_t> loop) {
    if (const auto moving = moves_through_.find(id); moving != moves_through_.end()) {
      for (const auto& [base, is_kept] : moving->second) {
        if (is_kept)
          live_itself(base, step, loop);
        else
          live(base, step, loop);
      }
      return;
    }
    live_itself(id, step, loop);
  }

  // Storage that does not move.
  void live_itself(TensorId id, size_t step, std::optional<size_t> loop) {
    if (elsewhere_[id]) return;
    const auto [first, last] = span_of(step, loop, home_[id]);
    if (!place_[id]) {
      place_[id] = lives_.size();
      tensors_.push_back(id);
      lives_.push_back({bytes_of(graph_.tensors[id].type), first, last});
    }
    BufferLife& life = lives_[*place_[id]];
    life.first = std::min(life.first, first);
    life.last = std::max(life.last, last);
  }

  // The steps of the part of `home` that the step belongs to.
  std::pair<size_t, size_t> span_of(size_t step, std::optional<size_t> loop,
                                    std::optional<size_t> home) const {
    std::optional<size_t> inner;
    for (; loop && loop != home; loop = partition_.loops[*loop].parent) inner = loop;
    if (!inner) return {step, step};
    const LoopOfUses& whole = partition_.loops[*inner];
    return {whole.first_use, whole.first_use + whole.use_count - 1};
  }

  const Graph& graph_;
  const Partition& partition_;
  std::vector<bool> elsewhere_;
  std::vector<std::optional<size_t>> home_;  // the loop in each of whose steps a storage is written anew
  std::map<TensorId, std::set<std::pair<TensorId, bool>>> moves_through_;
  std::vector<TensorId> tensors_;
  std::vector<BufferLife> lives_;
  std::vector<std::optional<size_t>> place_;
};

}  // namespace

ActivationPlan plan_activations(const Graph& graph, const Partition& partition) {
  return ActivationPlanner(graph, partition).run();
}

}  // namespace lathe
