#include "space/rules/placement.h"

#include <algorithm>

#include "expr/walk.h"
#include "space/rules/vectors.h"

namespace lathe {
namespace {

// Tiles of how many kinds there are between a product's borders, along all axes that windows slide over;
// nothing where lowering would not cut them off.
std::optional<int64_t> kinds_of_tiles(const Compute& consumer, const Load& load, const CostConstants& costs) {
  int64_t kinds = 1;
  for (const Affine& index : load.index) {
    int64_t reach = 0;
    for (size_t r = consumer.spatial_count(); r < consumer.axes.size(); ++r)
      reach += std::abs(index.coefficient(consumer.axes[r].var)) * (consumer.axes[r].extent - 1);
    for (size_t a = 0; a < consumer.spatial_count(); ++a) {
      const Var& var = consumer.axes[a].var;
      if (!index.uses(var) || reach == 0) continue;
      const int64_t step = index.coefficient(var);
      if (step <= 0 || index.uses_inside_atom(var)) return std::nullopt;
      const int64_t borders = std::min(ceil_div(reach, step), consumer.axes[a].extent);
      if (borders > 2 * whole(costs.border_tiles)) return std::nullopt;
      kinds *= 1 + borders;
    }
  }
  return kinds;
}

// Whether it but moves elements or puts a number in their place.
bool is_padding(const Compute& compute) {
  const Select* select = compute.body.as<Select>();
  return select != nullptr && select->if_true.as<Load>() != nullptr &&
         select->if_false.as<Literal>() != nullptr;
}

// Whether what the padding's reader wants side by side lies so in what is padded, or can.
bool lies_alike(const Decider& decider, const Compute& padding) {
  const Load& padded = *padding.body.as<Select>()->if_true.as<Load>();
  if (decider.is_open(padded.tensor)) return true;
  const LayoutDim wanted = decider.layout_of(padding.output).dims.back();
  const LayoutDim last = decider.layout_of(padded.tensor).dims.back();
  return last.divide == 1 &&
         padded.index[static_cast<size_t>(last.dim)].uses(padding.axes[static_cast<size_t>(wanted.dim)].var);
}

// How often a place of the padding is read in the mean by a transform of it.
double reads_of_place(const Compute& transform, const Compute& padding) {
  double reads = 0;
  for (const Load* load : loads_of(transform.body)) {
    if (load->tensor != padding.output) continue;
    double places = 1;
    for (const Axis& axis : transform.axes) {
      const auto uses = [&](const Affine& index) { return index.uses(axis.var); };
      if (std::ranges::any_of(load->index, uses)) places *= static_cast<double>(axis.extent);
    }
    reads += places;
  }
  return reads / static_cast<double>(padding.output.elements());
}

// A transform reads a place about once: a pass of its own for the border would take as long. But elements
// that the transform's vectors gather one by one (a network's input, whose channels lie apart) come more
// often than once where tiles overlap, or the window has axes that are not transformed.
bool transform_reads_itself(const Decider& decider, const Compute& transform, const Compute& padding) {
  return lies_alike(decider, padding) || reads_of_place(transform, padding) <= 1;
}

// Inside, where it pads and the tiles that this makes are few enough to be code of their own; but a pass of
// its own where that brings the terms of a group together.
Place preferred_place(const Decider& decider, const Compute& compute, const Compute& consumer,
                      const RowLoop& row_loop) {
  if (consumer.reduction == Reduction::none) return Place::at_block;  // it moves plane by plane
  if (!is_padding(compute)) return Place::whole;
  if (row_loop.adds_groups && !lies_alike(decider, compute)) return Place::whole;
  for (const Load* load : loads_of(consumer.body)) {
    if (load->tensor != compute.output) continue;
    const std::optional<int64_t> kinds = kinds_of_tiles(consumer, *load, decider.costs);
    if (!kinds || *kinds > whole(decider.costs.border_kinds)) return Place::whole;
  }
  return Place::inside;
}

}  // namespace

Placement decide_placement(Decider& decider, const Compute& compute) {
  const std::vector<size_t> consumers = decider.dag.consumers(compute.output);
  if (consumers.size() != 1 || decider.dag.is_output(compute.output)) return {};
  const Compute& consumer = decider.dag.computes[consumers[0]];
  if (decider.stages.of(consumers[0]).role == Role::transform && is_padding(compute)) {
    const int64_t preferred = transform_reads_itself(decider, consumer, compute) ? 1 : 0;
    const bool is_inside = decider.choose.choose_kind(compute.output->name + ".place", 2, preferred) == 1;
    return is_inside ? Placement{Place::inside, consumer.output->name, ""} : Placement{};
  }
  const auto block = decider.row_loops.find(consumer.output->name);
  if (block == decider.row_loops.end()) return {};
  const Place preferred = preferred_place(decider, compute, consumer, block->second);
  const auto place = static_cast<Place>(
      decider.choose.choose_kind(compute.output->name + ".place", 3, static_cast<int64_t>(preferred)));
  // What is packed for the product is read before it.
  const bool is_packed = std::ranges::any_of(
      decider.copies, [&](const auto& copy) { return copy.second == compute.output->name; });
  if (is_packed || (place == Place::inside && block->second.reads_beyond)) return {};
  return {place, consumer.output->name, block->second.loop};
}

}  // namespace lathe
