#include "space/ansor/sketch_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "expr/walk.h"

namespace lathe {
namespace {

// Of the loops that are parts of all reduce axes together.
constexpr size_t kPartAxis = std::numeric_limits<size_t>::max();
constexpr size_t kTermsAxis = kPartAxis - 1;

// The loop that a place means: the innermost up to that one, since parts of one place have no loop.
size_t loop_at_place(const NodeLoops& loops, const LoopPlace& place, const std::vector<size_t>& order) {
  const auto rank = [&](size_t axis) { return std::ranges::find(order, axis); };
  size_t found = 0;
  for (size_t i = 0; i < loops.loops.size(); ++i) {
    const auto& [name, extent, axis, reduces, level] = loops.loops[i];
    if (level < place.level || (level == place.level && rank(axis) <= rank(place.axis))) found = i;
  }
  return found;
}

std::vector<size_t> loops_of_places(const NodeLoops& loops, const std::vector<LoopPlace>& places,
                                    const std::vector<size_t>& order) {
  std::vector<size_t> result;
  for (const LoopPlace& place : places) result.push_back(loop_at_place(loops, place, order));
  return result;
}

std::vector<int64_t> whole_extents(const Compute& compute) {
  std::vector<int64_t> extents;
  for (const Axis& axis : compute.axes) extents.push_back(axis.extent);
  return extents;
}

// How much of the tensor one iteration of the reader's loop reads, by dimension. Used for the length of
// vectors alone: where tiles do not begin at a multiple of a divisor it may be a little less.
std::vector<int64_t> extents_read(const Compute& reader, const Tensor& tensor, const NodeLoops& loops,
                                  size_t loop) {
  Ranges ranges;
  for (size_t a = 0; a < reader.axes.size(); ++a) {
    const bool has_loops = std::ranges::find(loops.loops, a, &NodeLoop::axis) != loops.loops.end();
    const auto& [var, extent, kind] = reader.axes[a];
    ranges.set_extent(var, has_loops ? loops.extent_inside(loop, a) : extent);
  }
  std::vector<Interval> box(tensor->shape.size(), {INT64_MAX, INT64_MIN});
  for (const Load* load : loads_of(reader.body)) {
    if (load->tensor != tensor) continue;
    for (size_t d = 0; d < box.size(); ++d) {
      const auto reach = bounds(load->index[d], ranges).value_or(Interval{0, tensor->shape[d] - 1});
      box[d] = {std::min(box[d].lo, reach.lo), std::max(box[d].hi, reach.hi)};
    }
  }
  std::vector<int64_t> extents;
  for (size_t d = 0; d < box.size(); ++d)
    extents.push_back(std::clamp<int64_t>(box[d].hi - box[d].lo + 1, 1, tensor->shape[d]));
  return extents;
}

}  // namespace

SketchWriter::Node SketchWriter::node(size_t index) const {
  const Compute& compute = decider_.dag.computes[index];
  const auto outline = std::ranges::find(outline_.nodes, compute.output->name, &NodeOutline::node);
  LATHE_CHECK(outline != outline_.nodes.end());
  return {compute, decider_.stages.of(index), *outline,
          answers_[static_cast<size_t>(outline - outline_.nodes.begin())]};
}

std::pair<int64_t, size_t> SketchWriter::placed(const Node& node) const {
  const std::vector<size_t> readers = decider_.dag.consumers(node.compute.output);
  if (node.answers.place == 0 || readers.size() != 1) return {0, 0};
  const Compute& reader = decider_.dag.computes[readers[0]];
  const int64_t places = count_places(reader, outline_.of(reader.output->name));
  return {std::min(node.answers.place, places), readers[0]};
}

std::vector<size_t> SketchWriter::loops_with_producers(const Node& reader,
                                                       const std::vector<size_t>& places) const {
  std::vector<size_t> loops;
  for (size_t i = 0; i < reader.stage.compute; ++i) {
    const auto [place, by] = placed(node(i));
    if (place > 0 && by == reader.stage.compute) loops.push_back(places[static_cast<size_t>(place) - 1]);
  }
  return loops;
}

std::vector<int64_t> SketchWriter::write_place(const Node& node) {
  std::vector<int64_t> extents = whole_extents(node.compute);
  const auto [place, by] = placed(node);
  if (place == 0) return extents;
  const Compute& compute = decider_.dag.computes[by];
  const Reader& reader = readers_.at(compute.output->name);
  const size_t loop = reader.places[static_cast<size_t>(place) - 1];
  writer_.add(ComputeAtStep{node.name(), reader.loops.block, reader.loops.loops[loop].name, Scope::thread});
  std::ranges::copy(extents_read(compute, node.compute.output, reader.loops, loop), extents.begin());
  return extents;
}

std::vector<UncutLoop> SketchWriter::uncut_loops(const Node& node, const std::vector<size_t>& order) const {
  std::vector<UncutLoop> uncut;
  for (const size_t a : order) {
    const auto& [var, extent, kind] = node.compute.axes[a];
    uncut.push_back({.name = var.name(),
                     .extent = extent,
                     .axis = a,
                     .reduces = kind == AxisKind::reduce,
                     .levels = levels_of(node.compute, a, node.outline.structure)});
    if (!node.answers.factors.empty()) uncut.back().factors = node.answers.factors[a];
  }
  return uncut;
}

void SketchWriter::write_loops(NodeLoops& loops, const LoopWork& work) {
  const Status status = write_node_loops(writer_, loops, work);
  if (!status && !decider_.violation) decider_.violation = status.error();
}

void SketchWriter::write_tiled(const Node& node) {
  const std::vector<size_t> order = axis_order(decider_, node.compute);
  const std::vector<UncutLoop> uncut = uncut_loops(node, order);
  std::optional<size_t> vector;
  for (size_t i = 0; i < uncut.size(); ++i) {
    if (!uncut[i].reduces && uncut[i].levels.size() > 1) vector = i;
  }
  NodeLoops loops = cut(node.name(), uncut, vector, node.stage.lanes);
  pack_constants(decider_, node.stage, loops);
  write_places(writer_, decider_.take_places());
  const std::vector<size_t> places =
      loops_of_places(loops, places_in(node.compute, node.outline, order), order);
  LoopWork work{.stage = node.stage,
                .reduces = node.compute.reduction != Reduction::none,
                .unroll = node.answers.unroll,
                .unrolls_innermost = node.outline.structure == Structure::unrolled,
                .pieces = node.answers.pieces,
                .held = loops_with_producers(node, places),
                .level = node.outline.level,
                .layout = decider_.layout_of(node.compute.output)};
  if (work.level > 0 && !node.outline.is_cached)
    work.taker = &decider_.dag.computes[decider_.dag.consumers(node.compute.output).front()];
  write_loops(loops, work);
  readers_[node.name()] = {std::move(loops), places};
}

void SketchWriter::write_whole(const Node& node) {
  const std::vector<int64_t> extents = write_place(node);
  const std::vector<size_t> order = axis_order(decider_, node.compute);
  std::vector<UncutLoop> uncut = uncut_loops(node, order);
  for (UncutLoop& loop : uncut) loop.extent = extents[loop.axis];
  const bool reduces = node.compute.reduction != Reduction::none;
  const bool has_vectors = !reduces && !uncut.empty() && uncut.back().extent > 1;
  NodeLoops loops =
      cut(node.name(), uncut, has_vectors ? std::optional(uncut.size() - 1) : std::nullopt, node.stage.lanes);
  const std::vector<size_t> places =
      loops_of_places(loops, places_in(node.compute, node.outline, order), order);
  const LoopWork work{.stage = node.stage,
                      .reduces = reduces,
                      .unroll = node.answers.unroll,
                      .pieces = placed(node).first == 0 ? node.answers.pieces : 0,
                      .held = loops_with_producers(node, places)};
  write_loops(loops, work);
  readers_[node.name()] = {std::move(loops), places};
}

// All reduce loops as one, cut in two: one part stays, the other becomes an axis of the partial results.
void SketchWriter::write_rfactored(const Node& node) {
  std::string fused;
  FuseStep fuse{node.name(), {}};
  for (const Axis& axis : node.compute.axes) {
    if (axis.kind != AxisKind::reduce) continue;
    fused += (fused.empty() ? "" : "_") + axis.var.name();
    fuse.loops.push_back(axis.var.name());
  }
  const int64_t inner = node.answers.part;
  const int64_t outer = iteration_counts(node.compute).reduce / inner;
  if (fuse.loops.size() > 1) writer_.add(fuse);
  writer_.add(SplitStep{node.name(), fused, {inner}});
  UncutLoop terms{.name = fused + ".0", .extent = outer, .axis = kTermsAxis, .reduces = true};
  UncutLoop part{.name = fused + ".1", .extent = inner, .axis = kPartAxis};
  if (!node.outline.inner) {
    std::swap(terms.name, part.name);
    std::swap(terms.extent, part.extent);
  }
  terms.levels = {kInnerReduce};
  writer_.add(RfactorStep{node.name(), part.name});
  const std::vector<int64_t> extents = write_place(node);
  const std::vector<size_t> order = axis_order(decider_, node.compute);
  std::vector<UncutLoop> uncut = uncut_loops(node, order);
  std::erase_if(uncut, [](const UncutLoop& loop) { return loop.reduces; });
  for (UncutLoop& loop : uncut) loop.extent = extents[loop.axis];
  UncutLoop sum = part;
  sum.reduces = true;
  sum.levels = {kInnerReduce};
  uncut.push_back(sum);
  NodeLoops loops = cut(node.name(), uncut, std::nullopt, node.stage.lanes);
  const std::vector<size_t> places = loops_of_places(loops, places_in(node.compute, {}, order), order);
  LoopWork work{.stage = node.stage,
                .reduces = true,
                .unroll = node.answers.unroll,
                .pieces = placed(node).first == 0 ? node.answers.pieces : 0};
  if (node.answers.partial_place > 0)
    work.held = {places[static_cast<size_t>(node.answers.partial_place) - 1]};
  write_loops(loops, work);
  readers_[node.name()] = {std::move(loops), places};
  write_partial(node, readers_.at(node.name()).loops, part, terms);
}

// The partial results: producers of the node are computed in their loops.
void SketchWriter::write_partial(const Node& node, const NodeLoops& results, const UncutLoop& part,
                                 const UncutLoop& terms) {
  const std::string block = node.name() + ".rf";
  const std::vector<size_t> order = axis_order(decider_, node.compute);
  const int64_t place = node.answers.partial_place;
  std::optional<size_t> around;
  if (place > 0) {
    around = readers_.at(node.name()).places[static_cast<size_t>(place) - 1];
    writer_.add(ComputeAtStep{block, node.name(), results.loops[*around].name, Scope::thread});
  }
  std::vector<UncutLoop> uncut;
  for (UncutLoop axis : results.spatial) {
    axis.extent = around ? results.extent_inside(around, axis.axis) : node.compute.axes[axis.axis].extent;
    uncut.push_back(axis);
  }
  std::optional<size_t> vector;
  uncut.push_back(part);
  if (node.outline.inner) {
    uncut.back().levels = {kInnermost};
    if (part.extent > 1) vector = uncut.size() - 1;
  }
  uncut.push_back(terms);
  NodeLoops loops = cut(block, uncut, vector, node.stage.lanes);
  const std::vector<size_t> places =
      loops_of_places(loops, places_in(node.compute, node.outline, order), order);
  LoopWork work{.stage = node.stage,
                .reduces = true,
                .unroll = node.answers.partial_unroll,
                .pieces = around ? 0 : node.answers.pieces,
                .held = loops_with_producers(node, places)};
  write_loops(loops, work);
  readers_[node.name()] = {std::move(loops), places};
}

void SketchWriter::write_node(const Node& node) {
  switch (node.outline.structure) {
    case Structure::prepared:
    case Structure::along: return;
    case Structure::whole: return write_whole(node);
    case Structure::tiled:
    case Structure::unrolled: return write_tiled(node);
    case Structure::rfactored: return write_rfactored(node);
  }
}

Result<Trace> SketchWriter::write() {
  decide_layouts(decider_, outline_.nodes);
  write_places(writer_, decider_.take_places());
  const size_t count = decider_.dag.computes.size();
  for (size_t i = count; i-- > 0;) write_node(node(i));
  for (size_t i = 0; i < count; ++i) {
    if (node(i).outline.structure == Structure::prepared) writer_.add(PrepareStep{node(i).name()});
  }
  if (decider_.violation) return std::unexpected(*decider_.violation);
  return std::move(writer_.trace);
}

}  // namespace lathe
