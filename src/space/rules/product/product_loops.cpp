// The loops of a product: those over cache blocks and tiles, how the cores share them, and the reduction's.
#include <fmt/format.h>

#include <algorithm>

#include "expr/loop_counts.h"
#include "space/rules/product/product_decider.h"

namespace lathe {

// Whether the elements that vectors slide over stay the same along this axis, but for their neighbourhood:
// the phases of a transposed convolution, other filters.
bool ProductDecider::stays_near(size_t i) const {
  return std::ranges::all_of(vector_operand()->load->index,
                             [&](const Affine& index) { return index.coefficient(axis(i).var) == 0; });
}

// Axes outside of the tiles for each of whose places all panels would come from afar again: one panel passes
// over all of these first, where what the rows read stays near or less of it has to come again.
std::vector<size_t> ProductDecider::axes_under_panels() const {
  const Operand* panels = vector_operand();
  const Operand* rows = row_operand();
  const bool rows_first = (sizes_.order & 1) != 0;
  if (rows_first || vectors_slide() || sizes_.by_rows != 0 || panels == nullptr || rows == nullptr ||
      !comes_from_afar(*panels))
    return {};
  std::vector<size_t> axes;
  int64_t repeats = 1;
  for (size_t i = 0; i < compute_.spatial_count(); ++i) {
    const bool tiled = i == tile_.vector || i == tile_.rows || i == other_;
    if (tiled || axis(i).extent == 1 || panels->uses[i]) continue;
    axes.push_back(i);
    repeats *= axis(i).extent;
  }
  const bool stay_near = bytes_of_operand(*rows) <= share_of_l2(d_.costs.near_rows_share);
  const int64_t panel_count = ceil_div(axis(tile_.vector).extent, tile_width());
  const bool less =
      stay_near || bytes_of_operand(*rows) * (panel_count - 1) < bytes_of_operand(*panels) * (repeats - 1);
  return less ? axes : std::vector<size_t>();
}

// Cache blocks, then tiles inside a block. Order bit 0: rows outermost over blocks; bit 1: the same inside.
// What vectors slide over goes through the caches once, for all that is computed of it.
OuterLoops ProductDecider::outer_loops() const {
  OuterLoops loops;
  const std::vector<size_t> under_panels = axes_under_panels();
  const auto add_untiled = [&](bool near) {
    for (size_t i = 0; i < compute_.spatial_count(); ++i) {
      const bool tiled = i == tile_.vector || i == tile_.rows || i == other_ ||
                         std::ranges::find(under_panels, i) != under_panels.end();
      if (!tiled && near == (vectors_slide() && stays_near(i)))
        loops.emplace_back(axis_name(i), axis(i).extent);
    }
  };
  const bool streams = other_ && (vectors_slide() || sizes_.by_rows != 0);
  add_untiled(false);
  if (streams) loops.push_back(others_loop(0));
  add_untiled(true);
  const size_t panel_loop = loops.size();  // the next one, where axes are under it
  add_level(0, (sizes_.order & 1) != 0, !streams, loops);
  OuterLoops under;
  for (const size_t i : under_panels) under.emplace_back(axis_name(i), axis(i).extent);
  if (!under.empty())
    loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(panel_loop) + 1, under.begin(), under.end());
  if (is_cut()) loops.emplace_back(parts_loop(), axis(*sum_).extent / sizes_.terms);
  add_level(1, (sizes_.order & 2) != 0, true, loops);
  return loops;
}

std::pair<std::string, int64_t> ProductDecider::others_loop(int level) const {
  const int64_t blocks = level == 0 ? ceil_div(axis(*other_).extent, sizes_.others) : sizes_.others;
  return {fmt::format("{}.{}", axis_name(*other_), level), blocks};
}

