// Work on each element by itself.
#pragma once

#include <functional>
#include <string>

#include "expr/dag.h"

namespace lathe {

// f of every element.
Tensor map(DagBuilder& builder, std::string name, const Tensor& x, const std::function<Expr(const Expr&)>& f);
// f of every pair of elements; the shapes are equal.
Tensor zip(DagBuilder& builder, std::string name, const Tensor& x, const Tensor& y,
           const std::function<Expr(const Expr&, const Expr&)>& f);
// x[n, c, ..] * scale[c] + shift[c], then its positive part where `relu` is set. An undefined scale or shift
// is left out.
Tensor scale_shift(DagBuilder& builder, std::string name, const Tensor& x, const Tensor& scale,
                   const Tensor& shift, bool relu);

// max(x, 0).
Expr relu(const Expr& x);

}  // namespace lathe
