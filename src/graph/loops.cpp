#include "graph/loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>

namespace lathe {
namespace {

using LoopSet = std::set<size_t>;

std::unexpected<Error> broken(const Graph& graph, std::string message) {
  return fail(ErrorKind::invalid_program, std::move(message), "graph " + graph.name);
}

class NestFinder {
 public:
  explicit NestFinder(const Graph& graph) : graph_(graph), of_tensor_(graph.tensors.size()) {}

  Result<LoopNest> run() {
    // What comes of a loop belongs to the loops around it, which are known when all of it has been seen.
    for (bool grows = true; grows;) {
      const std::vector<LoopSet> known = outer_;
      of_node_.clear();
      for (const GraphNode& node : graph_.nodes) LATHE_TRY_STATUS(add(node));
      while (close()) {
      }
      grows = outer_ != known;
    }
    for (size_t loop = 0; loop < outer_.size(); ++loop) {
      if (outer_[loop].contains(loop))
        return broken(graph_, fmt::format("loop '{}' stands in itself", name(loop)));
      nest_.loops[loop].parent = innermost(outer_[loop]);
    }
    for (const LoopSet& inside : of_node_) {
      LoopSet all = inside;
      for (const size_t loop : inside) all.insert(outer_[loop].begin(), outer_[loop].end());
      const std::optional<size_t> loop = innermost(all);
      if (loop && all.size() != outer_[*loop].size() + 1)
        return broken(graph_, fmt::format("loop '{}' overlaps another one", name(*loop)));
      nest_.of_node.push_back(loop);
    }
    return std::move(nest_);
  }

 private:
  // Adds to what is around each loop what is around that; whether there was any.
  bool close() {
    bool grew = false;
    for (LoopSet& outer : outer_) {
      LoopSet all = outer;
      for (const size_t loop : outer) all.insert(outer_[loop].begin(), outer_[loop].end());
      grew = grew || all.size() > outer.size();
      outer = std::move(all);
    }
    return grew;
  }

  const std::string& name(size_t loop) const { return nest_.loops[loop].loop.name; }

  Result<size_t> number_of(const StepLoop& loop) {
    const auto [entry, is_new] = numbers_.try_emplace(loop.name, nest_.loops.size());
    if (is_new) {
      nest_.loops.push_back({loop, std::nullopt});
      outer_.emplace_back();
    }
    if (nest_.loops[entry->second].loop == loop) return entry->second;
    return broken(graph_, fmt::format("loop '{}' has {} steps and {}", loop.name,
                                      nest_.loops[entry->second].loop.steps, loop.steps));
  }

  Status add(const GraphNode& node) {
    LoopSet inside;
    for (const TensorId id : node.inputs) inside.insert(of_tensor_[id].begin(), of_tensor_[id].end());
    if (const auto* copy = std::get_if<CopyOp>(&node.op); copy != nullptr && copy->inside) {
      LATHE_TRY(const size_t number, number_of(*copy->inside));
      inside.insert(number);
    }
    LoopSet behind = inside;
    if (const StepLoop* loop = loop_of(node.op)) {
      LATHE_TRY(const size_t number, number_of(*loop));
      for (const size_t other : inside)
        if (other != number) outer_[number].insert(other);
      inside.insert(number);
      inside.insert(outer_[number].begin(), outer_[number].end());
      behind = inside;
      if (is_exit(node.op)) behind.erase(number);
    }
    of_node_.push_back(std::move(inside));
    of_tensor_[node.output] = std::move(behind);
    return {};
  }

  // The one that has most others around it.
  std::optional<size_t> innermost(const LoopSet& loops) const {
    std::optional<size_t> found;
    for (const size_t loop : loops)
      if (!found || outer_[loop].size() > outer_[*found].size()) found = loop;
    return found;
  }

