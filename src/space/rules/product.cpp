// Rule: a product is tiled around a register tile of `rows` x `vectors` accumulators (kernels.md 0): operands
// that can be transformed beforehand are packed into panels as wide as the tile, accumulators live in
// registers over the whole reduction, imperfect row tiles are smaller tiles, imperfect vectors are padding
// and masks.
#include <fmt/format.h>

#include <algorithm>

#include "expr/analysis.h"
#include "expr/nonzero.h"
#include "expr/walk.h"
#include "schedule/apply.h"
#include "space/rules/product_writer.h"

namespace lathe {

// Whether the elements that vectors slide over stay the same along this axis, but for their neighbourhood:
// the phases of a transposed convolution, other filters.
bool ProductWriter::stays_near(size_t i) const {
  return std::ranges::all_of(vector_operand()->load->index,
                             [&](const Affine& index) { return index.coefficient(axis(i).var) == 0; });
}

// Axes outside of the tiles for each of whose places all panels would come from afar again: one panel passes
// over all of these first, where what the rows read stays near or less of it has to come again.
std::vector<size_t> ProductWriter::axes_under_panels() const {
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
  const bool stay_near = bytes_of_operand(*rows) <= w_.task.target.l2.bytes / 2;
  const int64_t panel_count = ceil_div(axis(tile_.vector).extent, tile_width());
  const bool less =
      stay_near || bytes_of_operand(*rows) * (panel_count - 1) < bytes_of_operand(*panels) * (repeats - 1);
  return less ? axes : std::vector<size_t>();
}

// Cache blocks, then tiles inside a block. Order bit 0: rows outermost over blocks; bit 1: the same inside.
// What vectors slide over goes through the caches once, for all that is computed of it.
std::vector<std::pair<std::string, int64_t>> ProductWriter::outer_loops() const {
  std::vector<std::pair<std::string, int64_t>> loops;
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
  std::vector<std::pair<std::string, int64_t>> under;
  for (const size_t i : under_panels) under.emplace_back(axis_name(i), axis(i).extent);
  if (!under.empty())
    loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(panel_loop) + 1, under.begin(), under.end());
  add_level(1, (sizes_.order & 2) != 0, true, loops);
  return loops;
}

std::pair<std::string, int64_t> ProductWriter::others_loop(int level) const {
  const int64_t blocks = level == 0 ? ceil_div(axis(*other_).extent, sizes_.others) : sizes_.others;
  return {fmt::format("{}.{}", axis_name(*other_), level), blocks};
}

