#include "lower/loops/unroll_loops.h"

#include <fmt/format.h>

#include "base/check.h"
#include "lower/blocks/instantiate.h"
#include "lower/blocks/known.h"
#include "lower/map.h"

namespace lathe {
namespace {

class Unroller {
 public:
  explicit Unroller(int64_t max_statements) : left_(max_statements) {}

  Stmt visit(const Stmt& stmt, const Known& known) {
    if (exceeded()) return stmt;
    return std::visit([&](const auto& node) { return this->node(stmt, node, known); }, stmt->node);
  }
  bool exceeded() const { return left_ < 0; }

 private:
  Stmt node(const Stmt& stmt, const For& loop, const Known& known) {
    const int64_t extent = constant_extent(loop);
    if (loop.kind == LoopKind::unrolled && extent >= 0) return copies(loop, extent, known);
    const LoopKind kind = loop.kind == LoopKind::unrolled ? LoopKind::serial : loop.kind;
    Known inside = known;
    if (copies_ == 0) {
      inside.enter(loop);
      Stmt body = visit(loop.body, inside);
      if (!body || (body == loop.body && kind == loop.kind)) return body ? stmt : nullptr;
      return make_stmt(For{loop.var, loop.extents, kind, std::move(body)});
    }
    For result{Var(loop.var.name()), {}, kind, nullptr};
    for (const Affine& extent_form : loop.extents)
      result.extents.push_back(replace(extent_form, replacements_));
    inside.enter(result);
    replacements_.vars.emplace_back(loop.var, Affine(result.var));
    result.body = visit(loop.body, inside);
    replacements_.vars.pop_back();
    return result.body ? make_stmt(std::move(result)) : nullptr;
  }

  Stmt copies(const For& loop, int64_t extent, const Known& known) {
    std::vector<Stmt> statements;
    ++copies_;
    for (int64_t i = 0; i < extent && !exceeded(); ++i) {
      replacements_.vars.emplace_back(loop.var, Affine(i));
      statements.push_back(visit(loop.body, known));
      replacements_.vars.pop_back();
    }
    --copies_;
    return make_seq(std::move(statements));
  }

  Stmt node(const Stmt&, const Block&, const Known&) {
    LATHE_CHECK(!"a block after lower_blocks");
    return nullptr;
  }

  Stmt node(const Stmt& stmt, const Seq& seq, const Known& known) {
    std::vector<Stmt> statements;
    bool changed = false;
    for (const Stmt& child : seq.statements) {
      statements.push_back(visit(child, known));
      changed |= statements.back() != child;
    }
    return changed ? make_seq(std::move(statements)) : stmt;
  }

  Stmt node(const Stmt& stmt, const Alloc& alloc, const Known& known) {
    if (copies_ == 0) return map_statements(stmt, [&](const Stmt& child) { return visit(child, known); });
    const Tensor fresh(alloc.tensor->name, alloc.tensor->shape, alloc.tensor->dtype);
    replacements_.tensors.emplace_back(alloc.tensor, fresh);
    Stmt body = visit(alloc.body, known);
    replacements_.tensors.pop_back();
    return body ? make_stmt(Alloc{fresh, alloc.scope, alloc.layout, std::move(body)}) : nullptr;
  }

  Stmt node(const Stmt& stmt, const If& branch, const Known& known) {
    If result;
    Known inside = known;
    for (Conjunct& conjunct : replace(branch.conditions, replacements_)) {
      if (inside.holds(conjunct)) continue;
      if (inside.fails(conjunct)) return nullptr;
      inside.assume(conjunct);
      result.conditions.push_back(std::move(conjunct));
    }
    result.body = visit(branch.body, inside);
    if (!result.body || result.conditions.empty()) return result.body;
    const bool same =
        copies_ == 0 && result.body == branch.body && result.conditions.size() == branch.conditions.size();
    return same ? stmt : make_stmt(std::move(result));
  }

  Stmt node(const Stmt& stmt, const Store& store, const Known&) {
    --left_;
    return copies_ == 0 ? stmt : make_stmt(replace(store, replacements_));
  }
  Stmt node(const Stmt& stmt, const Prefetch& prefetch, const Known&) {
    --left_;
    return copies_ == 0 ? stmt : make_stmt(replace(prefetch, replacements_));
  }
  Stmt node(const Stmt& stmt, const Barrier&, const Known&) { return stmt; }

  int64_t left_;
  int copies_ = 0;  // unrolled loops around: inside, everything is replaced
  Replacements replacements_;
};

}  // namespace

Result<Program> unroll_loops(const Program& program, int64_t max_statements) {
  return try_map_trees(program, [&](const Stmt& tree) -> Result<Stmt> {
    Unroller unroller(max_statements);
    Stmt result = unroller.visit(tree, Known());
    if (!unroller.exceeded()) return result;
    return fail(ErrorKind::unsupported,
                fmt::format("the unrolled program has more than {} statements; unroll fewer or smaller loops",
                            max_statements));
  });
}

}  // namespace lathe
