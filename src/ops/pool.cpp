#include "ops/pool.h"

#include "base/check.h"
#include "ops/axes.h"

namespace lathe {
namespace {

Tensor pool(DagBuilder& builder, std::string name, const Tensor& x, const std::vector<int64_t>& kernel,
            const Window& window, Reduction reduction) {
  const size_t count = x->shape.size() - 2;
  LATHE_CHECK(kernel.size() == count);
  const Tensor padded = pad(builder, x, 2, count, window, identity_of(reduction));
  const std::vector<std::string> names = spatial_names(count);
  std::vector<Axis> axes = {spatial("n", x->shape[0]), spatial("c", x->shape[1])};
  std::vector<Axis> over;
  std::vector<Affine> index = indices(axes);
  for (size_t d = 0; d < count; ++d) {
    axes.push_back(spatial(names[d], window_count(x->shape[d + 2], kernel[d], window, d)));
    over.push_back(reduce("k" + names[d], kernel[d]));
    index.push_back(Affine(axes.back().var) * window.stride_of(d) +
                    Affine(over.back().var) * window.dilation_of(d));
  }
  return builder.compute(std::move(name), axes, ReduceExpr{reduction, over, load(padded, index)});
}

}  // namespace

Tensor max_pool(DagBuilder& builder, std::string name, const Tensor& x, const std::vector<int64_t>& kernel,
                const Window& window) {
  return pool(builder, std::move(name), x, kernel, window, Reduction::max);
}

Tensor sum_pool(DagBuilder& builder, std::string name, const Tensor& x, const std::vector<int64_t>& kernel,
                const Window& window) {
  return pool(builder, std::move(name), x, kernel, window, Reduction::sum);
}

Tensor global_average_pool(DagBuilder& builder, const std::string& name, const Tensor& x) {
  const size_t count = x->shape.size() - 2;
  std::vector<Axis> axes = axes_of(x);
  std::vector<Affine> index = {axes[0].var, axes[1].var};
  std::vector<Axis> over;
  for (size_t d = 0; d < count; ++d) {
    axes[d + 2].extent = 1;
    over.push_back(reduce("k" + axes[d + 2].var.name(), x->shape[d + 2]));
    index.emplace_back(over.back().var);
  }
  const int64_t points = x.elements() / (x->shape[0] * x->shape[1]);
  const Tensor total = builder.compute(name + ".sum", axes, sum(over, load(x, index)));
  return builder.compute(
      name, axes, load(total, indices(axes)) * literal({x->dtype, 1}, 1.0 / static_cast<double>(points)));
}

}  // namespace lathe
