// Recognising what a compute is from its body alone, for the rewrite rules: no operator names, no templates.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "expr/dag.h"

namespace lathe {

// The compute of that name, or an Error.
Result<size_t> find_stage(const Dag& dag, const std::string& stage);
// The Dag with one compute replaced by several (the last of which gives the same output).
Dag replace_stage(const Dag& dag, size_t stage, std::vector<Compute> computes);

// Places of these axes together.
int64_t extent_of(const Compute& compute, const std::vector<size_t>& axes);

// The Dag without computes that nothing reads any more.
Dag without_unused(Dag dag);

// The factors of a product, left to right; of anything else itself.
std::vector<Expr> factors_of(const Expr& e);
// Not of none.
Expr product_of(const std::vector<Expr>& factors);

// sum over c.. of data[.., y_d + k_d, ..] * weight[.., k_d, ..]: a dense window of stride and dilation 1.
struct WindowedProduct {
  struct Window {
    size_t output_dim;   // the spatial axis y_d
    size_t reduce_axis;  // the reduce axis k_d (index into axes)
    size_t data_dim;     // where y_d + k_d stands
  };
  Load data;
  Load weight;
  std::vector<Window> windows;
  std::vector<size_t> channels;  // the other reduce axes (indices into axes), read by both operands
};
std::optional<WindowedProduct> match_windowed_product(const Compute& compute);

}  // namespace lathe
