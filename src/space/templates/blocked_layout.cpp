#include "space/templates/blocked_layout.h"

namespace lathe {

void BlockedLayout::add_blocks(size_t dim, int64_t block) {
  if (block < tensor_->shape[dim]) layout_.dims.push_back({static_cast<int>(dim), block, 0, 0});
}

void BlockedLayout::add_places(size_t dim, int64_t block) {
  if (block == tensor_->shape[dim]) return add(dim);
  if (block > 1) layout_.dims.push_back({static_cast<int>(dim), 1, block, 0});
}

void place_operand(Decider& decider, const Operand& operand, const std::string& block, const Layout& layout) {
  const Tensor& tensor = operand.load->tensor;
  if (decider.is_open(tensor)) return decider.set_layout(tensor, layout);
  const Layout now = decider.layout_of(tensor);
  const bool is_there =
      now == layout || (is_row_major(now, tensor->shape) && is_row_major(layout, tensor->shape));
  if (!is_there) decider.set_copy(tensor, operand.is_constant, block, layout);
}

}  // namespace lathe
