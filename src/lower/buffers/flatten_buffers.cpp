#include "lower/buffers/flatten_buffers.h"

#include <algorithm>

#include "lower/blocks/known.h"
#include "lower/map.h"

namespace lathe {
namespace {

class Flattener {
 public:
  explicit Flattener(const Program& program) {
    for (const Argument& argument : program.arguments) layouts_.push_back({argument.tensor, argument.layout});
    for (const Prepared& prepared : program.prepared) layouts_.push_back({prepared.tensor, prepared.layout});
  }

  Stmt visit(const Stmt& stmt, const Known& known) {
    if (const Store* store = as<Store>(stmt)) {
      Store flat{store->tensor,
                 offset(store->tensor, store->index, known),
                 visit(store->value, known),
                 store->stride,
                 {}};
      return make_stmt(std::move(flat));
    }
    if (const Prefetch* prefetch = as<Prefetch>(stmt)) {
      return make_stmt(Prefetch{prefetch->tensor, offset(prefetch->tensor, prefetch->index, known)});
    }
    if (const Alloc* alloc = as<Alloc>(stmt)) layouts_.push_back({alloc->tensor, alloc->layout});
    const For* loop = as<For>(stmt);
    if (loop == nullptr) return map_statements(stmt, [&](const Stmt& child) { return visit(child, known); });
    Known inside = known;
    inside.enter(*loop);
    return map_statements(stmt, [&](const Stmt& child) { return visit(child, inside); });
  }

 private:
  struct Entry {
    Tensor tensor;
    Layout layout;
  };

  Layout layout_of(const Tensor& tensor) const {
    const auto entry = std::ranges::find(layouts_, tensor, &Entry::tensor);
    // Tables of literals lie row-major.
    return entry != layouts_.end() ? entry->layout : Layout::row_major(tensor->shape.size());
  }

  std::vector<Affine> offset(const Tensor& tensor, std::vector<Affine> index, const Known& known) const {
    for (Affine& value : index) {
      value = map_opaque(value, [&](const Expr& e) { return visit(e, known); });
    }
    return {simplify(flatten(layout_of(tensor), tensor->shape, index, known.ranges()), known.ranges())};
  }

  Expr visit(const Expr& e, const Known& known) const {
    if (const Load* load = e.as<Load>()) {
      return Expr(ExprNode{e.type(), Load{load->tensor, offset(load->tensor, load->index, known), 0, {}}});
    }
    const auto child = [&](const Expr& inner) { return visit(inner, known); };
    return map_children(e, child,
                        [&](const Affine& a) { return simplify(map_opaque(a, child), known.ranges()); });
  }

  std::vector<Entry> layouts_;
};

}  // namespace

Program flatten_buffers(const Program& program) {
  Flattener flattener(program);
  Program result = map_trees(program, [&](const Stmt& tree) { return flattener.visit(tree, Known()); });
  result.flat = true;
  return result;
}

}  // namespace lathe
