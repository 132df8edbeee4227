#include "lower/buffers/compact_buffers.h"

#include <algorithm>

#include "loop/region.h"
#include "lower/blocks/known.h"
#include "lower/map.h"

namespace lathe {
namespace {

// An allocated tensor, the smaller one that takes its place, and the index that becomes 0.
struct Compacted {
  Tensor from;
  Tensor to;
  std::vector<Affine> base;
};

class Compactor {
 public:
  Stmt visit(const Stmt& stmt, const Ranges& ranges) {
    if (const Alloc* alloc = as<Alloc>(stmt)) return visit_alloc(stmt, *alloc, ranges);
    if (const For* loop = as<For>(stmt)) {
      Known known(ranges);
      known.enter(*loop);
      return map_statements(stmt, [&](const Stmt& child) { return visit(child, known.ranges()); });
    }
    if (const Store* store = as<Store>(stmt)) return visit_store(stmt, *store, ranges);
    if (const Prefetch* prefetch = as<Prefetch>(stmt)) {
      const Compacted* compacted = find(prefetch->tensor);
      if (compacted == nullptr) return stmt;
      return make_stmt(Prefetch{compacted->to, rebased(prefetch->index, *compacted, ranges)});
    }
    return map_statements(stmt, [&](const Stmt& child) { return visit(child, ranges); });
  }

 private:
  const Compacted* find(const Tensor& tensor) const {
    const auto found = std::ranges::find(compacted_, tensor, &Compacted::from);
    return found == compacted_.end() ? nullptr : &*found;
  }

  static std::vector<Affine> rebased(const std::vector<Affine>& index, const Compacted& compacted,
                                     const Ranges& ranges) {
    std::vector<Affine> result;
    for (size_t dim = 0; dim < index.size(); ++dim) {
      result.push_back(simplify(index[dim] - compacted.base[dim], ranges));
    }
    return result;
  }

  Stmt visit_alloc(const Stmt& stmt, const Alloc& alloc, const Ranges& ranges) {
    const std::optional<Box> box = region(alloc.body, alloc.tensor, Access::any, ranges);
    if (!box) return visit(alloc.body, ranges);
    std::vector<int64_t> shape;
    Compacted compacted{alloc.tensor, {}, {}};
    bool same = true;
    for (size_t dim = 0; dim < box->size(); ++dim) {
      const BoxSide& side = (*box)[dim];
      shape.push_back(side.extent);
      compacted.base.push_back(side.base);
      same &= side.base.is(0) && side.extent == alloc.tensor->shape[dim];
    }
    if (same) return map_statements(stmt, [&](const Stmt& child) { return visit(child, ranges); });
    compacted.to = Tensor(alloc.tensor->name, std::move(shape), alloc.tensor->dtype);
    compacted_.push_back(compacted);
    Stmt body = visit(alloc.body, ranges);
    compacted_.pop_back();
    return body ? make_stmt(Alloc{compacted.to, alloc.scope, alloc.layout, std::move(body)}) : nullptr;
  }

  Stmt visit_store(const Stmt& stmt, const Store& store, const Ranges& ranges) const {
    if (compacted_.empty()) return stmt;
    const Compacted* compacted = find(store.tensor);
    Expr value = visit_expr(store.value, ranges);
    if (compacted == nullptr && value.get() == store.value.get()) return stmt;
    Store result{store.tensor, store.index, std::move(value), store.stride, store.mask};
    if (compacted != nullptr) {
      result.tensor = compacted->to;
      result.index = rebased(store.index, *compacted, ranges);
    }
    return make_stmt(std::move(result));
  }

  Expr visit_expr(const Expr& e, const Ranges& ranges) const {
    const auto child = [&](const Expr& inner) { return visit_expr(inner, ranges); };
    const auto affine = [&](const Affine& a) { return map_opaque(a, child); };
    Expr mapped = map_children(e, child, affine);
    const Load* load = mapped.as<Load>();
    const Compacted* compacted = load != nullptr ? find(load->tensor) : nullptr;
    if (compacted == nullptr) return mapped;
    Load result{compacted->to, rebased(load->index, *compacted, ranges), load->stride, load->mask};
    return Expr(ExprNode{mapped.type(), std::move(result)});
  }

  std::vector<Compacted> compacted_;
};

}  // namespace

Program compact_buffers(const Program& program) {
  return map_trees(program, [](const Stmt& tree) { return Compactor().visit(tree, Ranges()); });
}

}  // namespace lathe
