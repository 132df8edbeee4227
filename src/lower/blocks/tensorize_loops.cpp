#include "lower/blocks/tensorize_loops.h"

#include <algorithm>
#include <optional>

#include "intrinsics/intrinsic.h"
#include "lower/buffers/storage_sizes.h"
#include "lower/loops/vectorize_expr.h"
#include "lower/map.h"

namespace lathe {
namespace {

// Whether each read moves with the vectorised loop by a whole group of neighbours, or not at all.
bool lies_in_groups(const Expr& factor, const Var& vector, int group) {
  return std::ranges::all_of(loads_of(factor), [&](const Load* load) {
    if (load->index[0].uses_inside_atom(vector)) return false;
    const int64_t step = load->index[0].coefficient(vector);
    return step == 0 || (step == group && load->stride == 1);
  });
}

class TreeTensorizer {
 public:
  explicit TreeTensorizer(const Program& program) : storage_(program) {}

  Stmt visit(const Stmt& stmt, const Known& known, const Var* vector) {
    if (const Alloc* alloc = as<Alloc>(stmt)) storage_.add(*alloc);
    const For* loop = as<For>(stmt);
    if (loop == nullptr)
      return map_statements(stmt, [&](const Stmt& child) { return visit(child, known, vector); });
    Known inside = known;
    inside.enter(*loop);
    if (loop->kind == LoopKind::tensorized) {
      if (std::optional<Stmt> store = call_of(*loop, inside, vector)) return *store;
      return make_stmt(For{loop->var, loop->extents, LoopKind::unrolled, loop->body});
    }
    const Var* around = loop->kind == LoopKind::vectorized ? &loop->var : vector;
    return map_statements(stmt, [&](const Stmt& child) { return visit(child, inside, around); });
  }

 private:
  std::optional<Stmt> call_of(const For& loop, const Known& inside, const Var* vector) const {
    const Intrinsic* intrinsic = find_intrinsic(loop.intrinsic);
    const Store* store = as<Store>(loop.body);
    if (intrinsic == nullptr || store == nullptr || constant_extent(loop) != intrinsic->group)
      return std::nullopt;
    const Binary* sum = store->value.as<Binary>();
    const Load* old = sum != nullptr && sum->op == BinaryOp::add ? sum->a.as<Load>() : nullptr;
    const bool adds = old != nullptr && old->tensor == store->tensor && old->index == store->index;
    if (!adds || store->index[0].uses(loop.var)) return std::nullopt;
    const std::optional<Factors> factors = match_factors(*intrinsic, sum->b);
    if (!factors) return std::nullopt;
    const Lanes lanes{loop.var, intrinsic->group};
    std::vector<Expr> operands{sum->a};
    for (const Expr& factor : {factors->a, factors->b}) {
      const std::optional<Expr> group = ExprVectorizer(lanes, storage_, inside).visit(factor, {});
      if (!group || (vector != nullptr && !lies_in_groups(*group, *vector, intrinsic->group)))
        return std::nullopt;
      operands.push_back(lanes.widen(*group));
    }
    Store result = *store;
    result.value = call(loop.intrinsic, std::move(operands));
    return make_stmt(std::move(result));
  }

  StorageSizes storage_;
};

}  // namespace

Program tensorize_loops(const Program& program) {
  TreeTensorizer tensorizer(program);
  return map_trees(program, [&](const Stmt& tree) { return tensorizer.visit(tree, Known(), nullptr); });
}

}  // namespace lathe
