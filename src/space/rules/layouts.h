// Layouts in which what is read or written together lies together.
#pragma once

#include <optional>
#include <vector>

#include "space/rules/decider.h"

namespace lathe {

// The tensor's dimensions in their order, but this one last.
Layout with_last(const Tensor& tensor, size_t dim);
// A dimension that is to lie innermost: whole, or in blocks of this size (0: none), of which the places in a
// block do.
struct InnerDim {
  int dim = 0;
  int64_t block = 0;
};
// The tensor's dimensions in their order, but these last, the innermost one at the end. A block that would be
// the only one is none.
Layout with_innermost(const Tensor& tensor, const std::vector<InnerDim>& inner);
// Where the dimension that lies in blocks comes after this one: not the blocks of a row together, but the
// rows of a block.
Layout with_rows_in_blocks(Layout layout, size_t row_dim);
// Where a stage's results are written along this axis in vectors, it is innermost in its output, or in what
// its epilogue writes and reads beside it; in blocks, where their size is not 0, with the places of the axis
// `rows` together in each.
void decide_vector_layouts(Decider& decider, const Stage& stage, size_t axis, int64_t block = 0,
                           std::optional<size_t> rows = {});

}  // namespace lathe
