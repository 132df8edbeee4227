#include "lower/buffers/plan_memory.h"

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

// The tensors that cannot be values: some access reaches them at an offset that is no constant, or from
// within a parallel loop that they lie outside of.
class NeedsMemory {
 public:
  explicit NeedsMemory(const Stmt& tree) { walk(tree, false); }

  bool contains(const Tensor& tensor) const { return tensors_.contains(tensor.get()); }

 private:
  void walk(const Stmt& stmt, bool parallel) {
    parallel_ = parallel;
    if (const For* loop = as<For>(stmt)) {
      walk(loop->body, parallel || loop->kind == LoopKind::parallel);
    } else if (const Seq* seq = as<Seq>(stmt)) {
      for (const Stmt& child : seq->statements) walk(child, parallel);
    } else if (const If* branch = as<If>(stmt)) {
      walk(branch->body, parallel);
    } else if (const Alloc* alloc = as<Alloc>(stmt)) {
      if (!parallel) shared_.insert(alloc->tensor.get());
      walk(alloc->body, parallel);
    } else if (const Prefetch* prefetch = as<Prefetch>(stmt)) {
      check(prefetch->tensor, prefetch->index);
    } else if (const Store* store = as<Store>(stmt)) {
      check(store->tensor, store->index);
      seen_.clear();
      visit(store->value);
    }
  }

  void check(const Tensor& tensor, const std::vector<Affine>& index) {
    const bool crosses = parallel_ && shared_.contains(tensor.get());
    if (crosses || !index[0].is_constant()) tensors_.insert(tensor.get());
  }

  // Polynomials share their parts: each is looked at once a statement.
  Expr visit(const Expr& e) {
    if (!seen_.insert(e.get()).second) return e;
    if (const Load* load = e.as<Load>()) check(load->tensor, load->index);
    const auto child = [this](const Expr& inner) { return visit(inner); };
    return map_children(e, child, [&](const Affine& a) { return map_opaque(a, child); });
  }

  bool parallel_ = false;                         // around what is looked at
  std::unordered_set<const TensorNode*> shared_;  // allocated outside of parallel loops
  std::unordered_set<const TensorNode*> tensors_;
  std::unordered_set<const ExprNode*> seen_;
};

class Planner {
 public:
  explicit Planner(const Stmt& tree, MemoryPlan plan) : in_memory_(tree), plan_(std::move(plan)) {}

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
    if (!fits || in_memory_.contains(alloc.tensor)) {
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

  NeedsMemory in_memory_;
  MemoryPlan plan_;
};

// `used`: bytes of the workspace in use around the statement.
void plan_kernels(const Stmt& stmt, int64_t used, MemoryPlan& plan) {
  const auto place = [](const Alloc& alloc, Arena arena) {
    const int64_t elements = physical_elements(alloc.layout, alloc.tensor->shape);
    return BufferPlace{alloc.tensor, arena, 0, elements * bytes_of(alloc.tensor->dtype)};
  };
  if (const Seq* seq = as<Seq>(stmt)) {
    for (const Stmt& child : seq->statements) plan_kernels(child, used, plan);
    return;
  }
  const Alloc* outside = as<Alloc>(stmt);
  if (outside != nullptr && outside->scope == Scope::workspace) {
    plan.places.push_back(place(*outside, Arena::workspace));
    plan.places.back().offset = used;
    used += aligned(plan.places.back().bytes);
    plan.shared_bytes = std::max(plan.shared_bytes, used);
    return plan_kernels(outside->body, used, plan);
  }
  for_each(stmt, [&](const StmtNode& node) {
    const Alloc* alloc = std::get_if<Alloc>(&node.node);
    if (alloc != nullptr)
      plan.places.push_back(place(*alloc, alloc->scope == Scope::shared ? Arena::shared : Arena::registers));
  });
}

}  // namespace

MemoryPlan plan_kernel_memory(const Program& program) {
  MemoryPlan plan;
  for (const Stmt& tree : {program.prepare, program.main}) {
    if (tree) plan_kernels(tree, 0, plan);
  }
  return plan;
}

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