void ProductDecider::add_level(int number, bool rows_first, bool with_others, OuterLoops& loops) const {
  OuterLoops rows;
  const std::string suffix = fmt::format(".{}", number);
  if (other_ && with_others) rows.push_back(others_loop(number));
  if (tile_.rows) {
    const int64_t blocks = ceil_div(extent(*tile_.rows), sizes_.rows * sizes_.row_tiles);
    rows.emplace_back(axis_name(*tile_.rows) + suffix, number == 0 ? blocks : sizes_.row_tiles);
  }
  const int64_t width = tile_width();
  const int64_t panels =
      number == 0 ? ceil_div(axis(tile_.vector).extent, width * sizes_.panels) : sizes_.panels;
  if (!rows_first) loops.emplace_back(axis_name(tile_.vector) + suffix, panels);
  loops.insert(loops.end(), rows.begin(), rows.end());
  if (rows_first) loops.emplace_back(axis_name(tile_.vector) + suffix, panels);
}

// The reduction's loops, those over blocks of channels, what is unrolled and the terms of a group split off.
std::vector<ReduceLoops> ProductDecider::reduce_loops() {
  const std::vector<size_t> order = reduce_order();
  const std::optional<size_t> channels = blocked_channels();
  const size_t last = order.back();
  const int64_t together = channels == last ? block_of_channels(last) : terms_of(last);
  if (together % (sizes_.reduce_unroll * group_of(last)) != 0) sizes_.reduce_unroll = 1;
  std::vector<ReduceLoops> loops;
  for (const size_t r : order) {
    const int64_t unroll = r == last ? sizes_.reduce_unroll : 1;
    const bool is_out = is_cut() && r == *sum_;
    std::vector<int64_t> factors;
    if (is_out)
      factors.push_back(sizes_.terms / (r == channels ? block_of_channels(r) : unroll * group_of(r)));
    if (r == channels) factors.push_back(block_of_channels(r) / (unroll * group_of(r)));
    factors.push_back(unroll);
    factors.push_back(group_of(r));
    std::erase(factors, 1);
    loops.push_back({axis_name(r), std::move(factors), is_out});
  }
  return loops;
}

// An epilogue is computed at loops inside. Where tiles and the blocks that they lie in become one loop,
// nothing tells any more that what the epilogue reads has been computed: then only blocks do, if there are
// enough.
SharedLoops ProductDecider::shared_loops(const OuterLoops& outer) const {
  // So few multiply-adds are done before other cores have been told of them: in about a microsecond.
  const auto a_cycle = static_cast<double>(lanes_ * d_.task.target.cpu().fma_per_cycle);
  if (group_.axis || points_of(compute_) < d_.costs.product_worth_sharing * a_cycle)
    return {.names = names_of(outer)};
  const auto tiles = std::ranges::find_if(outer, [&](const auto& loop) {
    return is_cut() ? loop.first == parts_loop() : loop.first.ends_with(".1");
  });
  int64_t blocks = 1;
  for (auto block = outer.begin(); block != tiles; ++block) blocks *= block->second;
  if (!is_cut() && (!stage_.epilogue || blocks < d_.task.target.cpu().cores)) return share_loops(d_, outer);
  SharedLoops shared = share_loops(d_, {outer.begin(), tiles});
  for (auto tile = tiles; tile != outer.end(); ++tile) shared.names.push_back(tile->first);
  return shared;
}

// A loop that is no more of its own has become part of the first.
void ProductDecider::offer_row_loop(const SharedLoops& shared) {
  if (group_.axis) return;
  const std::string block = axis_name(other_.value_or(tile_.rows.value_or(tile_.vector))) + ".0";
  const bool is_alone = std::ranges::find(shared.names, block) != shared.names.end();
  d_.row_loops.emplace(name_, RowLoop{.loop = is_alone ? block : shared.names.front(),
                                      .reads_beyond = sizes_.pad_rows != 0,
                                      .adds_groups = term_groups_.has_value()});
}

// The innermost loop that moves to another panel.
std::optional<std::string> ProductDecider::loop_of_next_panel(const OuterLoops& outer) const {
  if (sizes_.prefetch == 0) return std::nullopt;
  const Operand& panels_of = *vector_operand();
  for (size_t k = outer.size(); k-- > 0;) {
    const auto& [loop, count] = outer[k];
    for (size_t i = 0; i < compute_.spatial_count(); ++i) {
      const bool drives = loop == axis_name(i) || loop.starts_with(axis_name(i) + ".");
      if (count >= 2 && drives && panels_of.uses[i]) return loop;
    }
  }
  return std::nullopt;
}

}  // namespace lathe
