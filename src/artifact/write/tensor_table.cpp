#include "artifact/write/tensor_table.h"

namespace lathe {

TensorTable::TensorTable(const Layout& layout, std::span<const int64_t> shape, int64_t element_bytes) {
  for (const LayoutCopy& copy : copy_plan(layout, shape)) {
    std::vector<LatheAxis>& axes = axes_.emplace_back();
    for (const CopyAxis& axis : copy.axes) axes.push_back({axis.extent, axis.outside, axis.inside});
    copies_.push_back({copy.outside, copy.inside, static_cast<int32_t>(axes.size()), axes.data()});
  }
  tensor_.element_bytes = static_cast<int32_t>(element_bytes);
  tensor_.is_row_major = layout == Layout::row_major(shape.size()) ? 1 : 0;
  tensor_.copy_count = static_cast<int32_t>(copies_.size());
  tensor_.copies = copies_.data();
}

}  // namespace lathe
