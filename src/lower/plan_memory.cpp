#include "lower/plan_memory.h"

#include <algorithm>
#include <unordered_set>

#include "loop/walk.h"
#include "lower/map.h"

namespace lathe {
namespace {

constexpr int64_t kAlignment = 64;
// Larger buffers in registers would end on the stack, where a thread has no room for them.
constexpr int64_t kMostRegisterBytes = 32 << 10;

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// The tensors that some access reaches at an offset that is no constant, so that they cannot be values.
class VariableOffsets {
 public:
  explicit VariableOffsets(const Stmt& tree) {
    for_each(tree, [&](const StmtNode& node) {
      if (const Prefetch* prefetch = std::get_if<Prefetch>(&node.node))
        check(prefetch->tensor, prefetch->index);
      const Store* store = std::get_if<Store>(&node.node);
      if (store == nullptr) return;
      check(store->tensor, store->index);
      seen_.clear();
      visit(store->value);
    });
  }

  bool contains(const Tensor& tensor) const { return tensors_.contains(tensor.get()); }

 private:
  void check(const Tensor& tensor, const std::vector<Affine>& index) {
    if (!index[0].is_constant()) tensors_.insert(tensor.get());
  }

  // Polynomials share their parts: each is looked at once a statement.
  Expr visit(const Expr& e) {
    if (!seen_.insert(e.get()).second) return e;
    if (const Load* load = e.as<Load>()) check(load->tensor, load->index);
    const auto child = [this](const Expr& inner) { return visit(inner); };
    return map_children(e, child, [&](const Affine& a) { return map_opaque(a, child); });
  }

  std::unordered_set<const TensorNode*> tensors_;
  std::unordered_set<const ExprNode*> seen_;
};

class Planner {
 public:
  explicit Planner(const Stmt& tree, MemoryPlan plan) : variable_(tree), plan_(std::move(plan)) {}

  // `used`: the bytes in use around the statement in the shared part and in a thread's arena.
  struct Used {
    int64_t shared = 0;
    int64_t thread = 0;
  };

  void visit(const Stmt& stmt, Used used, bool parallel) {
    if (const For* loop = as<For>(stmt)) {
      visit(loop->body, used, parallel || loop->kind == LoopKind::parallel);
    } else if (const Seq* seq = as<Seq>(stmt)) {
      for (const Stmt& child : seq->statements) visit(child, used, parallel);
    } else if (const If* branch = as<If>(stmt)) {
      visit(branch->body, used, parallel);
    } else if (const Alloc* alloc = as<Alloc>(stmt)) {
      visit(alloc->body, place(*alloc, used, parallel), parallel);
    }
  }

  MemoryPlan plan() && { return std::move(plan_); }

 private:
  Used place(const Alloc& alloc, Used used, bool parallel) {
    const int64_t elements = physical_elements(alloc.layout, alloc.tensor->shape);
    BufferPlace place{alloc.tensor, Arena::registers, 0, elements * bytes_of(alloc.tensor->dtype)};
    const bool fits = alloc.scope == Scope::registers && place.bytes <= kMostRegisterBytes;
    if (!fits || variable_.contains(alloc.tensor)) {
      // What a parallel loop allocates is each thread's own; what is allocated around it all threads see.
      place.arena = parallel ? Arena::thread : Arena::workspace;
      int64_t& top = parallel ? used.thread : used.shared;
      int64_t& most = parallel ? plan_.thread_bytes : plan_.shared_bytes;
      place.offset = top;
      top += aligned(place.bytes);
      most = std::max(most, top);
    }
    plan_.places.push_back(std::move(place));
    return used;
  }

  VariableOffsets variable_;
  MemoryPlan plan_;
};

}  // namespace

MemoryPlan plan_memory(const Program& program) {
  MemoryPlan plan;
  for (const Stmt& tree : {program.prepare, program.main}) {
    if (!tree) continue;
    Planner planner(tree, std::move(plan));
    planner.visit(tree, {}, false);
    plan = std::move(planner).plan();
  }
  return plan;
}

}  // namespace lathe