  const Graph& graph_;
  LoopNest nest_;
  std::map<std::string, size_t> numbers_;
  std::vector<LoopSet> outer_;      // all around each loop
  std::vector<LoopSet> of_tensor_;  // that it depends on the entries of
  std::vector<LoopSet> of_node_;
};

// Puts the nodes of a loop's body, or of the whole graph, in an order in which each inner loop is whole.
class LoopOrder {
 public:
  LoopOrder(const Graph& graph, const LoopNest& nest)
      : graph_(graph), nest_(nest), producers_(producers_of(graph)) {}

  Result<std::vector<size_t>> run() {
    std::vector<size_t> all(graph_.nodes.size());
    for (size_t n = 0; n < all.size(); ++n) all[n] = n;
    LATHE_TRY_STATUS(add(std::nullopt, all));
    return std::move(order_);
  }

 private:
  // A node, or a loop with all its nodes; it can stand behind the last of them.
  struct Unit {
    std::optional<size_t> loop;
    std::vector<size_t> nodes;
    std::set<size_t> readers;
    size_t awaited = 0;
  };

  Status add(std::optional<size_t> level, const std::vector<size_t>& nodes) {
    std::vector<Unit> units;
    std::map<size_t, size_t> of_loop;
    std::map<size_t, size_t> unit_of;
    for (const size_t n : nodes) {
      const std::optional<size_t> own = nest_.of_node[n];
      const bool is_inside = own != level;
      const size_t loop = is_inside ? nest_.child_towards(level, *own) : 0;
      const size_t unit = is_inside ? of_loop.try_emplace(loop, units.size()).first->second : units.size();
      if (unit == units.size()) units.push_back({is_inside ? std::optional(loop) : std::nullopt, {}, {}});
      units[unit].nodes.push_back(n);
      unit_of[n] = unit;
    }
    connect(units, unit_of);
    return emit(units);
  }

  void connect(std::vector<Unit>& units, const std::map<size_t, size_t>& unit_of) const {
    for (const auto& [n, unit] : unit_of) {
      for (const TensorId id : graph_.nodes[n].inputs) {
        if (producers_[id] < 0) continue;
        const auto source = unit_of.find(static_cast<size_t>(producers_[id]));
        if (source == unit_of.end() || source->second == unit) continue;
        if (units[source->second].readers.insert(unit).second) ++units[unit].awaited;
      }
    }
  }

  Status emit(std::vector<Unit>& units) {
    using Ready = std::pair<size_t, size_t>;  // the last node, the unit
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    const auto offer = [&](size_t unit) {
      if (units[unit].awaited == 0) ready.emplace(units[unit].nodes.back(), unit);
    };
    for (size_t unit = 0; unit < units.size(); ++unit) offer(unit);
    size_t emitted = 0;
    for (; !ready.empty(); ++emitted) {
      const Unit& unit = units[ready.top().second];
      ready.pop();
      if (unit.loop)
        LATHE_TRY_STATUS(add(unit.loop, unit.nodes));
      else
        order_.push_back(unit.nodes.front());
      for (const size_t reader : unit.readers) {
        --units[reader].awaited;
        offer(reader);
      }
    }
    return emitted == units.size() ? Status() : Status(broken(graph_, "a loop reads what comes of it"));
  }

  const Graph& graph_;
  const LoopNest& nest_;
  std::vector<int> producers_;
  std::vector<size_t> order_;
};

}  // namespace

bool LoopNest::is_within(std::optional<size_t> loop, std::optional<size_t> outer) const {
  while (loop != outer && loop) loop = loops[*loop].parent;
  return loop == outer;
}

size_t LoopNest::child_towards(std::optional<size_t> outer, size_t loop) const {
  while (loops[loop].parent != outer) loop = *loops[loop].parent;
  return loop;
}

Result<LoopNest> loops_of(const Graph& graph) { return NestFinder(graph).run(); }

Result<Graph> with_whole_loops(const Graph& graph) {
  LATHE_TRY(const LoopNest nest, loops_of(graph));
  if (nest.loops.empty()) return graph;
  LATHE_TRY(const std::vector<size_t> order, LoopOrder(graph, nest).run());
  Graph result = graph;
  for (size_t i = 0; i < order.size(); ++i) result.nodes[i] = graph.nodes[order[i]];
  return result;
}

}  // namespace lathe
