// Recognising products in which windows slide over one operand by single steps, whatever else its operands'
// indices hold: convolutions of any number of dimensions, dilated, grouped (as two axes), transposed, and the
// phases of transposed ones. From bodies alone: no operator names.
#pragma once

#include <optional>
#include <vector>

#include "expr/dag.h"

namespace lathe {

// sum over k.., c.. of data[.., y + dilation * k + rest, ..] * weight, where `rest` varies with neither and
// no other part of the body with y. Axes are indices into the compute's; those of one place count as rows.
struct SlidingProduct {
  struct Window {
    size_t output_axis = 0;  // y
    size_t reduce_axis = 0;  // k
    size_t data_dim = 0;     // where y + dilation * k + rest stands
    int64_t dilation = 1;
  };
  Load data;
  Expr weight;                   // the other factor
  std::vector<Window> windows;   // in the order of their outputs
  std::vector<size_t> channels;  // the other reduce axes, of both factors
  std::vector<size_t> rows;      // spatial, not of the weight
  std::vector<size_t> features;  // spatial, of the weight alone
  std::vector<size_t> shared;    // spatial, of both
};
// Nothing where no window slides.
std::optional<SlidingProduct> match_sliding_product(const Compute& compute);

}  // namespace lathe
