#include "lower/buffers/order_registers.h"

#include "loop/walk.h"
#include "lower/map.h"

namespace lathe {
namespace {

// The dimension of `tensor` that some vector loop below moves, or -1.
class VectorDimension {
 public:
  explicit VectorDimension(const Tensor& tensor) : tensor_(tensor) {}

  int find(const Stmt& stmt) {
    visit(stmt);
    return dimension_;
  }

 private:
  void visit(const Stmt& stmt) {
    if (dimension_ >= 0) return;
    if (const For* loop = as<For>(stmt)) {
      const bool vector = loop->kind == LoopKind::vectorized;
      if (vector) lanes_.push_back(loop->var);
      visit(loop->body);
      if (vector) lanes_.pop_back();
    } else if (const Seq* seq = as<Seq>(stmt)) {
      for (const Stmt& child : seq->statements) visit(child);
    } else if (const Alloc* alloc = as<Alloc>(stmt)) {
      visit(alloc->body);
    } else if (const If* branch = as<If>(stmt)) {
      visit(branch->body);
    } else if (const Store* store = as<Store>(stmt)) {
      if (store->tensor == tensor_) look_at(store->index);
      for (const Load* load : loads_of(store->value)) {
        if (load->tensor == tensor_) look_at(load->index);
      }
    }
  }

  void look_at(const std::vector<Affine>& index) {
    for (const Var& lane : lanes_) {
      for (size_t dim = 0; dim < index.size(); ++dim) {
        if (index[dim].coefficient(lane) == 1) dimension_ = static_cast<int>(dim);
      }
    }
  }

  const Tensor& tensor_;
  std::vector<Var> lanes_;
  int dimension_ = -1;
};

}  // namespace

Program order_registers(const Program& program) {
  return map_trees(program, [](const Stmt& tree) {
    return rebuild(tree, [](const Stmt& stmt) -> std::optional<Stmt> {
      const Alloc* alloc = as<Alloc>(stmt);
      if (alloc == nullptr || alloc->scope != Scope::registers) return std::nullopt;
      const int last = VectorDimension(alloc->tensor).find(alloc->body);
      if (last < 0) return std::nullopt;
      std::vector<int> order;
      for (int dim = 0; dim < static_cast<int>(alloc->tensor->shape.size()); ++dim) {
        if (dim != last) order.push_back(dim);
      }
      order.push_back(last);
      Alloc ordered = *alloc;
      ordered.layout = Layout::permuted(order);
      return make_stmt(std::move(ordered));
    });
  });
}

}  // namespace lathe
