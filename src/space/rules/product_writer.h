// The writer of a product's schedule (rules/product.cpp): its sizes, its operands, its loops, one file each.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "intrinsics/intrinsic.h"
#include "space/rules/register_tile.h"
#include "space/rules/rules.h"

namespace lathe {

// What is chosen of a product.
struct TileSizes : RegisterTile {
  int64_t panels = 1;     // tiles along the vector axis in a cache block
  int64_t row_tiles = 1;  // tiles along the row axis in a cache block
  int64_t others = 1;     // of the largest other spatial axis in a cache block
  int64_t order = 0;      // of the loops over cache blocks and in them
  int64_t channels_inner = 1;
  int64_t taps_inner = 0;  // of a window that slides over the rows: inside of them, so that they share loads
  int64_t blocked = 0;     // whether the vector axis, or the channels, are blocked where they lie innermost
  int64_t by_rows = 0;     // whether all blocks of an image's row lie, and are done, together
  int64_t reduce_unroll = 1;
  int64_t pad_rows = 0;
  int64_t prefetch = 0;  // of the next panel while this one is used
};

// What adds up several terms at once, and the reduce axis whose neighbours they are.
struct TermGroups {
  const Intrinsic* intrinsic = nullptr;
  size_t axis = 0;
  DType vector_type = DType::i8;  // of the factor that fills vectors
  DType row_type = DType::u8;     // of the other one
};

// Writes one product's steps; used once.
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
  // Along the vector axis, of a register tile.
  int64_t tile_width() const { return sizes_.streams * sizes_.vectors * lanes_; }
  std::string axis_name(size_t i) const { return compute_.axes[i].var.name(); }
  const Operand* vector_operand() const;  // uses the vector axis and not the rows
  const Operand* row_operand() const;     // the other one
  void choose_sizes();
  Status check_sizes() const;
  RegisterTile preferred_tile() const;
  int64_t bytes_of_row() const;
  int64_t bytes_of_one(const Operand& operand) const;
  bool prefers_rows_first() const;
  int64_t preferred_row_tiles() const;
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
  int64_t group_of(size_t r) const { return groups_ && groups_->axis == r ? groups_->intrinsic->group : 1; }
  void group_row_operand(const Operand& operand);
  int64_t block_of_channels(size_t r) const;
  std::optional<size_t> blocked_channels() const;
  bool has_window(size_t i) const;
  void choose_other_axis();
  bool stays_near(size_t i) const;
  std::vector<size_t> axes_under_panels() const;
  std::vector<std::pair<std::string, int64_t>> outer_loops() const;
  std::pair<std::string, int64_t> others_loop(int level) const;
  void add_level(int number, bool rows_first, bool with_others,
                 std::vector<std::pair<std::string, int64_t>>& loops) const;
  struct ReduceLoops {
    std::optional<std::string> unrolled;
    std::optional<std::string> tensorized;  // not among the loops: inside of all
  };
  ReduceLoops write_reduce_loops(std::vector<std::string>& loops);
  std::vector<std::string> write_parallel_loops(const std::vector<std::pair<std::string, int64_t>>& outer);
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
  std::optional<TermGroups> groups_;
  std::string panels_;  // the packed copy's name, once there is one
  int64_t lanes_ = 8;
};

}  // namespace lathe
