// Where a stage without a reduction is made that a product alone reads, or one that moves whole planes: once
// for all; block by block, just before it is read there (Ansor's compute location), so that it stays in the
// caches, and is made again where blocks overlap; or inside of the product, in every place that reads it. The
// last is for what pads an image: it needs no pass of its own, and the border's tiles are cut off from the
// others (lower/peel_tails.h), which read the image itself. So does a transform of such an image.
#include <algorithm>

#include "expr/walk.h"
#include "space/rules/rules.h"

namespace lathe {
namespace {

// Tiles of how many kinds there are between a product's borders, along all axes that windows slide over;
// nothing where lowering would not cut them off.
std::optional<int64_t> kinds_of_tiles(const Compute& consumer, const Load& load) {
  constexpr int64_t kMostAtOneEnd = 4;
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
      if (borders > 2 * kMostAtOneEnd) return std::nullopt;
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

// Inside, where it pads and the tiles that this makes are few enough to be code of their own.
Place preferred_place(const Compute& compute, const Compute& consumer) {
  constexpr int64_t kMostKinds = 64;
  if (consumer.reduction == Reduction::none) return Place::at_block;  // it moves plane by plane
  if (!is_padding(compute)) return Place::whole;
  for (const Load* load : loads_of(consumer.body)) {
    if (load->tensor != compute.output) continue;
    const std::optional<int64_t> kinds = kinds_of_tiles(consumer, *load);
    if (!kinds || *kinds > kMostKinds) return Place::whole;
  }
  return Place::inside;
}

}  // namespace

Placement choose_placement(Writer& writer, const Compute& compute) {
  const std::vector<size_t> consumers = writer.dag.consumers(compute.output);
  if (consumers.size() != 1 || writer.dag.is_output(compute.output)) return {};
  const Compute& consumer = writer.dag.computes[consumers[0]];
  // A transform reads a place about once: a pass of its own for the border would take as long.
  if (writer.stages.of(consumers[0]).role == Role::transform && is_padding(compute)) {
    const bool is_inside = writer.choose.choose_kind(compute.output->name + ".place", 2, 1) == 1;
    return is_inside ? Placement{Place::inside, consumer.output->name, ""} : Placement{};
  }
  const auto block = writer.row_blocks.find(consumer.output->name);
  if (block == writer.row_blocks.end()) return {};
  const Place preferred = preferred_place(compute, consumer);
  const auto place = static_cast<Place>(
      writer.choose.choose_kind(compute.output->name + ".place", 3, static_cast<int64_t>(preferred)));
  // What is packed for the product is read before it.
  const bool is_packed = std::ranges::any_of(writer.trace, [&](const Step& step) {
    const auto* copy = std::get_if<CacheReadStep>(&step);
    return copy != nullptr && copy->tensor == compute.output->name;
  });
  if (is_packed || (place == Place::inside && block->second.reads_beyond)) return {};
  return {place, consumer.output->name, block->second.loop};
}

}  // namespace lathe