void ProductWriter::add_level(int number, bool rows_first, bool with_others,
                              std::vector<std::pair<std::string, int64_t>>& loops) const {
  std::vector<std::pair<std::string, int64_t>> rows;
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
ProductWriter::ReduceLoops ProductWriter::write_reduce_loops(std::vector<std::string>& loops) {
  const std::vector<size_t> reduce = reduce_order();
  const std::optional<size_t> channels = blocked_channels();
  const size_t last = reduce.back();
  const int64_t together = channels == last ? block_of_channels(last) : axis(last).extent;
  if (together % (sizes_.reduce_unroll * group_of(last)) != 0) sizes_.reduce_unroll = 1;
  ReduceLoops result;
  for (const size_t r : reduce) {
    const int64_t unroll = r == last ? sizes_.reduce_unroll : 1;
    std::vector<int64_t> factors;
    if (r == channels) factors.push_back(block_of_channels(r) / (unroll * group_of(r)));
    factors.push_back(unroll);
    factors.push_back(group_of(r));
    std::erase(factors, 1);
    if (!factors.empty()) w_.add(SplitStep{name_, axis_name(r), factors});
    if (factors.empty()) loops.push_back(axis_name(r));
    for (size_t part = 0; !factors.empty() && part <= factors.size(); ++part)
      loops.push_back(fmt::format("{}.{}", axis_name(r), part));
    if (group_of(r) > 1) {
      result.tensorized = loops.back();
      loops.pop_back();
    }
    if (unroll > 1) result.unrolled = loops.back();
  }
  return result;
}

// An epilogue is computed at loops inside. Where tiles and the blocks that they lie in become one loop,
// nothing tells any more that what the epilogue reads has been computed: then only blocks do, if there are
// enough.
std::vector<std::string> ProductWriter::write_parallel_loops(
    const std::vector<std::pair<std::string, int64_t>>& outer) {
  // So few multiply-adds are done before other cores have been told of them: in about a microsecond.
  constexpr double kCyclesWorthSharing = 3000;
  const auto a_cycle = static_cast<double>(lanes_ * w_.task.target.fma_per_cycle);
  if (points_of(compute_) < kCyclesWorthSharing * a_cycle) return names_of(outer);
  const auto tiles = std::ranges::find_if(outer, [](const auto& loop) { return loop.first.ends_with(".1"); });
  int64_t blocks = 1;
  for (auto block = outer.begin(); block != tiles; ++block) blocks *= block->second;
  if (!stage_.epilogue || blocks < w_.task.cores) return write_parallel(w_, name_, outer);
  std::vector<std::string> loops = write_parallel(w_, name_, {outer.begin(), tiles});
  for (auto tile = tiles; tile != outer.end(); ++tile) loops.push_back(tile->first);
  return loops;
}

void ProductWriter::write_tiles() {
  const std::string v = axis_name(tile_.vector);
  w_.add(SplitStep{name_, v, {sizes_.panels, sizes_.streams * sizes_.vectors, lanes_}});
  if (tile_.rows) w_.add(SplitStep{name_, axis_name(*tile_.rows), {sizes_.row_tiles, sizes_.rows}});
  if (other_) w_.add(SplitStep{name_, axis_name(*other_), {sizes_.others}});
  ReorderStep order{name_, {}};
  const auto outer = outer_loops();
  for (const auto& [loop, extent] : outer) order.loops.push_back(loop);
  const auto [unrolled, tensorized] = write_reduce_loops(order.loops);
  const std::string innermost = order.loops[order.loops.size() - (unrolled ? 2 : 1)];
  if (tile_.rows) order.loops.push_back(axis_name(*tile_.rows) + ".2");
  if (sizes_.taps_inner != 0) order.loops.push_back(axis_name(*sliding_axis()));
  order.loops.push_back(v + ".2");
  order.loops.push_back(v + ".3");
  if (tensorized) order.loops.push_back(*tensorized);
  w_.add(order);
  if (sizes_.prefetch != 0) write_prefetch(outer, innermost);
  std::string innermost_outer = outer.back().first;
  if (!group_.axis) {
    const std::vector<std::string> loops = write_parallel_loops(outer);
    innermost_outer = loops.back();
    // A loop that is no more of its own has become part of the first.
    const std::string block = axis_name(other_.value_or(tile_.rows.value_or(tile_.vector))) + ".0";
    const bool is_alone = std::ranges::find(loops, block) != loops.end();
    w_.row_blocks.emplace(name_, RowLoop{is_alone ? block : loops.front(), sizes_.pad_rows != 0});
  }
  if (unrolled) w_.add(AnnotateStep{name_, *unrolled, LoopKind::unrolled});
  if (tile_.rows) w_.add(AnnotateStep{name_, axis_name(*tile_.rows) + ".2", LoopKind::unrolled});
  if (sizes_.taps_inner != 0) w_.add(AnnotateStep{name_, axis_name(*sliding_axis()), LoopKind::unrolled});
  w_.add(AnnotateStep{name_, v + ".2", LoopKind::unrolled});
  w_.add(AnnotateStep{name_, v + ".3", LoopKind::vectorized});
  if (tensorized) {
    w_.add(TensorizeStep{name_, *tensorized, groups_->intrinsic->name});
    if (axis(groups_->axis).extent % group_of(groups_->axis) != 0)
      w_.add(TailStep{name_, axis_name(groups_->axis), Tail::peel});
  }
  write_accumulators(innermost_outer);
}

void ProductWriter::write_copy_out(const std::string& block, const std::string& vector_loop,
                                   const std::string& row_loop, const std::string& vector_axis,
                                   const std::string& row_axis) {
  w_.add(SplitStep{block, vector_loop, {lanes_}});
  ReorderStep order{block, {}};
  if (tile_.rows) order.loops.push_back(row_loop);
  order.loops.push_back(vector_loop + ".0");
  order.loops.push_back(vector_loop + ".1");
  w_.add(order);
  for (size_t i = 0; i + 1 < order.loops.size(); ++i)
    w_.add(AnnotateStep{block, order.loops[i], LoopKind::unrolled});
  w_.add(AnnotateStep{block, order.loops.back(), LoopKind::vectorized});
  w_.add(TailStep{block, vector_axis, Tail::mask});
  if (tile_.rows) w_.add(TailStep{block, row_axis, Tail::peel});
}

void ProductWriter::write_accumulators(const std::string& at) {
  const size_t rows = tile_.rows.value_or(tile_.vector);
  if (!stage_.epilogue) {
    const std::string copy = name_ + ".acc";
    w_.add(CacheWriteStep{name_, copy, at, Scope::registers});
    write_copy_out(copy + ".out", axis_name(tile_.vector), axis_name(rows), axis_name(tile_.vector),
                   axis_name(rows));
    return;
  }
  const Compute& epilogue = w_.dag.computes[*stage_.epilogue];
  const std::string block = epilogue.output->name;
  w_.add(ReverseComputeAtStep{block, name_, at, Scope::registers});
  for (const Load* load : loads_of(epilogue.body)) {
    if (load->tensor != compute_.output) continue;
    const std::vector<std::string> loops = side_loop_names(load->index);
    const auto axis_of = [&](size_t dim) {
      std::vector<Var> vars;
      collect_vars(load->index[dim], vars);
      return vars.empty() ? epilogue.axes[0].var.name() : vars.front().name();
    };
    write_copy_out(block, loops[tile_.vector], loops[rows], axis_of(tile_.vector), axis_of(rows));
    return;
  }
}

Status ProductWriter::write() {
  lanes_ = w_.lanes();
  choose_sizes();
  if (Status sizes = check_sizes(); !sizes && !w_.violation) w_.violation = sizes.error();
  const Operand* vector = vector_operand();
  const Operand* rows = row_operand();
  bool packed = false;
  const bool is_packable = can_be_packed(vector);
  if (is_packable) choose_prefetch(*vector);
  if (is_packable && !is_read_in_place(*vector)) {
    groups_ = term_groups();
    pack_operand(*vector);
    packed = std::ranges::count_if(stage_.operands,
                                   [&](const Operand& operand) { return operand.uses[tile_.vector]; }) == 1;
  } else if (vector != nullptr) {
    sizes_.prefetch = 0;
    place_row_operand(*vector);
  }
  if (groups_) {
    group_row_operand(*rows);
  } else if (rows != nullptr && rows != vector) {
    place_row_operand(*rows);
  }
  place_results();
  write_tiles();
  w_.add(TailStep{name_, axis_name(tile_.vector), packed ? Tail::pad : Tail::peel});
  if (tile_.rows)
    w_.add(TailStep{name_, axis_name(*tile_.rows), sizes_.pad_rows != 0 ? Tail::pad : Tail::peel});
  if (!where_nonzero(w_.dag, compute_.body).empty()) w_.add(SkipZerosStep{name_});
  return {};
}

Status write_product(Writer& writer, const Stage& stage, const TileAxes& tile, const GroupedLoops& group) {
  return ProductWriter(writer, stage, tile, group).write();
}

}  // namespace lathe
