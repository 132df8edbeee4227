#include "lower/buffers/grow_buffers.h"

#include <algorithm>

#include "loop/walk.h"
#include "lower/blocks/known.h"
#include "lower/map.h"

namespace lathe {
namespace {

class Grower {
 public:
  Stmt grow(const Stmt& tree) {
    measure(tree, Known());
    std::erase_if(reached_, [](const Reached& r) { return r.shape == r.tensor->shape; });
    if (reached_.empty()) return tree;
    for (Reached& reached : reached_) {
      reached.larger = Tensor(reached.tensor->name, reached.shape, reached.tensor->dtype);
    }
    return redirect(tree);
  }

 private:
  struct Reached {
    Tensor tensor;
    std::vector<int64_t> shape;
    Tensor larger;
  };

  Reached* find(const Tensor& tensor) {
    const auto found = std::ranges::find(reached_, tensor, &Reached::tensor);
    return found == reached_.end() ? nullptr : &*found;
  }

  void reach(const Tensor& tensor, const std::vector<Affine>& index, const Block& block, const Known& known) {
    Reached* reached = find(tensor);
    for (size_t dim = 0; reached != nullptr && dim < index.size(); ++dim) {
      const auto range = bounds(bound_index(index[dim], block), known.ranges());
      if (range) reached->shape[dim] = std::max(reached->shape[dim], range->hi + 1);
    }
  }

  void measure(const Stmt& stmt, const Known& known) {
    if (const Block* block = as<Block>(stmt)) {
      reach(block->output, block->output_index, *block, known);
      for (const Load* load : loads_of(block->value)) reach(load->tensor, load->index, *block, known);
      return;
    }
    Known inside = known;
    if (const For* loop = as<For>(stmt)) inside.enter(*loop);
    if (const Alloc* alloc = as<Alloc>(stmt)) reached_.push_back({alloc->tensor, alloc->tensor->shape, {}});
    map_statements(stmt, [&](const Stmt& child) {
      measure(child, inside);
      return child;
    });
  }

  Tensor redirect(const Tensor& tensor) {
    const Reached* reached = find(tensor);
    return reached != nullptr ? reached->larger : tensor;
  }

  Expr redirect(const Expr& e) {
    const auto child = [this](const Expr& inner) { return redirect(inner); };
    Expr mapped = map_children(e, child, [&](const Affine& a) { return map_opaque(a, child); });
    const Load* load = mapped.as<Load>();
    if (load == nullptr || find(load->tensor) == nullptr) return mapped;
    return Expr(ExprNode{mapped.type(), Load{redirect(load->tensor), load->index, load->stride, load->mask}});
  }

  Stmt redirect(const Stmt& stmt) {
    Stmt mapped = map_statements(stmt, [this](const Stmt& child) { return redirect(child); });
    if (const Alloc* alloc = as<Alloc>(mapped); alloc != nullptr && find(alloc->tensor) != nullptr) {
      return make_stmt(Alloc{redirect(alloc->tensor), alloc->scope, alloc->layout, alloc->body});
    }
    if (const Prefetch* prefetch = as<Prefetch>(mapped)) {
      return make_stmt(Prefetch{redirect(prefetch->tensor), prefetch->index});
    }
    const Block* block = as<Block>(mapped);
    if (block == nullptr) return mapped;
    Block result = *block;
    result.output = redirect(block->output);
    result.value = redirect(block->value);
    return make_stmt(std::move(result));
  }

  std::vector<Reached> reached_;
};

}  // namespace

Affine bound_index(const Affine& index, const Block& block) {
  Substitution bindings;
  for (const BlockAxis& axis : block.axes) bindings.emplace_back(axis.axis.var, axis.binding);
  return substitute(index, bindings);
}

Stmt grow_buffers(const Stmt& tree) { return Grower().grow(tree); }

}  // namespace lathe
