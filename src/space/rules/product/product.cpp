#include "space/rules/product/product.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "expr/nonzero.h"
#include "expr/walk.h"
#include "schedule/apply.h"
#include "space/rules/product/product_decider.h"

namespace lathe {

ProductDecision ProductDecider::decide() {
  lanes_ = d_.lanes();
  choose_sizes();
  if (const Status sizes = check_sizes(); !sizes && !d_.violation) d_.violation = sizes.error();
  ProductDecision decision{.stage = stage_.compute, .tile = tile_};
  decision.is_padded = place_operands();
  decision.places = d_.take_places();
  decision.reduce = reduce_loops();
  decision.terms = term_loops();
  decision.outer = outer_loops();
  decision.shared = shared_loops(decision.outer);
  offer_row_loop(decision.shared);
  if (is_cut()) decision.parts = parts_loop();
  decision.ahead = loop_of_next_panel(decision.outer);
  if (sizes_.taps_inner != 0) decision.taps = axis_name(*sliding_axis());
  decision.other = other_;
  decision.sizes = sizes_;
  decision.is_grouped = group_.axis.has_value();
  decision.panels = panels_;
  return decision;
}

ProductDecision decide_product(Decider& decider, const Stage& stage, const TileAxes& tile,
                               const GroupedLoops& group) {
  return ProductDecider(decider, stage, tile, group).decide();
}

namespace {

class ProductWriter {
 public:
  ProductWriter(Writer& writer, const ProductDecision& decision)
      : w_(writer),
        decision_(decision),
        stage_(writer.stages.of(decision.stage)),
        compute_(writer.compute(stage_)),
        name_(compute_.output->name) {}

  void write();

 private:
  std::string axis_name(size_t i) const { return compute_.axes[i].var.name(); }
  void write_row_copy(const RowCopy& copy);
  std::vector<std::string> write_reduce_loops();
  std::string group_loop() const;
  void write_tiles();
  void annotate_tile(const std::vector<std::string>& reduce_loops);
  void write_accumulators(const std::string& at);
  using Names = std::vector<std::string>;
  void write_copy(const std::string& block, bool is_tile, const Names& loops, const Names& axes);
  void write_epilogue(const std::string& at, bool is_tile);
  std::vector<size_t> tiled_dims(bool is_tile) const;
  std::string innermost_block_loop() const;
  bool is_unrolled() const { return decision_.sizes.reduce_unroll > 1; }

