// The sizes of a product's tiles: what may be chosen, what the model prefers, and what does not go together.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "space/rules/product/product_decider.h"

namespace lathe {
namespace {

int64_t bytes_of(const Tensor& tensor) { return tensor.elements() * bytes_of(tensor->dtype); }

}  // namespace

RegisterTile ProductDecider::preferred_tile() const {
  const int64_t vectors_there = ceil_div(axis(tile_.vector).extent, lanes_);
  if (!tile_.rows) return preferred_streams(vectors_there);
  const int64_t taps = sliding_axis() ? registers_of_taps() : 0;
  const std::vector<RegisterTile> tiles =
      preferred_register_tiles(d_.task.target.cpu(), vectors_there, extent(*tile_.rows), group_.imperfect,
                               taps, most_vectors(), d_.costs);
  return tiles[std::min(static_cast<size_t>(d_.choose.alternative()), tiles.size() - 1)];
}

// Panels that come from afar are narrow enough for the next one to be fetched while one is used, where that
// can be.
int64_t ProductDecider::most_vectors() const {
  const int64_t most = whole(d_.costs.tile_vectors);
  const Operand* operand = vector_operand();
  if (!can_be_packed(operand)) return most;
  for (int64_t vectors = most; vectors > 0; --vectors) {
    if (!comes_from_afar(*operand) || fits_twice(*operand, vectors)) return vectors;
  }
  return most;
}

// Whether no cache that is near holds an operand from one call to the next: what is used between its first
// element's use and the next is all there is.
bool ProductDecider::comes_from_afar(const Operand& operand) const {
  int64_t bytes = bytes_of(compute_.output);
  for (const Operand& other : stage_.operands) bytes += bytes_of(other.load->tensor);
  const int64_t near = d_.task.target.cpu().l2.bytes;
  const int64_t own = bytes_of(operand.load->tensor);
  return own > near || (bytes > near && own > share_of_l2(d_.costs.afar_share));
}

int64_t ProductDecider::bytes_of_operand(const Operand& operand) const {
  return bytes_of(operand.load->tensor);
}

// Whether the second-level cache holds two panels of so many vectors; if all of them come from memory, they
// need not stay.
bool ProductDecider::fits_twice(const Operand& operand, int64_t vectors) const {
  const Tensor& tensor = operand.load->tensor;
  int64_t panel = bytes_of(tensor->dtype) * vectors * lanes_;
  for (size_t r = compute_.spatial_count(); r < compute_.axes.size(); ++r)
    panel *= operand.uses[r] ? terms_of(r) : 1;
  return 2 * panel <= d_.task.target.cpu().l2.bytes || bytes_of(tensor) > d_.task.target.cpu().l3.bytes;
}

// What one more row takes of the row operand: where windows overlap, less than a row reads.
int64_t ProductDecider::bytes_of_row() const {
  const Operand* operand = row_operand();
  if (operand == nullptr || !tile_.rows) return 1;
  const Var& rows = axis(*tile_.rows).var;
  int64_t elements = 1;
  for (const Affine& index : operand->load->index) {
    if (index.uses(rows)) {
      elements *= std::max<int64_t>(1, std::abs(index.coefficient(rows)));
      continue;
    }
    for (size_t r = compute_.spatial_count(); r < compute_.axes.size(); ++r) {
      if (index.uses(axis(r).var)) elements *= terms_of(r);
    }
  }
  return elements * bytes_of(operand->load->tensor->dtype);
}

// Rows of the row operand that stay in half of the second-level cache while panels pass; all, where blocks of
// another axis do that, or where all stay there.
int64_t ProductDecider::preferred_row_tiles() const {
  const int64_t all = tile_.rows ? extent(*tile_.rows) : 1;
  if (other_ && tile_.rows) return all;
  const int64_t rows = preferred_tile().rows;
  const int64_t near = share_of_l2(d_.costs.row_block_share) / (bytes_of_row() * rows);
  const int64_t tiles = std::max<int64_t>(1, near);
  if (tiles < ceil_div(all, rows)) return tiles;
  // Panels that lie in one block leave it to the rows to give every core one.
  const int64_t columns = ceil_div(axis(tile_.vector).extent, tile_width() * sizes_.panels);
  if (!is_cut() || columns >= d_.task.target.cpu().cores) return all;
  return std::max<int64_t>(1, all / rows * columns / d_.task.target.cpu().cores);
}

// What one of the many small products reads or writes of a tensor, along all axes that every operand has.
int64_t ProductDecider::bytes_of_one(const Tensor& tensor) const {
  int64_t bytes = bytes_of(tensor);
  for (size_t a = 0; a < compute_.spatial_count(); ++a) {
    if (used_by_all(a)) bytes /= axis(a).extent;
  }
  return bytes;
}

// What is outermost is read once: panels, but where they stay in the second-level cache and are less than
// rows and results together. All results of neighbouring places lie side by side, as do the channels that a
// depthwise product reads: written and read panel after panel they are pieces that lie apart, which no
// processor fetches ahead (docs/notes/products.md).
bool ProductDecider::prefers_rows_first() const {
  const Operand* panels = vector_operand();
  const Operand* rows = row_operand();
  // What vectors slide over is no panel to be kept.
  if (!other_ || vectors_slide()) return true;
  if (panels == nullptr || rows == nullptr) return false;
  if (is_cut() || has_blocks_of_lines()) return true;
  const int64_t of_panels = bytes_of_one(panels->load->tensor);
  return of_panels <= share_of_l2(d_.costs.panels_share) &&
         of_panels < bytes_of_one(rows->load->tensor) + bytes_of_one(compute_.output);
}

// The weights of a window's taps, and as many vectors that it slides over.
int64_t ProductDecider::registers_of_taps() const { return 2 * axis(*sliding_axis()).extent; }

// Whether neighbouring places of this axis read some of the row operand's elements together, whatever the
// window's steps.
bool ProductDecider::has_window(size_t i) const {
  const Operand* rows = row_operand();
  if (rows == nullptr) return false;
  const auto is_under_window = [&](const Affine& index) {
    if (!index.uses(axis(i).var)) return false;
    for (size_t r = compute_.spatial_count(); r < compute_.axes.size(); ++r) {
      if (axis(r).extent > 1 && index.uses(axis(r).var)) return true;
    }
    return false;
  };
  return std::ranges::any_of(rows->load->index, is_under_window);
}

// The longest other spatial axis gets a cache tile, one under a window before others. Along axes that every
// operand has are many small products, of which nothing is read again: they stay outside.
void ProductDecider::choose_other_axis() {
  const auto rank = [&](size_t i) { return std::pair(has_window(i), axis(i).extent); };
  for (size_t i = 0; i < compute_.spatial_count(); ++i) {
    // How many places a group has is an answer: what is asked must not depend on it.
    const bool is_in_tile = i == tile_.vector || i == tile_.rows;
    if (is_in_tile || group_.axis == i || extent(i) < 2 || used_by_all(i)) continue;
    if (!other_ || rank(i) >= rank(*other_)) other_ = i;
  }
}

// Powers of two, and the whole axis where it is short.
std::vector<int64_t> ProductDecider::other_blocks() const {
  constexpr int64_t kMost = 64;
  const int64_t there = axis(*other_).extent;
  std::vector<int64_t> blocks = powers_of_two(std::min(kMost, there));
  if (there <= kMost && blocks.back() != there) blocks.push_back(there);
  return blocks;
}

// Whether each product reads but a part of the channels, so that pixels that have all channels together would
// lie far apart. Of a window whose steps are as long as it is the taps are parts, too, but shorter ones.
bool ProductDecider::has_blocks_of_channels() const {
  const Operand* rows = row_operand();
  int64_t longest = 0;
  bool is_part = false;
  for (size_t r = compute_.spatial_count(); rows != nullptr && r < compute_.axes.size(); ++r) {
    if (rows->digit_dim[r] < 0 || axis(r).extent <= longest) continue;
    longest = axis(r).extent;
    is_part = rows->dim_of_axis[r] < 0;
  }
  return is_part;
}

// Whether the second-level cache does not hold the row operand, whose channels can yet be laid in blocks, no
// more than the processor follows as streams: with 32 blocks and more, whole pixels are faster by up to a
// quarter. So they are where rows are several pixels apart, by a fifth.
bool ProductDecider::blocks_come_from_afar() const {
  const Operand* rows = row_operand();
  if (rows == nullptr || !tile_.rows || !d_.is_open(rows->load->tensor) ||
      bytes_of(rows->load->tensor) <= d_.task.target.cpu().l2.bytes)
    return false;
  const Var& row = axis(*tile_.rows).var;
  if (std::ranges::any_of(rows->load->index,
                          [&](const Affine& i) { return std::abs(i.coefficient(row)) > 1; }))
    return false;
  for (size_t r = compute_.spatial_count(); r < compute_.axes.size(); ++r) {
    const int64_t block = block_of_channels(r);
    if (rows->dim_of_axis[r] >= 0 && block != 0 && axis(r).extent / block <= whole(d_.costs.streams))
      return true;
  }
  return false;
}

// Whether no cache holds the row operand: then it is best read as it lies, from one end to the other.
bool ProductDecider::comes_from_memory() const {
  const Operand* rows = row_operand();
  return rows != nullptr && bytes_of(rows->load->tensor) > d_.task.target.cpu().l3.bytes;
}

std::vector<int64_t> ProductDecider::unroll_factors() const {
  std::vector<int64_t> unrolls;
  for (int64_t factor : {1, 2, 4}) {
    bool divides = true;
    for (size_t r = compute_.spatial_count(); r < compute_.axes.size(); ++r) {
      const bool may_be_innermost =
          r + 1 == compute_.axes.size() || axis(r).extent > whole(d_.costs.channels_innermost);
      divides &= !may_be_innermost || axis(r).extent % factor == 0;
    }
    if (divides) unrolls.push_back(factor);
  }
  if (unrolls.empty()) unrolls.push_back(1);
  return unrolls;
}

// Where vectors slide each step of the sum loads little: several steps go together, as far as the body
// allows; of a sum along one axis, whose steps are short, two.
int64_t ProductDecider::preferred_unroll(const RegisterTile& tile) const {
  // Compilers load the panels of both steps together: where registers do not hold them, all accumulators are
  // spilled.
  const int64_t needed = tile.rows * tile.vectors + 2 * tile.vectors + 1;
  const bool has_room = needed <= d_.task.target.cpu().vector_registers;
  const int64_t most = vectors_slide() ? std::numeric_limits<int64_t>::max() : sum_ && has_room ? 2 : 1;
  int64_t preferred = 1;
  for (const int64_t factor : unroll_factors()) {
    const int64_t body = factor * tile.rows * tile.vectors * tile.streams;
    if (factor <= most && body <= whole(d_.costs.largest_body)) preferred = factor;
  }
  return preferred;
}

void ProductDecider::choose_sizes() {
  choose_other_axis();
  sum_ = long_sum();
  if (sum_) {
    sizes_.terms = axis(*sum_).extent;  // what is preferred starts from a sum in full
    sizes_.terms = d_.choose.choose(name_ + ".terms", parts_of_sum(*sum_), preferred_terms(*sum_));
  }
  const int64_t vector_extent = axis(tile_.vector).extent;
  const int64_t row_extent = tile_.rows ? axis(*tile_.rows).extent : 1;
  std::vector<int64_t> vectors(static_cast<size_t>(widest_tile()));
  std::iota(vectors.begin(), vectors.end(), 1);
  const RegisterTile preferred = preferred_tile();
  sizes_.vectors = d_.choose.choose(name_ + ".vectors", vectors, preferred.vectors);
  std::vector<int64_t> rows(static_cast<size_t>(std::min<int64_t>(14, row_extent)));
  std::iota(rows.begin(), rows.end(), 1);
  sizes_.rows = d_.choose.choose(name_ + ".rows", rows, preferred.rows);
  if (tile_.rows) {
    sizes_.rows = std::min(sizes_.rows, extent(*tile_.rows));
  } else {
    const int64_t most = std::min<int64_t>(8, ceil_div(vector_extent, lanes_));
    sizes_.streams = d_.choose.choose(name_ + ".streams", powers_of_two(most), preferred.streams);
  }
  sizes_.panels = d_.choose.choose(name_ + ".panels", panel_blocks(), preferred_panels());
  if (sum_) sizes_.panels = even_panels(sizes_.panels);
  // No more tiles than there are: empty ones would only make the loops around them longer. Blocks of about
  // the same size each.
  const int64_t tiles = ceil_div(tile_.rows ? extent(*tile_.rows) : 1, sizes_.rows);
  const int64_t most_tiles = d_.choose.choose(name_ + ".row_tiles", row_blocks(), preferred_row_tiles());
  sizes_.row_tiles = ceil_div(tiles, ceil_div(tiles, most_tiles));
  if (other_) sizes_.others = d_.choose.choose(name_ + ".others", other_blocks(), preferred_others());
  sizes_.order = d_.choose.choose_kind(name_ + ".order", 4, prefers_rows_first() ? 1 : 0);
  if (compute_.axes.size() > compute_.spatial_count() + 1) {
    // Where vectors slide along an image's rows, its channels lie far apart.
    sizes_.channels_inner = d_.choose.choose_kind(name_ + ".channels_inner", 2, vectors_slide() ? 0 : 1);
  }
  const int64_t unroll = preferred_unroll(preferred);
  sizes_.reduce_unroll = d_.choose.choose(name_ + ".unroll", unroll_factors(), unroll);
  const bool shares_loads = sliding_axis().has_value();
  if (shares_loads) {
    const int64_t body = preferred.rows * preferred.vectors * unroll * axis(*sliding_axis()).extent;
    const bool has_room = registers_of_taps() + preferred.rows <= d_.task.target.cpu().vector_registers &&
                          body <= whole(d_.costs.largest_body);
    sizes_.taps_inner = d_.choose.choose_kind(name_ + ".taps_inner", 2, has_room ? 1 : 0);
  }
  const bool far_apart = shares_loads || has_blocks_of_channels() || vectors_slide();
  sizes_.blocked = d_.choose.choose_kind(name_ + ".blocked", 2, far_apart || blocks_come_from_afar() ? 1 : 0);
  // Nothing of such an image is read for more than its own block.
  if (shares_loads && other_ && comes_from_memory())
    sizes_.by_rows = d_.choose.choose_kind(name_ + ".by_rows", 2, 1);
  if (rows_may_be_padded()) {
    // A last group that is smaller would need tiles of its own for every rest.
    sizes_.pad_rows = d_.choose.choose_kind(name_ + ".pad_rows", 2, group_.imperfect ? 1 : 0);
  }
}

Status ProductDecider::check_sizes() const {
  const int64_t needed = sizes_.streams * sizes_.rows * sizes_.vectors + sizes_.vectors + 1;
  if (needed > d_.task.target.cpu().vector_registers) {
    return fail(ErrorKind::illegal_schedule,
                fmt::format("a register tile of {} x {} needs {} vector registers of {}", sizes_.rows,
                            sizes_.vectors, needed, d_.task.target.cpu().vector_registers));
  }
  const int64_t panels = ceil_div(axis(tile_.vector).extent, sizes_.vectors * lanes_);
  if (panels % (sizes_.streams * sizes_.panels) != 0) {
    return fail(ErrorKind::illegal_schedule,
                fmt::format("blocks of {} panels do not divide {}", sizes_.streams * sizes_.panels, panels));
  }
  const int64_t taps = sizes_.taps_inner != 0 ? axis(*sliding_axis()).extent : 1;
  const int64_t unrolled = sizes_.rows * sizes_.vectors * sizes_.reduce_unroll * taps;
  if (unrolled > whole(d_.costs.largest_body))
    return fail(ErrorKind::illegal_schedule,
                fmt::format("the unrolled body of {} multiply-adds is too large", unrolled));
  return {};
}

bool ProductDecider::used_by_all(size_t axis) const {
  return std::ranges::all_of(stage_.operands, [&](const Operand& operand) { return operand.uses[axis]; });
}

// Beyond the last row, too, something is read: only what the program itself computes can have room there.
bool ProductDecider::rows_may_be_padded() const {
  const Operand* rows = row_operand();
  if (rows == nullptr || !tile_.rows) return false;
  const Operand* vector = vector_operand();
  return std::ranges::all_of(stage_.operands, [&](const Operand& operand) {
    const bool needs_room = &operand == rows || (&operand != vector && operand.uses[*tile_.rows]);
    return !needs_room || (!operand.is_prepared && d_.is_intermediate(operand.load->tensor));
  });
}

}  // namespace lathe
