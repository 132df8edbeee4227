// Layouts in which one dimension lies in blocks of a factor that a template's split gives, such as NCHW16c.
#pragma once

#include <cstdint>

#include "space/rules/decider.h"

namespace lathe {

// A layout in the making, outermost first. A dimension is put there whole, or as the number of the block and
// as the place in it: blocks of one element, or a single block, are no blocks.
class BlockedLayout {
 public:
  explicit BlockedLayout(const Tensor& tensor) : tensor_(tensor) {}

  void add(size_t dim) { layout_.dims.push_back({static_cast<int>(dim), 1, 0, 0}); }
  void add_blocks(size_t dim, int64_t block);
  void add_places(size_t dim, int64_t block);
  const Layout& layout() const { return layout_; }

 private:
  const Tensor& tensor_;
  Layout layout_;
};

// Where an operand is to lie so, it does: by its own layout where that is open, else as a copy, made at load
// time of a constant and in every call of anything else. Nothing where it lies so already.
void place_operand(Decider& decider, const Operand& operand, const std::string& block, const Layout& layout);

}  // namespace lathe
