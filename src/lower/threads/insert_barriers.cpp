#include "lower/threads/insert_barriers.h"

#include <algorithm>
#include <set>

#include "loop/walk.h"
#include "lower/map.h"
#include "lower/threads/kernels.h"
#include "lower/threads/thread_accesses.h"

namespace lathe {
namespace {

using Accesses = std::vector<ThreadAccess>;

bool is_touched(const Accesses& accesses, const Tensor& tensor) {
  return std::ranges::find(accesses, tensor, &ThreadAccess::tensor) != accesses.end();
}

class Inserter {
 public:
  // In a block: every thread comes to what is outside of thread loops.
  Stmt visit(const Stmt& stmt, const Known& known) {
    if (const For* loop = as<For>(stmt)) return visit_loop(stmt, *loop, known);
    if (as<If>(stmt) != nullptr) {
      const Accesses before = since_;
      Stmt mapped = map_statements(stmt, [&](const Stmt& child) { return visit(child, known); });
      since_.insert(since_.end(), before.begin(), before.end());
      return mapped;
    }
    if (const Alloc* alloc = as<Alloc>(stmt)) {
      if (alloc->scope == Scope::shared) shared_.insert(alloc->tensor.get());
      if (alloc->scope == Scope::registers) own_.insert(alloc->tensor.get());
    }
    return map_statements(stmt, [&](const Stmt& child) { return visit(child, known); });
  }

 private:
  Stmt visit_loop(const Stmt& stmt, const For& loop, const Known& known) {
    if (loop.kind == LoopKind::thread) return visit_threads(stmt, loop, known);
    Known inside = known;
    inside.enter(loop);
    const auto body = [&](const Stmt& child) { return visit(child, inside); };
    if (loop.kind != LoopKind::block) {
      // An iteration also finds what the one before it left.
      const Accesses before = since_;
      body(loop.body);
      since_.insert(since_.end(), before.begin(), before.end());
    }
    return map_statements(stmt, body);
  }

  Stmt visit_threads(const Stmt& stmt, const For& loop, const Known& known) {
    const Accesses touched = touched_by(stmt, loop, known);
    bool waits = false;
    bool is_global = false;
    for (const ThreadAccess& access : touched) {
      if (!conflicts(access.tensor, touched)) continue;
      waits = true;
      is_global |= !shared_.contains(access.tensor.get());
    }
    // A barrier for shared buffers alone leaves open what was done to the others.
    if (waits) {
      std::erase_if(since_, [&](const ThreadAccess& access) {
        return is_global || shared_.contains(access.tensor.get());
      });
    }
    since_.insert(since_.end(), touched.begin(), touched.end());
    return waits ? make_seq({make_stmt(Barrier{is_global}), stmt}) : stmt;
  }

  // Whether a thread may touch an element of the tensor that another has touched since the last barrier, one
  // of them writing.
  bool conflicts(const Tensor& tensor, const Accesses& touched) const {
    if (!is_touched(since_, tensor)) return false;
    std::vector<const ThreadAccess*> all;
    for (const Accesses* accesses : {&since_, &touched}) {
      for (const ThreadAccess& access : *accesses) {
        if (access.tensor == tensor) all.push_back(&access);
      }
    }
    const bool is_written = std::ranges::any_of(all, &ThreadAccess::is_write);
    return is_written && !have_one_owner(all);
  }

  // All that is not each thread's own.
  Accesses touched_by(const Stmt& stmt, const For& loop, const Known& known) const {
    std::set<const TensorNode*> own = own_;
    for_each(loop.body, [&](const StmtNode& node) {
      const Alloc* alloc = std::get_if<Alloc>(&node.node);
      if (alloc != nullptr) own.insert(alloc->tensor.get());
    });
    Accesses touched = accesses_of(stmt, known);
    std::erase_if(touched, [&](const ThreadAccess& access) { return own.contains(access.tensor.get()); });
    return touched;
  }

  Accesses since_;  // the last barrier
  std::set<const TensorNode*> shared_;
  std::set<const TensorNode*> own_;  // each thread's
};

}  // namespace

Program insert_barriers(const Program& program) {
  return map_trees(program, [](const Stmt& tree) {
    return map_kernels(tree, [](const Stmt& kernel) { return Inserter().visit(kernel, Known()); });
  });
}

}  // namespace lathe