  Writer& w_;
  const ProductDecision& decision_;
  const Stage& stage_;
  const Compute& compute_;
  const std::string& name_;
};

void ProductWriter::write_row_copy(const RowCopy& copy) {
  const std::string& block = copy.step.copy;
  w_.add(copy.step);
  const bool goes_across = !copy.across.empty();
  const std::string& vectors = goes_across ? copy.across : copy.along;
  if (copy.vector != 0) w_.add(SplitStep{block, vectors, {copy.vector}});
  ReorderStep order{block, copy.loops};
  order.loops.push_back(copy.vector != 0 && !goes_across ? copy.along + ".0" : copy.along);
  if (copy.vector != 0) order.loops.push_back(vectors + ".1");
  w_.add(order);
  if (goes_across) w_.add(AnnotateStep{block, copy.along, LoopKind::unrolled});
  if (copy.vector != 0) {
    w_.add(AnnotateStep{block, vectors + ".1", LoopKind::vectorized});
    w_.add(TailStep{block, vectors, Tail::peel});
  }
  if (!copy.loops.empty()) write_shared(w_, block, copy.shared);
}

// Gives the loops but that over the terms of a group and that over parts of the sum, outermost first.
std::vector<std::string> ProductWriter::write_reduce_loops() {
  std::vector<std::string> loops;
  for (const auto& [axis, factors, outermost_is_out] : decision_.reduce) {
    if (!factors.empty()) w_.add(SplitStep{name_, axis, factors});
    if (factors.empty()) loops.push_back(axis);
    for (size_t part = outermost_is_out ? 1 : 0; !factors.empty() && part <= factors.size(); ++part)
      loops.push_back(fmt::format("{}.{}", axis, part));
    if (decision_.terms && decision_.terms->axis == axis) loops.pop_back();
  }
  return loops;
}

void ProductWriter::write_tiles() {
  const auto& [tile, other, sizes] = std::tie(decision_.tile, decision_.other, decision_.sizes);
  const std::string v = axis_name(tile.vector);
  w_.add(SplitStep{name_, v, {sizes.panels, sizes.streams * sizes.vectors, w_.lanes()}});
  if (tile.rows) w_.add(SplitStep{name_, axis_name(*tile.rows), {sizes.row_tiles, sizes.rows}});
  if (other) w_.add(SplitStep{name_, axis_name(*other), {sizes.others}});
  const std::vector<std::string> reduce_loops = write_reduce_loops();
  ReorderStep order{name_, names_of(decision_.outer)};
  order.loops.insert(order.loops.end(), reduce_loops.begin(), reduce_loops.end());
  const std::string innermost = order.loops[order.loops.size() - (is_unrolled() ? 2 : 1)];
  if (tile.rows) order.loops.push_back(axis_name(*tile.rows) + ".2");
  if (decision_.taps) order.loops.push_back(*decision_.taps);
  order.loops.push_back(v + ".2");
  order.loops.push_back(v + ".3");
  if (decision_.terms) order.loops.push_back(group_loop());
  w_.add(order);
  if (decision_.ahead) w_.add(PrefetchStep{name_, decision_.panels, *decision_.ahead, 1, innermost});
  write_shared(w_, name_, decision_.shared);
  annotate_tile(reduce_loops);
  write_accumulators(decision_.shared.names.back());
}

void ProductWriter::annotate_tile(const std::vector<std::string>& reduce_loops) {
  const TileAxes& tile = decision_.tile;
  const auto unroll = [&](const std::string& loop) { w_.add(AnnotateStep{name_, loop, LoopKind::unrolled}); };
  if (is_unrolled()) unroll(reduce_loops.back());
  if (tile.rows) unroll(axis_name(*tile.rows) + ".2");
  if (decision_.taps) unroll(*decision_.taps);
  unroll(axis_name(tile.vector) + ".2");
  w_.add(AnnotateStep{name_, axis_name(tile.vector) + ".3", LoopKind::vectorized});
  if (!decision_.terms) return;
  w_.add(TensorizeStep{name_, group_loop(), decision_.terms->intrinsic});
  if (decision_.terms->has_rest) w_.add(TailStep{name_, decision_.terms->axis, Tail::peel});
}

// The last part of the axis whose terms are added up in groups.
std::string ProductWriter::group_loop() const {
  const std::string& axis = decision_.terms->axis;
  const auto loops = std::ranges::find(decision_.reduce, axis, &ReduceLoops::axis);
  return fmt::format("{}.{}", axis, loops->factors.size());
}

// Moves what a register tile holds, written out, or what a cache block does: loops and axes are those of the
// vectors, before them those of the rows, if any, and of a block's lines.
void ProductWriter::write_copy(const std::string& block, bool is_tile, const Names& loops,
                               const Names& axes) {
  const std::string& vector_loop = loops.back();
  w_.add(SplitStep{block, vector_loop, {w_.lanes()}});
  ReorderStep order{block, {loops.begin(), loops.end() - 1}};
  order.loops.push_back(vector_loop + ".0");
  order.loops.push_back(vector_loop + ".1");
  w_.add(order);
  for (size_t i = 0; is_tile && i + 1 < order.loops.size(); ++i)
    w_.add(AnnotateStep{block, order.loops[i], LoopKind::unrolled});
  w_.add(AnnotateStep{block, order.loops.back(), LoopKind::vectorized});
  w_.add(TailStep{block, axes.back(), Tail::mask});
  if (decision_.tile.rows) w_.add(TailStep{block, axes[axes.size() - 2], Tail::peel});
}

// At the end of each iteration of `at`, of a tile or of a block.
void ProductWriter::write_epilogue(const std::string& at, bool is_tile) {
  const Compute& epilogue = w_.dag.computes[*stage_.epilogue];
  const std::string block = epilogue.output->name;
  w_.add(ReverseComputeAtStep{block, name_, at, is_tile ? Scope::registers : Scope::thread});
  for (const Load* load : loads_of(epilogue.body)) {
    if (load->tensor != compute_.output) continue;
    const std::vector<std::string> loops = side_loop_names(load->index);
    const auto axis_of = [&](size_t dim) {
      std::vector<Var> vars;
      collect_vars(load->index[dim], vars);
      return vars.empty() ? epilogue.axes[0].var.name() : vars.front().name();
    };
    Names moved, axes;
    for (const size_t dim : tiled_dims(is_tile)) {
      moved.push_back(loops[dim]);
      axes.push_back(axis_of(dim));
    }
    return write_copy(block, is_tile, moved, axes);
  }
}

// The axes along which a tile, or a block, has more than one place; the vectors' last.
std::vector<size_t> ProductWriter::tiled_dims(bool is_tile) const {
  std::vector<size_t> dims;
  if (!is_tile && decision_.other) dims.push_back(*decision_.other);
  if (decision_.tile.rows) dims.push_back(*decision_.tile.rows);
  dims.push_back(decision_.tile.vector);
  return dims;
}

// Around the loop over the parts of a sum.
std::string ProductWriter::innermost_block_loop() const {
  const std::vector<std::string>& names = decision_.shared.names;
  return *std::prev(std::ranges::find(names, *decision_.parts));
}

void ProductWriter::write_accumulators(const std::string& at) {
  if (stage_.epilogue && !decision_.parts) return write_epilogue(at, true);
  if (stage_.epilogue) write_epilogue(innermost_block_loop(), false);
  Names axes;
  for (const size_t dim : tiled_dims(/*is_tile=*/true)) axes.push_back(axis_name(dim));
  const std::string copy = name_ + ".acc";
  w_.add(CacheWriteStep{name_, copy, at, Scope::registers});
  if (decision_.parts) write_copy(copy + ".in", true, axes, axes);
  write_copy(copy + ".out", true, axes, axes);
}

void ProductWriter::write() {
  const auto& [tile, sizes] = std::tie(decision_.tile, decision_.sizes);
  write_places(w_, decision_.places);
  if (decision_.terms && decision_.terms->copy) write_row_copy(*decision_.terms->copy);
  write_tiles();
  w_.add(TailStep{name_, axis_name(tile.vector), decision_.is_padded ? Tail::pad : Tail::peel});
  if (tile.rows) w_.add(TailStep{name_, axis_name(*tile.rows), sizes.pad_rows != 0 ? Tail::pad : Tail::peel});
  if (!where_nonzero(w_.dag, compute_.body).empty()) w_.add(SkipZerosStep{name_});
}

}  // namespace

void write_product(Writer& writer, const ProductDecision& decision) {
  ProductWriter(writer, decision).write();
}

}  // namespace lathe
