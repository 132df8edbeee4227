// Where a product is anything but 0, by the conditions that put zeros into its factors: around an image (a
// select that pads), between the elements of a strided transposed convolution, among the taps of a phase.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "expr/dag.h"

namespace lathe {

// value < bound.
struct Limit {
  Affine value;
  int64_t bound = 0;
};

// What gives every element of a tensor, without a reduction: its value at these axes.
struct Definition {
  std::vector<Var> axes;  // one a dimension
  Expr value;
};
using Definitions = std::function<std::optional<Definition>(const Tensor&)>;

// Where one of these fails, a factor of the product is 0, whatever the other ones are. Tensors that the
// factors read are followed to their definitions, a few steps deep; conditions that are no comparisons of
// affine forms are left out.
std::vector<Limit> where_nonzero(const Expr& product, const Definitions& definition_of);
// With the definitions of a Dag.
std::vector<Limit> where_nonzero(const Dag& dag, const Expr& product);

}  // namespace lathe
