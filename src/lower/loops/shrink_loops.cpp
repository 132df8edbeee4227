#include "lower/loops/shrink_loops.h"

#include "lower/map.h"

namespace lathe {
namespace {

Stmt shrink(const Stmt& stmt);

Stmt shrink_loop(const Stmt& stmt, const For& loop) {
  const If* branch = as<If>(loop.body);
  const bool flexible = loop.kind == LoopKind::serial || loop.kind == LoopKind::parallel;
  For result = loop;
  If kept;
  for (Conjunct conjunct : branch != nullptr ? branch->conditions : std::vector<Conjunct>{}) {
    const std::optional<Affine> iterations =
        conjunct.tail == Tail::bound ? iterations_within(conjunct, loop.var) : std::nullopt;
    if (iterations && flexible) {
      result.extents.push_back(*iterations);
      continue;
    }
    if (conjunct.tail == Tail::bound) conjunct.tail = flexible ? Tail::guard : Tail::peel;
    kept.conditions.push_back(std::move(conjunct));
  }
  result.body = shrink(branch != nullptr ? branch->body : loop.body);
  if (branch == nullptr && result.body == loop.body) return stmt;
  if (!kept.conditions.empty()) {
    kept.body = std::move(result.body);
    result.body = make_stmt(std::move(kept));
  }
  return make_stmt(std::move(result));
}

Stmt shrink(const Stmt& stmt) {
  if (const For* loop = as<For>(stmt)) return shrink_loop(stmt, *loop);
  return map_statements(stmt, [](const Stmt& child) { return shrink(child); });
}

}  // namespace

std::optional<Affine> iterations_within(const Conjunct& conjunct, const Var& var) {
  const int64_t coefficient = conjunct.value.coefficient(var);
  if (coefficient <= 0 || conjunct.value.uses_inside_atom(var)) return std::nullopt;
  const Affine rest = conjunct.value - Affine(var) * coefficient;
  return floor_div(Affine(conjunct.bound - 1) - rest, coefficient) + 1;
}

Program shrink_loops(const Program& program) {
  return map_trees(program, [](const Stmt& tree) { return shrink(tree); });
}

}  // namespace lathe
