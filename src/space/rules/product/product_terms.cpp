// Long sums of which a cache block adds up some terms at a time: rows that are read whole leave room for few
// others in a near cache, and all panels come once for these few (GotoBLAS; Goto and van de Geijn 2008, 4.2).
#include <algorithm>
#include <cmath>

#include "space/rules/product/product_decider.h"

namespace lathe {

// The reduce axis along which most is added up, if it runs along one dimension of both operands and parts of
// it are whole vectors of terms.
std::optional<size_t> ProductDecider::long_sum() const {
  const Operand* panels = vector_operand();
  const Operand* rows = row_operand();
  if (!has_plain_rows()) return std::nullopt;
  std::optional<size_t> longest;
  for (size_t r = compute_.spatial_count(); r < compute_.axes.size(); ++r) {
    if (panels->dim_of_axis[r] < 0 || rows->dim_of_axis[r] < 0) continue;
    if (!longest || axis(r).extent > axis(*longest).extent) longest = r;
  }
  if (!longest || parts_of_sum(*longest).size() < 2) return std::nullopt;
  return longest;
}

// Whether the product stands alone, each panel passes over all its rows, and no two rows read the same.
bool ProductDecider::has_plain_rows() const {
  if (!tile_.rows || group_.axis || !group_.single.empty()) return false;
  if (row_operand() == nullptr || !can_be_packed(vector_operand()) || has_window(*tile_.rows)) return false;
  return !other_ || (!has_window(*other_) && !vector_operand()->uses[*other_]);
}

// Rows in all lines, and how many of them half of the near cache holds with as many terms of each as are
// added up together.
int64_t ProductDecider::rows_in_all() const {
  return extent(*tile_.rows) * (other_ ? axis(*other_).extent : 1);
}
int64_t ProductDecider::rows_near() const {
  return std::max<int64_t>(1, share_of_l2(d_.costs.row_block_share) / bytes_of_row());
}

// Whether lines of rows are best taken in blocks over which all panels pass: where neither operand stays near
// that moves less than one panel at a time over all rows.
bool ProductDecider::has_blocks_of_lines() const {
  if (!other_ || !has_plain_rows()) return false;
  const Operand& panels = *vector_operand();
  const int64_t row_bytes = bytes_of_operand(*row_operand()), panel_bytes = bytes_of_operand(panels);
  if (!comes_from_afar(panels) || row_bytes <= share_of_l2(d_.costs.near_rows_share)) return false;
  const int64_t passes = ceil_div(axis(tile_.vector).extent, tile_width());
  return panel_bytes * ceil_div(rows_in_all(), rows_near()) + row_bytes < panel_bytes + row_bytes * passes;
}

// Equal parts of whole vectors, and all of it.
std::vector<int64_t> ProductDecider::parts_of_sum(size_t r) const {
  const int64_t all = axis(r).extent;
  std::vector<int64_t> parts;
  for (int64_t part = lanes_ * whole(d_.costs.vectors_of_part); 2 * part <= all; part += lanes_) {
    if (all % part == 0) parts.push_back(part);
  }
  parts.push_back(all);
  return parts;
}

// With p terms at a time the near cache holds s / p rows, for each of which all panels come once; each of m
// rows' results goes there and back all / p times. Both together are least where p is the root of s / 2;
// fewer rows than such parts leave room for allow longer ones. All terms, where that moves less.
int64_t ProductDecider::preferred_terms(size_t r) const {
  const int64_t all = axis(r).extent;
  const Operand& panels = *vector_operand();
  if (!comes_from_afar(panels)) return all;
  const auto terms = static_cast<double>(all);
  const auto rows = static_cast<double>(rows_in_all());
  const double near = static_cast<double>(share_of_l2(d_.costs.row_block_share)) * terms /
                      static_cast<double>(bytes_of_row());  // terms of all rows that it holds
  const auto panel_bytes = static_cast<double>(bytes_of_operand(panels));
  const auto result_bytes =
      static_cast<double>(bytes_of(compute_.output->dtype) * compute_.output.elements());
  const auto moved = [&](double part) {
    const double times = std::ceil(rows * part / near);
    return panel_bytes * times + (part < terms ? 2 * result_bytes * terms / part : 0);
  };
  const auto whole_tiles = rows + (other_ ? 0 : d_.costs.tile_rows_without_rest);
  const double longest = std::max(std::sqrt(near / 2), near / whole_tiles);
  int64_t best = all;
  for (const int64_t part : parts_of_sum(r)) {
    if (static_cast<double>(part) <= longest) best = part;
  }
  return moved(static_cast<double>(best)) < d_.costs.clear_cut * moved(terms) ? best : all;
}

// Powers of two, and of a sum that may be cut all in which a block holds the same number of panels, or all of
// them. How wide a panel is is an answer: what is asked must not depend on it.
std::vector<int64_t> ProductDecider::panel_blocks() const {
  constexpr int64_t kMost = 64;
  const int64_t vectors = ceil_div(axis(tile_.vector).extent, lanes_);
  std::vector<int64_t> blocks = powers_of_two(std::min<int64_t>(16, vectors));
  for (int64_t width = 1; sum_ && width <= widest_tile(); ++width) {
    const int64_t panels = ceil_div(vectors, width);
    for (int64_t block = 1; block <= std::min(kMost, panels); ++block) {
      if (panels % block == 0) blocks.push_back(block);
    }
    blocks.push_back(panels);
  }
  std::ranges::sort(blocks);
  const auto [first, last] = std::ranges::unique(blocks);
  blocks.erase(first, last);
  return blocks;
}

// The most panels, not above these, of which each block has as many.
int64_t ProductDecider::even_panels(int64_t most) const {
  const int64_t panels = ceil_div(axis(tile_.vector).extent, tile_width());
  int64_t block = std::min(most, panels);
  while (panels % block != 0) --block;
  return block;
}

// Powers of two, and of a sum that may be cut, where each block of rows costs all panels, what lies halfway.
std::vector<int64_t> ProductDecider::row_blocks() const {
  std::vector<int64_t> blocks =
      powers_of_two(std::min<int64_t>(64, tile_.rows ? axis(*tile_.rows).extent : 1));
  const size_t count = sum_ ? blocks.size() : 0;
  for (size_t k = 2; k < count; ++k) blocks.push_back(blocks[k - 1] + blocks[k - 2]);
  std::ranges::sort(blocks);
  return blocks;
}

// As many lines of rows as stay near while panels pass over them; else one.
int64_t ProductDecider::preferred_others() const {
  if (!is_cut() && !has_blocks_of_lines()) return 1;
  return ceil_div(axis(*other_).extent, ceil_div(rows_in_all(), rows_near()));
}

// Of a sum that is cut as many as leave a block to every core, since the rows come again for each block; but
// all in one rather than in many.
int64_t ProductDecider::preferred_panels() const {
  if (!is_cut()) return 1;
  const int64_t panels = ceil_div(axis(tile_.vector).extent, tile_width());
  const int64_t cores = d_.task.target.cpu().cores;
  int64_t best = 1;
  for (const int64_t block : panel_blocks()) {
    if (panels % block == 0 && panels / block >= cores) best = block;
  }
  return panels / best <= 4 * cores ? best : panels;
}

}  // namespace lathe
