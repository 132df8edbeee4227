#include "space/ansor/outline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/classify.h"
#include "base/check.h"

namespace lathe {
namespace {

constexpr size_t kMostOutlines = 64;

// An outline whose nodes from the end on are decided.
struct State {
  Outline so_far;
  std::vector<Role> roles;  // of the Dag's nodes
  size_t node = 0;          // the one that is visited
  bool is_cached = false;

  const Compute& compute() const { return so_far.dag.computes[node]; }
};

struct RuleInput {
  const Task& task;
  const CostConstants& costs;

  std::vector<Role> roles_in(const Dag& dag) const {
    std::vector<Role> roles;
    for (const Stage& stage : classify(task, dag, {}, costs).stages) roles.push_back(stage.role);
    return roles;
  }
};

enum class Fit : uint8_t { none, fits, fits_as_last };

// What rules make of a state: those that are done with its node, and those that stay at it.
struct Made {
  std::vector<State> done;
  std::vector<State> staying;
};

struct OutlineRule {
  Fit (*fit)(const RuleInput& input, const State& state);
  void (*apply)(const RuleInput& input, const State& state, Made& made);
};

State with_node(const State& state, NodeOutline outline) {
  State next = state;
  outline.node = state.compute().output->name;
  next.so_far.nodes.insert(next.so_far.nodes.begin(), std::move(outline));
  next.is_cached = false;
  return next;
}

// What is made of constants alone costs nothing in any call.
Fit fits_prepared(const RuleInput&, const State& state) {
  return state.roles[state.node] == Role::prepared ? Fit::fits_as_last : Fit::none;
}
void apply_prepared(const RuleInput&, const State& state, Made& made) {
  made.done.push_back(with_node(state, {.structure = Structure::prepared}));
}

Fit fits_inlined(const RuleInput& input, const State& state) {
  return is_strictly_inlinable(state.so_far.dag, state.node, input.costs) ? Fit::fits_as_last : Fit::none;
}
void apply_inlined(const RuleInput& input, const State& state, Made& made) {
  State next = state;
  next.so_far.steps.emplace_back(InlineStep{state.compute().output->name});
  next.so_far.dag = inline_compute(state.so_far.dag, state.node);
  next.roles = input.roles_in(next.so_far.dag);
  made.done.push_back(std::move(next));
}

Fit fits_unrolled(const RuleInput&, const State& state) {
  return state.roles[state.node] == Role::transform ? Fit::fits_as_last : Fit::none;
}
void apply_unrolled(const RuleInput&, const State& state, Made& made) {
  made.done.push_back(with_node(state, {.structure = Structure::unrolled}));
}

// The partial results are a node below this one that is not visited.
Fit fits_rfactor(const RuleInput& input, const State& state) {
  const bool fits = !state.is_cached && has_parts_for_cores(state.compute(), input.task.target.cpu().cores);
  return fits ? Fit::fits : Fit::none;
}
void apply_rfactor(const RuleInput&, const State& state, Made& made) {
  for (const bool inner : {false, true})
    made.done.push_back(with_node(state, {.structure = Structure::rfactored, .inner = inner}));
}

Fit fits_cache(const RuleInput&, const State& state) {
  const bool fits = !state.is_cached && needs_tiling(state.compute()) &&
                    !elementwise_consumer(state.so_far.dag, state.node);
  return fits ? Fit::fits : Fit::none;
}
void apply_cache(const RuleInput&, const State& state, Made& made) {
  made.staying.push_back(state);
  made.staying.back().is_cached = true;
}

// The consumer that takes the results, where it runs as it is: one that is tiled has loops of its own.
std::optional<size_t> taker_of(const State& state) {
  const auto consumer = elementwise_consumer(state.so_far.dag, state.node);
  if (!consumer) return std::nullopt;
  const NodeOutline& outline = state.so_far.nodes[*consumer - state.node - 1];
  return outline.structure == Structure::whole ? consumer : std::nullopt;
}

Fit fits_fusion(const RuleInput&, const State& state) {
  if (!needs_tiling(state.compute())) return Fit::none;
  if (state.is_cached) return Fit::fits_as_last;
  return taker_of(state) ? Fit::fits : Fit::none;
}
void apply_fusion(const RuleInput&, const State& state, Made& made) {
  for (const int level : {1, 2}) {
    State next = state;
    if (!state.is_cached) next.so_far.nodes[*taker_of(state) - state.node - 1].structure = Structure::along;
    made.done.push_back(
        with_node(next, {.structure = Structure::tiled, .level = level, .is_cached = state.is_cached}));
  }
}

Fit fits_tiling(const RuleInput&, const State& state) {
  return needs_tiling(state.compute()) ? Fit::fits_as_last : Fit::none;
}
void apply_tiling(const RuleInput&, const State& state, Made& made) {
  made.done.push_back(with_node(state, {.structure = Structure::tiled}));
}

Fit fits_always(const RuleInput&, const State&) { return Fit::fits_as_last; }
void apply_skip(const RuleInput&, const State& state, Made& made) {
  made.done.push_back(with_node(state, {}));
}

// In this order. Ansor's are, from the second on: always inline, constant tensors, rfactor, cache write,
// tiling with fusion, multi-level tiling, skip. That of cache reads is for GPUs.
constexpr std::array kOutlineRules = {
    OutlineRule{fits_prepared, apply_prepared}, OutlineRule{fits_inlined, apply_inlined},
    OutlineRule{fits_unrolled, apply_unrolled}, OutlineRule{fits_rfactor, apply_rfactor},
    OutlineRule{fits_cache, apply_cache},       OutlineRule{fits_fusion, apply_fusion},
    OutlineRule{fits_tiling, apply_tiling},     OutlineRule{fits_always, apply_skip},
};

std::vector<State> visited(const RuleInput& input, const State& state) {
  Made made;
  for (const OutlineRule& rule : kOutlineRules) {
    const Fit fit = rule.fit(input, state);
    if (fit == Fit::none) continue;
    made.staying.clear();
    rule.apply(input, state, made);
    for (const State& staying : made.staying) {
      std::ranges::move(visited(input, staying), std::back_inserter(made.done));
    }
    if (fit == Fit::fits_as_last) break;
  }
  return made.done;
}

std::string text_of_outline(const NodeOutline& outline) {
  switch (outline.structure) {
    case Structure::whole:
    case Structure::prepared:
    case Structure::along: return "";
    case Structure::unrolled: return outline.node + " unrolled";
    case Structure::rfactored: return outline.node + (outline.inner ? " rfactor inner" : " rfactor outer");
    case Structure::tiled: break;
  }
  if (outline.level == 0) return outline.node + " tiled";
  return fmt::format("{} {} at {}", outline.node, outline.is_cached ? "cached" : "fused", outline.level);
}

}  // namespace

std::string Outline::name() const {
  std::string name;
  for (const NodeOutline& outline : nodes) {
    const std::string text = text_of_outline(outline);
    if (!text.empty()) name += (name.empty() ? "" : ", ") + text;
  }
  return name.empty() ? "whole" : name;
}

const NodeOutline& Outline::of(const std::string& node) const {
  const auto found = std::ranges::find(nodes, node, &NodeOutline::node);
  LATHE_CHECK(found != nodes.end());
  return *found;
}

std::vector<Outline> outlines_of(const Task& task, const CostConstants& costs) {
  const RuleInput input{task, costs};
  std::vector<State> states = {{.so_far = {task.dag, {}, {}}, .roles = input.roles_in(task.dag)}};
  for (size_t node = task.dag.computes.size(); node-- > 0;) {
    std::vector<State> next;
    for (State& state : states) {
      state.node = node;
      std::ranges::move(visited(input, state), std::back_inserter(next));
    }
    if (next.size() > kMostOutlines) next.resize(kMostOutlines);
    states = std::move(next);
  }
  std::vector<Outline> outlines;
  for (State& state : states) outlines.push_back(std::move(state.so_far));
  return outlines;
}

}  // namespace lathe
