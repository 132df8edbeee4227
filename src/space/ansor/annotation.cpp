#include "space/ansor/annotation.h"

#include <algorithm>
#include <numeric>

#include "expr/walk.h"

namespace lathe {
namespace {

constexpr int64_t kLargestInnermost = 64;
constexpr int64_t kPreferredPieces = 16;

class Annotator {
 public:
  Annotator(const Task& task, const Outline& outline, const CostConstants& costs, Chooser& chooser)
      : task_(task), outline_(outline), costs_(costs), choose_(chooser) {}

  NodeAnswers node(size_t node);

 private:
  void choose_tiles(const Compute& compute, Structure structure, NodeAnswers& answers);
  void choose_part(const Compute& compute, NodeAnswers& answers);
  void choose_place(size_t node, NodeAnswers& answers);
  int64_t choose_unroll(const std::string& name) {
    return choose_.choose("unroll." + name, {0, 16, 64, 512}, 0);
  }
  // The first of these categories is the root.
  int64_t choose_at(const std::string& name, int64_t count) {
    if (count == 1) return 0;
    std::vector<int64_t> values(static_cast<size_t>(count));
    std::iota(values.begin(), values.end(), 0);
    return choose_.choose("at." + name, std::move(values), 0);
  }

  const Task& task_;
  const Outline& outline_;
  const CostConstants& costs_;
  Chooser& choose_;
};

void Annotator::choose_tiles(const Compute& compute, Structure structure, NodeAnswers& answers) {
  answers.factors.resize(compute.axes.size());
  for (size_t a = 0; a < compute.axes.size(); ++a) {
    const auto& [var, extent, kind] = compute.axes[a];
    const size_t parts = levels_of(compute, a, structure).size();
    if (parts < 2 || extent == 1) continue;
    const SplitParameter split{
        .extent = extent, .parts = static_cast<int>(parts), .largest_innermost = kLargestInnermost};
    answers.factors[a] = choose_.choose_split("tile." + compute.output->name + "." + var.name(), split,
                                              std::vector<int64_t>(parts - 1, 1));
  }
}

void Annotator::choose_part(const Compute& compute, NodeAnswers& answers) {
  const SplitParameter split{.extent = iteration_counts(compute).reduce,
                             .largest_innermost = kLargestInnermost};
  std::string name = "tile." + compute.output->name + ".";
  for (size_t a = compute.spatial_count(); a < compute.axes.size(); ++a) {
    if (a > compute.spatial_count()) name += "_";
    name += compute.axes[a].var.name();
  }
  answers.part = choose_.choose_split(std::move(name), split, {1}).front();
}

// Who reads it alone has loops to offer; a reader that is taken along has them from its own producer.
void Annotator::choose_place(size_t node, NodeAnswers& answers) {
  const Compute& compute = outline_.dag.computes[node];
  const std::vector<size_t> readers = outline_.dag.consumers(compute.output);
  int64_t loops = 0;
  if (readers.size() == 1 && !outline_.dag.is_output(compute.output))
    loops = count_places(outline_.dag.computes[readers[0]], outline_.nodes[readers[0]]);
  const bool may_inline =
      outline_.nodes[node].structure == Structure::whole && may_be_inlined(outline_.dag, node, costs_);
  const int64_t place = choose_at(compute.output->name, 1 + loops + (may_inline ? 1 : 0));
  answers.is_inlined = place > loops;
  answers.place = answers.is_inlined ? 0 : place;
}

NodeAnswers Annotator::node(size_t node) {
  const Compute& compute = outline_.dag.computes[node];
  const std::string& name = compute.output->name;
  const Structure structure = outline_.nodes[node].structure;
  NodeAnswers answers;
  if (structure == Structure::prepared || structure == Structure::along) return answers;
  const bool is_tiled = structure == Structure::tiled || structure == Structure::unrolled;
  if (is_tiled) choose_tiles(compute, structure, answers);
  if (structure == Structure::rfactored) choose_part(compute, answers);
  const bool unrolls = compute.reduction != Reduction::none && structure != Structure::unrolled;
  if (unrolls) answers.unroll = choose_unroll(name);
  if (!is_tiled) choose_place(node, answers);
  if (structure == Structure::rfactored) {
    answers.partial_unroll = choose_unroll(name + ".rf");
    answers.partial_place = choose_at(name + ".rf", 1 + count_places(compute, {}));
  }
  if (task_.target.cpu().cores > 1)
    answers.pieces = choose_.choose("parallel." + name, {1, 4, 16, 64}, kPreferredPieces);
  return answers;
}

// Whether an entry of a table depends on it.
bool indexes_table(const Compute& compute, size_t axis) {
  return std::ranges::any_of(loads_of(compute.body), [&](const Load* load) {
    return !load->tensor->literal.empty() && std::ranges::any_of(load->index, [&](const Affine& index) {
      return index.uses(compute.axes[axis].var);
    });
  });
}

}  // namespace

std::vector<int> levels_of(const Compute& compute, size_t axis, Structure structure) {
  const bool is_spatial = compute.axes[axis].kind == AxisKind::spatial;
  if (structure == Structure::tiled)
    return is_spatial ? std::vector<int>{kOuter, kMiddle, kInner, kInnermost}
                      : std::vector<int>{kOuterReduce, kInnerReduce};
  if (structure == Structure::unrolled) {
    const bool is_written_out = !is_spatial || indexes_table(compute, axis);
    return is_written_out ? std::vector<int>{kInnermost} : std::vector<int>{kOuter, kInner};
  }
  return {is_spatial ? kOuter : kInnerReduce};
}

std::vector<LoopPlace> places_in(const Compute& compute, const NodeOutline& outline,
                                 const std::vector<size_t>& order) {
  const Structure structure = outline.structure;
  std::vector<LoopPlace> places;
  if (structure == Structure::prepared || structure == Structure::along) return places;
  for (const int level : {kOuter, kMiddle, kOuterReduce}) {
    for (const size_t a : order) {
      const std::vector<int> levels = levels_of(compute, a, structure);
      const bool is_there = std::ranges::find(levels, level) != levels.end();
      if (compute.axes[a].extent > 1 && is_there) places.push_back({level, a});
    }
  }
  return places;
}

int64_t count_places(const Compute& compute, const NodeOutline& outline) {
  std::vector<size_t> order(compute.axes.size());
  std::iota(order.begin(), order.end(), 0);
  return std::ssize(places_in(compute, outline, order));
}

std::vector<NodeAnswers> annotate(const Task& task, const Outline& outline, const CostConstants& costs,
                                  Chooser& chooser) {
  Annotator annotator(task, outline, costs, chooser);
  std::vector<NodeAnswers> answers(outline.nodes.size());
  for (size_t node = answers.size(); node-- > 0;) answers[node] = annotator.node(node);
  return answers;
}

}  // namespace lathe
