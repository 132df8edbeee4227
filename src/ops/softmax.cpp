#include "ops/softmax.h"

#include "base/check.h"
#include "ops/axes.h"

namespace lathe {
namespace {

Result<Operator> make_tbs(const Parameters& p) {
  DagBuilder builder;
  const std::vector<int64_t> shape = {p["batch"], p["sequence"], p["heads"], p["head_dim"]};
  const Tensor q = builder.input("Q", shape);
  const Tensor k = builder.input("K", shape);
  transpose_batch_matmul_softmax(builder, "O", q, k);
  return finish(builder);
}

}  // namespace

Tensor softmax(DagBuilder& builder, const std::string& name, const Tensor& x) {
  std::vector<Axis> axes = axes_of(x);
  std::vector<Axis> rows(axes.begin(), axes.end() - 1);
  const Axis over = reduce(axes.back().var.name(), axes.back().extent);
  std::vector<Affine> reduced = indices(rows);
  reduced.emplace_back(over.var);
  const Tensor largest = builder.compute(name + ".max", rows, max_over({over}, load(x, reduced)));
  const Tensor scaled =
      builder.compute(name + ".exp", axes, exp(load(x, indices(axes)) - load(largest, indices(rows))));
  const Tensor total = builder.compute(name + ".sum", rows, sum({over}, load(scaled, reduced)));
  return builder.compute(name, axes, load(scaled, indices(axes)) / load(total, indices(rows)));
}

Tensor transpose_batch_matmul_softmax(DagBuilder& builder, const std::string& name, const Tensor& q,
                                      const Tensor& k) {
  LATHE_CHECK(q->shape.size() == 4 && q->shape == k->shape);
  const Axis b = spatial("b", q->shape[0]);
  const Axis h = spatial("h", q->shape[2]);
  const Axis i = spatial("i", q->shape[1]);
  const Axis j = spatial("j", q->shape[1]);
  const Axis d = spatial("d", q->shape[3]);
  const Axis r = reduce("d", q->shape[3]);
  const Tensor qt = builder.compute(q->name + ".t", {b, h, i, d}, q(b, i, h, d));
  const Tensor kt = builder.compute(k->name + ".t", {b, h, j, d}, k(b, j, h, d));
  const Tensor scores =
      builder.compute(name + ".scores", {b, h, i, j}, sum({r}, qt(b, h, i, r) * kt(b, h, j, r)));
  return softmax(builder, name, scores);
}

std::vector<OperatorEntry> softmax_operators() {
  return {{"transpose_batch_matmul_softmax", {{"batch"}, {"sequence"}, {"heads"}, {"head_dim"}}, make_tbs}};
}

}  // namespace lathe
