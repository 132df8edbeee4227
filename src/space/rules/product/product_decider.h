// What decides a product (rules/product/product.h): its sizes, its operands' places and its loops, one file
// each.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "intrinsics/intrinsic.h"
#include "space/rules/product/product.h"
#include "space/rules/vectors.h"

namespace lathe {

// What adds up several terms at once, and the reduce axis whose neighbours they are.
struct TermGroups {
  const Intrinsic* intrinsic = nullptr;
  size_t axis = 0;
  DType vector_type = DType::i8;  // of the factor that fills vectors
  DType row_type = DType::u8;     // of the other one
};

// Used once.
class ProductDecider {
 public:
  ProductDecider(Decider& decider, const Stage& stage, const TileAxes& tile, const GroupedLoops& group)
      : d_(decider),
        stage_(stage),
        tile_(tile),
        group_(group),
        compute_(decider.compute(stage)),
        name_(compute_.output->name) {}

  ProductDecision decide();

 private:
  const Axis& axis(size_t i) const { return compute_.axes[i]; }
  // Of the loop over an axis: a group has but a part of one.
  int64_t extent(size_t i) const {
    if (group_.axis == i) return group_.size;
    return std::ranges::find(group_.single, i) == group_.single.end() ? axis(i).extent : 1;
  }
  int64_t share_of_l2(double share) const {
    return static_cast<int64_t>(static_cast<double>(d_.task.target.cpu().l2.bytes) * share);
  }
  // Along the vector axis, of a register tile.
  int64_t tile_width() const { return sizes_.streams * sizes_.vectors * lanes_; }
  // The same, in vectors, at the most.
  int64_t widest_tile() const { return std::min<int64_t>(4, ceil_div(axis(tile_.vector).extent, lanes_)); }
  std::string axis_name(size_t i) const { return compute_.axes[i].var.name(); }
  const Operand* vector_operand() const;  // uses the vector axis and not the rows
  const Operand* row_operand() const;     // the other one
  void choose_sizes();
  Status check_sizes() const;
  RegisterTile preferred_tile() const;
  int64_t bytes_of_row() const;
  int64_t bytes_of_one(const Tensor& tensor) const;
  bool prefers_rows_first() const;
  int64_t preferred_row_tiles() const;
  std::optional<size_t> long_sum() const;
  std::vector<int64_t> parts_of_sum(size_t r) const;
  int64_t preferred_terms(size_t r) const;
  std::vector<int64_t> panel_blocks() const;
  int64_t even_panels(int64_t most) const;
  std::vector<int64_t> row_blocks() const;
  int64_t preferred_panels() const;
  int64_t preferred_others() const;
  bool has_plain_rows() const;
  bool has_blocks_of_lines() const;
  int64_t rows_in_all() const;
  int64_t rows_near() const;
  // Whether a cache block adds up but a part of the terms at a time.
  bool is_cut() const { return sum_ && sizes_.terms != axis(*sum_).extent; }
  // The loop over the parts of a sum that is cut.
  std::string parts_loop() const { return axis_name(*sum_) + ".0"; }
  // Of a reduce axis, that are added up together.
  int64_t terms_of(size_t r) const { return is_cut() && r == *sum_ ? sizes_.terms : axis(r).extent; }
  bool is_placed_for_this_alone(const Operand& operand) const;
  void pack_operand(const Operand& operand);
  void place_row_operand(const Operand& operand);
  std::vector<size_t> reduce_order() const;
  // Whether vectors are read from any element on, as along the rows of an image under a window.
  bool vectors_slide() const;
  // The reduce axis of a window that slides along the rows over vectors.
  std::optional<size_t> sliding_axis() const;
  int64_t registers_of_taps() const;
  std::vector<int64_t> unroll_factors() const;
  int64_t preferred_unroll(const RegisterTile& tile) const;
  std::vector<int64_t> other_blocks() const;
  bool has_blocks_of_channels() const;
  int64_t most_vectors() const;
  bool comes_from_afar(const Operand& operand) const;
  int64_t bytes_of_operand(const Operand& operand) const;
  bool fits_twice(const Operand& operand, int64_t vectors) const;
  bool blocks_come_from_afar() const;
  Layout spread_over_sets(Layout layout, const Operand& operand) const;
  bool comes_from_memory() const;
  void place_results();
  // The intrinsic for its terms, if types, operands and target allow one.
  std::optional<TermGroups> term_groups() const;
  int64_t group_of(size_t r) const {
    return term_groups_ && term_groups_->axis == r ? term_groups_->intrinsic->group : 1;
  }
  void group_row_operand(const Operand& operand);
  RowCopy copy_of_rows(CacheReadStep step, const Tensor& tensor, size_t dim, bool is_together);
  std::optional<TermLoops> term_loops() const;
  int64_t block_of_channels(size_t r) const;
  std::optional<size_t> blocked_channels() const;
  bool has_window(size_t i) const;
  void choose_other_axis();
  bool stays_near(size_t i) const;
  std::vector<size_t> axes_under_panels() const;
  OuterLoops outer_loops() const;
  std::pair<std::string, int64_t> others_loop(int level) const;
  void add_level(int number, bool rows_first, bool with_others, OuterLoops& loops) const;
  std::vector<ReduceLoops> reduce_loops();
  SharedLoops shared_loops(const OuterLoops& outer) const;
  void offer_row_loop(const SharedLoops& shared);
  std::optional<std::string> loop_of_next_panel(const OuterLoops& outer) const;
  bool place_operands();
  bool rows_may_be_padded() const;
  bool used_by_all(size_t axis) const;
  bool can_be_packed(const Operand* operand) const;
  bool is_read_in_place(const Operand& operand);
  void choose_prefetch(const Operand& operand);

  Decider& d_;
  const Stage& stage_;
  const TileAxes& tile_;
  const GroupedLoops& group_;
  const Compute& compute_;
  std::string name_;
  std::optional<size_t> other_;  // the other spatial axis that gets a cache tile
  std::optional<size_t> sum_;    // the reduce axis that may be cut
  TileSizes sizes_;
  std::optional<TermGroups> term_groups_;
  std::optional<RowCopy> row_copy_;
  std::string panels_;  // the packed copy's name, once there is one
  int64_t lanes_ = 8;
};

}  // namespace lathe
