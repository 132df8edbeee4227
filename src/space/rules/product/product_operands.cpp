// How a product's operands lie in memory: packed in panels, or placed so that what is read together lies
// together.
#include <fmt/format.h>

#include <algorithm>

#include "space/rules/layouts.h"
#include "space/rules/product/product_decider.h"
#include "space/rules/product/tile_candidates.h"

namespace lathe {
namespace {

// Not the rows of a block together, but the blocks of a row.
Layout with_blocks_in_rows(Layout layout, size_t row_dim) {
  const auto block = std::ranges::find_if(layout.dims, [](const LayoutDim& dim) { return dim.divide > 1; });
  const auto row = std::ranges::find(layout.dims, static_cast<int>(row_dim), &LayoutDim::dim);
  if (block < row && row != layout.dims.end()) std::rotate(block, block + 1, row + 1);
  return layout;
}

// Of a copy of the operand, where it is to have another type.
std::optional<DType> wider_type(const Operand& operand, DType wanted) {
  return operand.load->tensor->dtype == wanted ? std::nullopt : std::optional(wanted);
}

}  // namespace

const Operand* ProductDecider::vector_operand() const {
  for (const Operand& operand : stage_.operands) {
    if (operand.uses[tile_.vector] && (!tile_.rows || !operand.uses[*tile_.rows])) return &operand;
  }
  for (const Operand& operand : stage_.operands) {
    if (operand.uses[tile_.vector]) return &operand;
  }
  return nullptr;
}

const Operand* ProductDecider::row_operand() const {
  const Operand* vector = vector_operand();
  for (const Operand& operand : stage_.operands) {
    if (&operand != vector) return &operand;
  }
  return nullptr;
}

// Reduce axes, outermost first. Those that index the row operand plainly, or number what lies in one block of
// a dimension (the channels of a group), are its channels: the longest goes innermost, since taps along an
// axis of one place look like channels too. Taps inside of the rows are left out.
std::vector<size_t> ProductDecider::reduce_order() const {
  std::vector<size_t> order;
  for (size_t r = compute_.spatial_count(); r < compute_.axes.size(); ++r) {
    if (sizes_.taps_inner == 0 || r != *sliding_axis()) order.push_back(r);
  }
  const Operand* rows = row_operand();
  if (sizes_.channels_inner != 0 && rows != nullptr) {
    const auto length_as_channel = [&](size_t r) { return rows->digit_dim[r] >= 0 ? axis(r).extent : 0; };
    std::ranges::sort(order, {}, [&](size_t r) { return std::pair(length_as_channel(r), r); });
  }
  return order;
}

// Whether the operand can come in panels at once: nothing else reads it, and its layout is open.
bool ProductDecider::is_placed_for_this_alone(const Operand& operand) const {
  const Tensor& tensor = operand.load->tensor;
  const auto argument = std::ranges::find(d_.task.arguments, tensor, &Argument::tensor);
  const bool is_open = argument != d_.task.arguments.end() && argument->layout_is_free &&
                       !argument->is_constant && !d_.layouts.contains(tensor->name);
  const bool is_alone = std::ranges::count_if(stage_.operands, [&](const Operand& other) {
                          return other.load->tensor == tensor;
                        }) == 1;
  return is_open && is_alone && d_.dag.consumers(tensor).size() == 1;
}

// Panels: [vector axis / width] [other spatial dims] [reduce dims in loop order] [vector axis % width], and
// the terms of a group innermost.
void ProductDecider::pack_operand(const Operand& operand) {
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
  const int grouped = term_groups_ ? operand.dim_of_axis[term_groups_->axis] : -1;
  const int64_t group = term_groups_ ? term_groups_->intrinsic->group : 1;
  for (size_t r : reduce_order()) place_axis(r);
  // An axis of one place may have brought it in before the sum's.
  for (LayoutDim& placed_dim : layout.dims) {
    if (placed_dim.dim == grouped) placed_dim.divide = group;
  }
  for (size_t d = 0; d < placed.size(); ++d) place(static_cast<int>(d));
  layout.dims.push_back({dim, 1, width, 0});
  if (term_groups_) layout.dims.push_back({grouped, 1, group, 0});
  if (operand.is_prepared || is_placed_for_this_alone(operand)) {
    d_.set_layout(operand.load->tensor, layout);
    panels_ = operand.load->tensor->name;
    return;
  }
  panels_ = d_.set_copy(operand.load->tensor, operand.is_constant, name_, layout,
                        term_groups_ ? wider_type(operand, term_groups_->vector_type) : std::nullopt);
}

bool ProductDecider::vectors_slide() const {
  const Operand* operand = vector_operand();
  return operand != nullptr && operand->dim_of_axis[tile_.vector] < 0;
}

// An element of the row operand that is a vector is read by several rows where a window slides along them.
std::optional<size_t> ProductDecider::sliding_axis() const {
  const Operand* rows = row_operand();
  if (rows == nullptr || !tile_.rows) return std::nullopt;
  if (compute_.axes.size() < compute_.spatial_count() + 2) return std::nullopt;
  return window_over_vectors(compute_, *rows, tile_.vector, *tile_.rows);
}

// The innermost channel axis last: neighbouring steps of the reduction read neighbouring elements. Where
// vectors need that place, channels lie next to them if they are to be blocked: a row of an image has all its
// channels together.
void ProductDecider::place_row_operand(const Operand& operand) {
  const bool blocked = sizes_.blocked != 0;
  InnerDim channels{-1, 0};
  for (size_t r : reduce_order()) {
    if (operand.digit_dim[r] < 0) continue;
    const bool is_digit_of_more = operand.dim_of_axis[r] < 0;
    channels = {operand.digit_dim[r], 0};
    if (blocked) channels.block = is_digit_of_more ? axis(r).extent : block_of_channels(r);
  }
  const InnerDim vectors{operand.step_dim[tile_.vector],
                         blocked && operand.dim_of_axis[tile_.vector] >= 0 ? sizes_.vectors * lanes_ : 0};
  std::vector<InnerDim> inner;
  const bool both = vectors.dim >= 0 && channels.dim >= 0 && channels.dim != vectors.dim;
  if (both && blocked) {
    inner = {channels, {vectors.dim, 0}};
  } else if (vectors.dim >= 0 || channels.dim >= 0) {
    inner = {vectors.dim >= 0 ? vectors : channels};
  }
  if (inner.empty()) return;
  Layout layout = with_innermost(operand.load->tensor, inner);
  // Each of many small products finds its part together.
  const auto is_of_one = [&](const LayoutDim& dim) {
    for (size_t i = 0; i < compute_.spatial_count(); ++i) {
      if (operand.dim_of_axis[i] == dim.dim && used_by_all(i)) return true;
    }
    return false;
  };
  if (!blocked) std::stable_partition(layout.dims.begin(), layout.dims.end() - 1, is_of_one);
  for (size_t d = 0; sizes_.by_rows != 0 && d < operand.load->index.size(); ++d) {
    if (operand.load->index[d].uses(axis(*other_).var)) layout = with_blocks_in_rows(std::move(layout), d);
  }
  for (size_t d = 0; blocked && tile_.rows && d < operand.load->index.size(); ++d) {
    if (operand.load->index[d].uses(axis(*tile_.rows).var))
      layout = with_rows_in_blocks(std::move(layout), d);
  }
  d_.set_layout(operand.load->tensor, spread_over_sets(std::move(layout), operand));
}

// Rows, or blocks of channels, that lie as far apart as one way of the first cache is large meet in one set
// of it, which does not hold a line of each: of an argument they get a line more. Vectors run along what the
// program itself makes, across rows too.
Layout ProductDecider::spread_over_sets(Layout layout, const Operand& operand) const {
  const Tensor& tensor = operand.load->tensor;
  if (!tile_.rows || d_.is_intermediate(tensor)) return layout;
  const CacheLevel& cache = d_.task.target.cpu().l1;
  const int64_t element = bytes_of(tensor->dtype);
  int64_t stride = 1;  // elements
  bool is_innermost_of_rows = true;
  for (size_t k = layout.dims.size(); k-- > 0;) {
    const auto dim = static_cast<size_t>(layout.dims[k].dim);
    const bool walks_rows = operand.load->index[dim].uses(axis(*tile_.rows).var);
    const bool is_far = k + 1 < layout.dims.size() && stride * element % (cache.bytes / cache.ways) == 0;
    if (is_far && (layout.dims[k].divide > 1 || (walks_rows && is_innermost_of_rows))) {
      const int64_t step = stride / physical_shape(layout, tensor->shape)[k + 1];
      layout.dims[k + 1].extra += ceil_div(cache.line_bytes, step * element);
      stride = step * physical_shape(layout, tensor->shape)[k + 1];
    }
    // Rows that are one axis over several dimensions walk them as one.
    is_innermost_of_rows = is_innermost_of_rows && !walks_rows;
    stride *= physical_shape(layout, tensor->shape)[k];
  }
  return layout;
}

void ProductDecider::place_results() {
  const int64_t block = sizes_.blocked != 0 && !vectors_slide() ? sizes_.vectors * lanes_ : 0;
  if (sizes_.by_rows == 0 || stage_.epilogue)
    return decide_vector_layouts(d_, stage_, tile_.vector, block, tile_.rows);
  const Layout layout = with_innermost(compute_.output, {{static_cast<int>(tile_.vector), block}});
  d_.set_layout(compute_.output, with_blocks_in_rows(layout, *other_));
}

// Whole vectors of them: what one product reads of a row of pixels then comes in as many streams as there are
// blocks, each of which the processor fetches ahead by itself.
int64_t ProductDecider::block_of_channels(size_t r) const {
  return axis(r).extent > lanes_ && axis(r).extent % lanes_ == 0 ? lanes_ : 0;
}

// The reduce axis whose places lie in blocks.
std::optional<size_t> ProductDecider::blocked_channels() const {
  const Operand* rows = row_operand();
  if (rows == nullptr || sizes_.blocked == 0) return std::nullopt;
  for (size_t r = compute_.spatial_count(); r < compute_.axes.size(); ++r) {
    if (rows->dim_of_axis[r] < 0 || block_of_channels(r) == 0) continue;
    const LayoutDim innermost = d_.layout_of(rows->load->tensor).dims.back();
    if (innermost.dim == rows->dim_of_axis[r] && innermost.modulo == block_of_channels(r)) return r;
  }
  return std::nullopt;
}

bool ProductDecider::can_be_packed(const Operand* operand) const {
  return operand != nullptr && operand->dim_of_axis[tile_.vector] >= 0 &&
         (!tile_.rows || !operand->uses[*tile_.rows]);
}

// Panels of what is only known at run time are made in every call, unless it may come in panels. That pays
// where each element serves many results; else vectors are read from where they lie.
bool ProductDecider::is_read_in_place(const Operand& operand) {
  if (operand.is_constant || operand.is_prepared) return false;
  const bool packs =
      reuse_of(compute_, operand) >= d_.costs.reuse_worth_packing || is_placed_for_this_alone(operand);
  return d_.choose.choose_kind(name_ + ".pack", 2, packs ? 1 : 0) == 0;
}

// Panels that do not stay in the second-level cache from one call to the next come from far away each time:
// there the next one is fetched while this one is used (kernels.md 0). Where the cache does not hold both,
// they would only drive each other out, unless they come from memory.
void ProductDecider::choose_prefetch(const Operand& operand) {
  const bool pays = tile_.rows && comes_from_afar(operand) && fits_twice(operand, sizes_.vectors);
  sizes_.prefetch = d_.choose.choose_kind(name_ + ".prefetch", 2, pays ? 1 : 0);
}

// Places what the product reads and writes; gives whether its panels have room for all of the last vectors.
bool ProductDecider::place_operands() {
  const Operand* vector = vector_operand();
  const Operand* rows = row_operand();
  bool is_padded = false;
  const bool is_packable = can_be_packed(vector);
  if (is_packable) choose_prefetch(*vector);
  if (is_packable && !is_read_in_place(*vector)) {
    term_groups_ = term_groups();
    pack_operand(*vector);
    is_padded = std::ranges::count_if(
                    stage_.operands, [&](const Operand& operand) { return operand.uses[tile_.vector]; }) == 1;
  } else if (vector != nullptr) {
    sizes_.prefetch = 0;
    place_row_operand(*vector);
  }
  if (term_groups_) {
    group_row_operand(*rows);
  } else if (rows != nullptr && rows != vector) {
    place_row_operand(*rows);
  }
  place_results();
  return is_padded;
}

}  // namespace lathe
