// Rule: a product is tiled around a register tile of `rows` x `vectors` accumulators (kernels.md 0): operands
// that can be transformed beforehand are packed into panels as wide as the tile, accumulators live in
// registers over the whole reduction, imperfect row tiles are smaller tiles, imperfect vectors are padding
// and masks.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "expr/walk.h"
#include "schedule/apply.h"
#include "space/rules/register_tile.h"
#include "space/rules/rules.h"

namespace lathe {
namespace {

struct TileSizes : RegisterTile {
  int64_t panels = 1;     // tiles along the vector axis in a cache block
  int64_t row_tiles = 1;  // tiles along the row axis in a cache block
  int64_t others = 1;     // of the largest other spatial axis in a cache block
  int64_t order = 0;      // of the loops over cache blocks and in them
  int64_t channels_inner = 1;
  int64_t reduce_unroll = 1;
  int64_t pad_rows = 0;
  int64_t prefetch = 0;  // of the next panel while this one is used
};

class ProductWriter {
 public:
  ProductWriter(Writer& writer, const Stage& stage, const TileAxes& tile, const GroupedLoops& group)
      : w_(writer),
        stage_(stage),
        tile_(tile),
        group_(group),
        compute_(writer.compute(stage)),
        name_(compute_.output->name) {}

  Status write();

 private:
  const Axis& axis(size_t i) const { return compute_.axes[i]; }
  // Of the loop over an axis: a group has but a part of one.
  int64_t extent(size_t i) const {
    if (group_.axis == i) return group_.size;
    return std::ranges::find(group_.single, i) == group_.single.end() ? axis(i).extent : 1;
  }
  std::string axis_name(size_t i) const { return compute_.axes[i].var.name(); }
  const Operand* vector_operand() const;  // uses the vector axis and not the rows
  const Operand* row_operand() const;     // the other one
  void choose_sizes();
  Status check_sizes() const;
  RegisterTile preferred_tile() const;
  // Along the vector axis, of a register tile.
  int64_t tile_width() const { return sizes_.streams * sizes_.vectors * lanes_; }
  int64_t preferred_row_tiles() const;
  std::string name_of_pack(const Tensor& tensor) const;
  bool is_placed_for_this_alone(const Operand& operand) const;
  void pack_operand(const Operand& operand);
  void place_row_operand(const Operand& operand);
  std::vector<size_t> reduce_order() const;
  std::vector<std::pair<std::string, int64_t>> outer_loops() const;
  void write_tiles();
  void write_accumulators(const std::string& at);
  void write_copy_out(const std::string& block, const std::string& vector_loop, const std::string& row_loop,
                      const std::string& vector_axis, const std::string& row_axis);
  bool rows_may_be_padded() const;
  bool used_by_all(size_t axis) const;
  bool can_be_packed(const Operand* operand) const;
  bool is_read_in_place(const Operand& operand);
  void choose_prefetch(const Operand& operand);
  void write_prefetch(const std::vector<std::pair<std::string, int64_t>>& outer,
                      const std::string& innermost);

