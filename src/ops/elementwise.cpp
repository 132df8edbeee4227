#include "ops/elementwise.h"

#include "base/check.h"
#include "ops/axes.h"

namespace lathe {

Expr relu(const Expr& x) { return max(x, literal(x.type(), 0.0)); }

Tensor map(DagBuilder& builder, std::string name, const Tensor& x,
           const std::function<Expr(const Expr&)>& f) {
  const std::vector<Axis> axes = axes_of(x);
  return builder.compute(std::move(name), axes, f(load(x, indices(axes))));
}

Tensor zip(DagBuilder& builder, std::string name, const Tensor& x, const Tensor& y,
           const std::function<Expr(const Expr&, const Expr&)>& f) {
  LATHE_CHECK(x->shape == y->shape);
  const std::vector<Axis> axes = axes_of(x);
  return builder.compute(std::move(name), axes, f(load(x, indices(axes)), load(y, indices(axes))));
}

Tensor scale_shift(DagBuilder& builder, std::string name, const Tensor& x, const Tensor& scale,
                   const Tensor& shift, bool relu) {
  const std::vector<Axis> axes = axes_of(x);
  const Axis& channel = axes.at(1);
  Expr value = load(x, indices(axes));
  if (scale.defined()) value = value * scale(channel);
  if (shift.defined()) value = value + shift(channel);
  return builder.compute(std::move(name), axes, relu ? lathe::relu(value) : value);
}

}  // namespace lathe
