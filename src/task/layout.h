// Where a tensor's elements lie in memory: a bijection of its logical indices up to padding of blocks.
// Physical dimension k, outermost first, holds (index[dim] / divide) % modulo; physical storage is row-major.
// NCHWc, packed panels and padded rows are all this one thing; copying elements (im2col) is not a layout.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/text_cursor.h"
#include "expr/affine.h"

namespace lathe {

struct LayoutDim {
  int dim = 0;         // the logical dimension
  int64_t divide = 1;  // > 0
  int64_t modulo = 0;  // 0: none, the outermost part of its dimension
  int64_t extra = 0;  // elements of this physical dimension that are never used (against cache-set conflicts)

  bool operator==(const LayoutDim&) const = default;
};

struct Layout {
  std::vector<LayoutDim> dims;

  bool operator==(const Layout&) const = default;

  static Layout row_major(size_t rank);
  // The logical dimensions in another order, unsplit: {0, 2, 3, 1} makes NHWC of NCHW.
  static Layout permuted(std::span<const int> order);
};

// An Error unless the layout is a bijection (up to block padding) of a tensor of this shape: for each logical
// dimension the parts must chain, modulo_k * divide_k = divide of the next outer part.
Status verify(const Layout& layout, std::span<const int64_t> shape);
// The size of each physical dimension, blocks rounded up, `extra` included.
std::vector<int64_t> physical_shape(const Layout& layout, std::span<const int64_t> shape);
// Number of elements that the storage takes.
int64_t physical_elements(const Layout& layout, std::span<const int64_t> shape);
// Whether every element lies where it does in row-major order, however the layout says so: parts of one place
// may stand anywhere.
bool is_row_major(const Layout& layout, std::span<const int64_t> shape);
// The largest index + 1 that each logical dimension has room for (>= shape, larger where blocks are padded).
std::vector<int64_t> capacity(const Layout& layout, std::span<const int64_t> shape);
// The offset in elements of a logical index.
Affine flatten(const Layout& layout, std::span<const int64_t> shape, std::span<const Affine> index,
               const Ranges& ranges);
int64_t flatten(const Layout& layout, std::span<const int64_t> shape, std::span<const int64_t> index);

// "[0][2][3][1]", blocks as "[0][1/16][2][3][1%16]", a middle part "[1/4%4]", extra elements "[2+16]".
std::string to_string(const Layout& layout);
Result<Layout> parse_layout(TextCursor& cursor);

}  // namespace lathe