  Writer& w_;
  const Stage& stage_;
  const TileAxes& tile_;
  const GroupedLoops& group_;
  const Compute& compute_;
  std::string name_;
  std::optional<size_t> other_;  // the other spatial axis that gets a cache tile
  TileSizes sizes_;
  std::string panels_;  // the packed copy's name, once there is one
  int64_t lanes_ = 8;
};

const Operand* ProductWriter::vector_operand() const {
  for (const Operand& operand : stage_.operands) {
    if (operand.uses[tile_.vector] && (!tile_.rows || !operand.uses[*tile_.rows])) return &operand;
  }
  for (const Operand& operand : stage_.operands) {
    if (operand.uses[tile_.vector]) return &operand;
  }
  return nullptr;
}

const Operand* ProductWriter::row_operand() const {
  const Operand* vector = vector_operand();
  for (const Operand& operand : stage_.operands) {
    if (&operand != vector) return &operand;
  }
  return nullptr;
}

RegisterTile ProductWriter::preferred_tile() const {
  const int64_t vectors_there = ceil_div(axis(tile_.vector).extent, lanes_);
  if (!tile_.rows) return preferred_streams(vectors_there);
  return preferred_register_tile(w_.task.target, vectors_there, extent(*tile_.rows), group_.imperfect);
}

// Rows of the row operand that stay in half of the second-level cache while panels pass.
int64_t ProductWriter::preferred_row_tiles() const {
  int64_t reduction = 1;
  for (size_t r = compute_.spatial_count(); r < compute_.axes.size(); ++r) reduction *= axis(r).extent;
  const int64_t row_bytes = std::max<int64_t>(1, reduction * 4 * preferred_tile().rows);
  return std::max<int64_t>(1, w_.task.target.l2.bytes / 2 / row_bytes);
}

void ProductWriter::choose_sizes() {
  const int64_t vector_extent = axis(tile_.vector).extent;
  const int64_t row_extent = tile_.rows ? axis(*tile_.rows).extent : 1;
  const int64_t most_vectors = std::min<int64_t>(4, ceil_div(vector_extent, lanes_));
  std::vector<int64_t> vectors(static_cast<size_t>(most_vectors));
  std::iota(vectors.begin(), vectors.end(), 1);
  const RegisterTile preferred = preferred_tile();
  sizes_.vectors = w_.choose.choose(name_ + ".vectors", vectors, preferred.vectors);
  std::vector<int64_t> rows(static_cast<size_t>(std::min<int64_t>(14, row_extent)));
  std::iota(rows.begin(), rows.end(), 1);
  sizes_.rows = w_.choose.choose(name_ + ".rows", rows, preferred.rows);
  if (tile_.rows) {
    sizes_.rows = std::min(sizes_.rows, extent(*tile_.rows));
  } else {
    const int64_t most = std::min<int64_t>(8, ceil_div(vector_extent, lanes_));
    sizes_.streams = w_.choose.choose(name_ + ".streams", powers_of_two(most), preferred.streams);
  }
  sizes_.panels = w_.choose.choose(name_ + ".panels",
                                   powers_of_two(std::min<int64_t>(16, ceil_div(vector_extent, lanes_))), 1);
  // No more tiles than there are: empty ones would only make the loops around them longer.
  sizes_.row_tiles =
      std::min(ceil_div(tile_.rows ? extent(*tile_.rows) : 1, sizes_.rows),
               w_.choose.choose(name_ + ".row_tiles", powers_of_two(std::min<int64_t>(64, row_extent)),
                                preferred_row_tiles()));
  for (size_t i = 0; i < compute_.spatial_count(); ++i) {
    if (i == tile_.vector || (tile_.rows && i == *tile_.rows) || extent(i) < 2) continue;
    // Between chains, axes that every operand has are many small products: nothing is read again along them.
    if (group_.axis && used_by_all(i)) continue;
    if (!other_ || axis(i).extent >= axis(*other_).extent) other_ = i;
  }
  if (other_) {
    sizes_.others =
        w_.choose.choose(name_ + ".others", powers_of_two(std::min<int64_t>(64, axis(*other_).extent)), 1);
  }
  sizes_.order = w_.choose.choose_kind(name_ + ".order", 4, other_ ? 0 : 1);
  if (compute_.axes.size() > compute_.spatial_count() + 1) {
    sizes_.channels_inner = w_.choose.choose_kind(name_ + ".channels_inner", 2, 1);
  }
  std::vector<int64_t> unrolls;
  for (int64_t factor : {1, 2, 4}) {
    bool divides = true;
    for (size_t r = compute_.spatial_count(); r < compute_.axes.size(); ++r) {
      const bool may_be_innermost = r + 1 == compute_.axes.size() || axis(r).extent > 7;
      divides &= !may_be_innermost || axis(r).extent % factor == 0;
    }
    if (divides) unrolls.push_back(factor);
  }
  if (unrolls.empty()) unrolls.push_back(1);
  sizes_.reduce_unroll = w_.choose.choose(name_ + ".unroll", unrolls, 1);
  if (rows_may_be_padded()) {
    // A last group that is smaller would need tiles of its own for every rest.
    sizes_.pad_rows = w_.choose.choose_kind(name_ + ".pad_rows", 2, group_.imperfect ? 1 : 0);
  }
}

Status ProductWriter::check_sizes() const {
  const int64_t needed = sizes_.streams * sizes_.rows * sizes_.vectors + sizes_.vectors + 1;
  if (needed > w_.task.target.vector_registers) {
    return fail(ErrorKind::illegal_schedule,
                fmt::format("a register tile of {} x {} needs {} vector registers of {}", sizes_.rows,
                            sizes_.vectors, needed, w_.task.target.vector_registers));
  }
  const int64_t panels = ceil_div(axis(tile_.vector).extent, sizes_.vectors * lanes_);
  if (panels % (sizes_.streams * sizes_.panels) != 0) {
    return fail(ErrorKind::illegal_schedule,
                fmt::format("blocks of {} panels do not divide {}", sizes_.streams * sizes_.panels, panels));
  }
  const int64_t unrolled = sizes_.rows * sizes_.vectors * sizes_.reduce_unroll;
  if (unrolled > 96)
    return fail(ErrorKind::illegal_schedule,
                fmt::format("the unrolled body of {} multiply-adds is too large", unrolled));
  return {};
}

// Reduce axes, outermost first. Those that index the row operand plainly are its channels.
std::vector<size_t> ProductWriter::reduce_order() const {
  std::vector<size_t> order;
  for (size_t r = compute_.spatial_count(); r < compute_.axes.size(); ++r) order.push_back(r);
  const Operand* rows = row_operand();
  if (sizes_.channels_inner != 0 && rows != nullptr) {
    const auto is_channel = [&](size_t r) { return rows->dim_of_axis[r] >= 0; };
    std::ranges::sort(order, {}, [&](size_t r) { return std::pair(is_channel(r), r); });
  }
  return order;
}

bool ProductWriter::used_by_all(size_t axis) const {
  return std::ranges::all_of(stage_.operands, [&](const Operand& operand) { return operand.uses[axis]; });
}

// Beyond the last row, too, something is read: only what the program itself computes can have room there.
bool ProductWriter::rows_may_be_padded() const {
  const Operand* rows = row_operand();
  if (rows == nullptr || !tile_.rows) return false;
  const Operand* vector = vector_operand();
  return std::ranges::all_of(stage_.operands, [&](const Operand& operand) {
    const bool needs_room = &operand == rows || (&operand != vector && operand.uses[*tile_.rows]);
    return !needs_room || (!operand.is_prepared && w_.is_intermediate(operand.load->tensor));
  });
}

// Products that read the same tensor pack it each for itself: their tiles differ.
std::string ProductWriter::name_of_pack(const Tensor& tensor) const {
  std::string name = tensor->name + ".pack";
  const bool taken = std::ranges::any_of(w_.trace, [&](const Step& step) {
    const auto* copy = std::get_if<CacheReadStep>(&step);
    return copy != nullptr && copy->copy == name;
  });
  return taken ? fmt::format("{}.{}", name, name_) : name;
}

// Whether the operand can come in panels at once: nothing else reads it, and its layout is open.
bool ProductWriter::is_placed_for_this_alone(const Operand& operand) const {
  const Tensor& tensor = operand.load->tensor;
  const auto argument = std::ranges::find(w_.task.arguments, tensor, &Argument::tensor);
  const bool is_open = argument != w_.task.arguments.end() && argument->layout_is_free &&
                       !argument->is_constant && !w_.layouts.contains(tensor->name);
  const bool is_alone = std::ranges::count_if(stage_.operands, [&](const Operand& other) {
                          return other.load->tensor == tensor;
                        }) == 1;
  return is_open && is_alone && w_.dag.consumers(tensor).size() == 1;
}

// Panels: [vector axis / width] [other spatial dims] [reduce dims in loop order] [vector axis % width].
void ProductWriter::pack_operand(const Operand& operand) {
  const int dim = operand.dim_of_axis[tile_.vector];
  if (dim < 0) return;
  const int64_t width = sizes_.vectors * lanes_;
  Layout layout;
  std::vector<bool> placed(operand.load->index.size(), false);
  placed[static_cast<size_t>(dim)] = true;
  const auto place = [&](int d) {
    if (placed[static_cast<size_t>(d)]) return;
    layout.dims.push_back({d, 1, 0, 0});
    placed[static_cast<size_t>(d)] = true;
  };
  const auto place_axis = [&](size_t a) {
    for (size_t d = 0; d < operand.load->index.size(); ++d) {
      if (operand.load->index[d].uses(axis(a).var)) place(static_cast<int>(d));
    }
  };
  for (size_t a = 0; a < compute_.spatial_count(); ++a) {
    if (a != tile_.vector) place_axis(a);
  }
  layout.dims.push_back({dim, width, 0, 0});
  for (size_t r : reduce_order()) place_axis(r);
  for (size_t d = 0; d < placed.size(); ++d) place(static_cast<int>(d));
  layout.dims.push_back({dim, 1, width, 0});
  if (operand.is_prepared || is_placed_for_this_alone(operand)) {
    w_.set_layout(operand.load->tensor, layout);
    panels_ = operand.load->tensor->name;
    return;
  }
  const std::string copy = name_of_pack(operand.load->tensor);
  panels_ = copy;
  const std::string at = operand.is_constant ? "prepare" : "root";
  w_.add(CacheReadStep{name_, operand.load->tensor->name, copy, at, Scope::workspace, layout});
  if (operand.is_constant) return;
  std::vector<std::pair<std::string, int64_t>> loops;
  for (size_t d = 0; d < operand.load->index.size(); ++d)
    loops.emplace_back(fmt::format("d{}", d), operand.load->tensor->shape[d]);
  write_parallel(w_, copy, loops);
}

// The innermost channel axis last: neighbouring steps of the reduction read neighbouring elements.
void ProductWriter::place_row_operand(const Operand& operand) {
  const std::vector<size_t> order = reduce_order();
  int last = -1;
  for (size_t r : order) {
    if (operand.dim_of_axis[r] >= 0) last = operand.dim_of_axis[r];
  }
  const int vector_dim = operand.step_dim[tile_.vector];
  if (vector_dim >= 0) last = vector_dim;
  if (last < 0) return;
  std::vector<int> dims;
  for (size_t d = 0; d < operand.load->index.size(); ++d) {
    if (static_cast<int>(d) != last) dims.push_back(static_cast<int>(d));
  }
  // Each of many small products finds its part together.
  std::ranges::stable_partition(dims, [&](int dim) {
    for (size_t i = 0; i < compute_.spatial_count(); ++i) {
      if (operand.dim_of_axis[i] == dim && used_by_all(i)) return true;
    }
    return false;
  });
  dims.push_back(last);
  w_.set_layout(operand.load->tensor, Layout::permuted(dims));
}

// Cache blocks, then tiles inside a block. Order bit 0: rows outermost over blocks; bit 1: the same inside.
std::vector<std::pair<std::string, int64_t>> ProductWriter::outer_loops() const {
  std::vector<std::pair<std::string, int64_t>> loops;
  const std::string v = axis_name(tile_.vector);
  const int64_t width = tile_width();
  for (size_t i = 0; i < compute_.spatial_count(); ++i) {
    const bool tiled = i == tile_.vector || (tile_.rows && i == *tile_.rows) || (other_ && i == *other_);
    if (!tiled) loops.emplace_back(axis_name(i), axis(i).extent);
  }
  const auto level = [&](int number, bool rows_first) {
    std::vector<std::pair<std::string, int64_t>> rows;
    const std::string suffix = fmt::format(".{}", number);
    if (other_) {
      rows.emplace_back(axis_name(*other_) + suffix,
                        number == 0 ? ceil_div(axis(*other_).extent, sizes_.others) : sizes_.others);
    }
    if (tile_.rows) {
      const int64_t blocks = ceil_div(extent(*tile_.rows), sizes_.rows * sizes_.row_tiles);
      rows.emplace_back(axis_name(*tile_.rows) + suffix, number == 0 ? blocks : sizes_.row_tiles);
    }
    const int64_t panels =
        number == 0 ? ceil_div(axis(tile_.vector).extent, width * sizes_.panels) : sizes_.panels;
    if (!rows_first) loops.emplace_back(v + suffix, panels);
    loops.insert(loops.end(), rows.begin(), rows.end());
    if (rows_first) loops.emplace_back(v + suffix, panels);
  };
  level(0, (sizes_.order & 1) != 0);
  level(1, (sizes_.order & 2) != 0);
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
  const std::vector<size_t> reduce = reduce_order();
  for (size_t r : reduce) order.loops.push_back(axis_name(r));
  std::string innermost = axis_name(reduce.back());
  if (axis(reduce.back()).extent % sizes_.reduce_unroll != 0) sizes_.reduce_unroll = 1;
  if (sizes_.reduce_unroll > 1) {
    w_.add(SplitStep{name_, innermost, {sizes_.reduce_unroll}});
    order.loops.back() = innermost + ".0";
    order.loops.push_back(innermost + ".1");
  }
  if (tile_.rows) order.loops.push_back(axis_name(*tile_.rows) + ".2");
  order.loops.push_back(v + ".2");
  order.loops.push_back(v + ".3");
  w_.add(order);
  if (sizes_.prefetch != 0) write_prefetch(outer, sizes_.reduce_unroll > 1 ? innermost + ".0" : innermost);
  std::string innermost_outer = outer.back().first;
  if (!group_.axis) {
    const std::vector<std::string> loops = write_parallel(w_, name_, outer);
    innermost_outer = loops.back();
    // A loop that is no more of its own has become part of the first.
    const std::string block = axis_name(other_.value_or(tile_.rows.value_or(tile_.vector))) + ".0";
    const bool is_alone = std::ranges::find(loops, block) != loops.end();
    w_.row_blocks.emplace(name_, is_alone ? block : loops.front());
  }
  if (sizes_.reduce_unroll > 1) w_.add(AnnotateStep{name_, innermost + ".1", LoopKind::unrolled});
  if (tile_.rows) w_.add(AnnotateStep{name_, axis_name(*tile_.rows) + ".2", LoopKind::unrolled});
  w_.add(AnnotateStep{name_, v + ".2", LoopKind::unrolled});
  w_.add(AnnotateStep{name_, v + ".3", LoopKind::vectorized});
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

bool ProductWriter::can_be_packed(const Operand* operand) const {
  return operand != nullptr && operand->dim_of_axis[tile_.vector] >= 0 &&
         (!tile_.rows || !operand->uses[*tile_.rows]);
}

// Panels of what is only known at run time are made in every call. That pays where each element serves many
// results; else vectors are read from where they lie.
bool ProductWriter::is_read_in_place(const Operand& operand) {
  constexpr double kReuseWorthPacking = 64;
  if (operand.is_constant || operand.is_prepared) return false;
  double reuse = 1;
  for (size_t i = 0; i < compute_.spatial_count(); ++i) {
    if (!operand.uses[i]) reuse *= static_cast<double>(axis(i).extent);
  }
  const bool packs = reuse >= kReuseWorthPacking;
  return w_.choose.choose_kind(name_ + ".pack", 2, packs ? 1 : 0) == 0;
}

// Panels that do not stay in the second-level cache from one call to the next come from far away each time:
// there the next one is fetched while this one is used (kernels.md 0).
void ProductWriter::choose_prefetch(const Operand& operand) {
  int64_t bytes = bytes_of(operand.load->tensor->dtype);
  for (const int64_t extent : operand.load->tensor->shape) bytes *= extent;
  const bool far = bytes > w_.task.target.l2.bytes && tile_.rows;
  sizes_.prefetch = w_.choose.choose_kind(name_ + ".prefetch", 2, far ? 1 : 0);
}

// Ahead of the innermost loop that moves to another panel.
void ProductWriter::write_prefetch(const std::vector<std::pair<std::string, int64_t>>& outer,
                                   const std::string& innermost) {
  const Operand& panels_of = *vector_operand();
  for (size_t k = outer.size(); k-- > 0;) {
    const auto& [loop, count] = outer[k];
    for (size_t i = 0; i < compute_.spatial_count(); ++i) {
      const bool drives = loop == axis_name(i) || loop.starts_with(axis_name(i) + ".");
      if (count < 2 || !drives || !panels_of.uses[i]) continue;
      w_.add(PrefetchStep{name_, panels_, loop, 1, innermost});
      return;
    }
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
    pack_operand(*vector);
    packed = std::ranges::count_if(stage_.operands,
                                   [&](const Operand& operand) { return operand.uses[tile_.vector]; }) == 1;
  } else if (vector != nullptr) {
    sizes_.prefetch = 0;
    place_row_operand(*vector);
  }
  if (rows != nullptr && rows != vector) place_row_operand(*rows);
  write_vector_layouts(w_, stage_, tile_.vector);
  write_tiles();
  w_.add(TailStep{name_, axis_name(tile_.vector), packed ? Tail::pad : Tail::peel});
  if (tile_.rows)
    w_.add(TailStep{name_, axis_name(*tile_.rows), sizes_.pad_rows != 0 ? Tail::pad : Tail::peel});
  return {};
}

}  // namespace

Status write_product(Writer& writer, const Stage& stage, const TileAxes& tile, const GroupedLoops& group) {
  return ProductWriter(writer, stage, tile, group).write();
}

}  // namespace lathe
