#include "lower/threads/merge_threads.h"

#include <fmt/format.h>

#include <algorithm>

#include "loop/walk.h"
#include "lower/map.h"

namespace lathe {
namespace {

constexpr const char* kThread = "thread";

std::unexpected<Error> illegal(std::string message) {
  return fail(ErrorKind::illegal_schedule, std::move(message));
}

bool has_stores(const Stmt& stmt) {
  bool found = false;
  for_each(stmt, [&](const StmtNode& node) { found |= std::holds_alternative<Store>(node.node); });
  return found;
}

// A nest of thread loops, taken apart.
struct Nest {
  std::vector<const For*> loops;  // outermost first
  std::vector<Conjunct> conditions;
  Stmt body;
};

Nest nest_of(Stmt stmt) {
  Nest nest;
  while (has_loop(stmt, LoopKind::thread)) {
    const For* loop = as<For>(stmt);
    const If* branch = as<If>(stmt);
    if (loop != nullptr && loop->kind == LoopKind::thread) {
      nest.loops.push_back(loop);
      stmt = loop->body;
    } else if (branch != nullptr) {
      nest.conditions.insert(nest.conditions.end(), branch->conditions.begin(), branch->conditions.end());
      stmt = branch->body;
    } else {
      break;
    }
  }
  nest.body = std::move(stmt);
  return nest;
}

Result<Stmt> merged(const Stmt& stmt) {
  const Nest nest = nest_of(stmt);
  if (has_loop(nest.body, LoopKind::thread)) {
    return illegal(fmt::format("other statements lie between the loop '{}' of threads and one inside of it",
                               nest.loops.back()->var.name()));
  }
  const Var thread(kThread);
  Affine rest(thread);
  int64_t threads = 1;
  Substitution substitution;
  for (size_t i = nest.loops.size(); i-- > 0;) {
    const int64_t extent = constant_extent(*nest.loops[i]);
    if (extent < 0)
      return illegal(fmt::format("loop '{}' of threads has no constant extent", nest.loops[i]->var.name()));
    substitution.emplace_back(nest.loops[i]->var, i == 0 ? rest : modulo(rest, extent));
    rest = floor_div(rest, extent);
    threads *= extent;
  }
  Stmt body = nest.body;
  if (!nest.conditions.empty()) body = make_stmt(If{nest.conditions, body});
  return make_stmt(For{thread, {Affine(threads)}, LoopKind::thread, substitute(body, substitution)});
}

class Merger {
 public:
  // `in_block`: what is around runs once for each block, by all its threads.
  Result<Stmt> visit(const Stmt& stmt, bool in_block) {
    const For* loop = as<For>(stmt);
    if (loop != nullptr && loop->kind == LoopKind::block) {
      if (in_block)
        return illegal(fmt::format("loop '{}' of blocks lies inside of another", loop->var.name()));
      return visit_blocks(*loop);
    }
    if (loop != nullptr && loop->kind == LoopKind::thread) return merged(stmt);
    const bool has_blocks = has_loop(stmt, LoopKind::block);
    if (!has_blocks && !has_loop(stmt, LoopKind::thread)) return alone(stmt);
    if (loop != nullptr) return visit_loop(*loop, has_blocks);
    return visit_children(stmt, in_block);
  }

 private:
  Result<Stmt> visit_blocks(const For& loop) {
    const For* inner = as<For>(loop.body);
    Stmt body;
    if (inner != nullptr && inner->kind == LoopKind::block) {
      LATHE_TRY(body, visit_blocks(*inner));
    } else {
      LATHE_TRY(body, visit(loop.body, true));
    }
    return make_stmt(with_body(loop, std::move(body)));
  }

  Result<Stmt> visit_loop(const For& loop, bool has_blocks) {
    if (has_blocks) return illegal(fmt::format("loops of blocks lie inside of loop '{}'", loop.var.name()));
    if (loop.kind != LoopKind::serial && loop.kind != LoopKind::unrolled)
      return illegal(fmt::format("loops of threads lie inside of loop '{}', which is {}", loop.var.name(),
                                 loop.kind == LoopKind::parallel ? "parallel" : "vectorized"));
    LATHE_TRY(Stmt body, visit(loop.body, true));
    return make_stmt(with_body(loop, std::move(body)));
  }

  Result<Stmt> visit_children(const Stmt& stmt, bool in_block) {
    Status status;
    Stmt mapped = map_statements(stmt, [&](const Stmt& child) -> Stmt {
      Result<Stmt> visited = visit(child, in_block);
      if (visited) return *visited;
      status = std::unexpected(visited.error());
      return child;
    });
    if (!status) return std::unexpected(status.error());
    return mapped;
  }

  static Stmt alone(const Stmt& stmt) {
    if (!has_stores(stmt)) return stmt;
    return make_stmt(For{Var(kThread), {Affine(1)}, LoopKind::thread, stmt});
  }
};

}  // namespace

bool has_loop(const Stmt& stmt, LoopKind kind) {
  bool found = false;
  for_each(stmt, [&](const StmtNode& node) {
    const For* loop = std::get_if<For>(&node.node);
    found |= loop != nullptr && loop->kind == kind;
  });
  return found;
}

Result<Program> merge_threads(const Program& program) {
  return try_map_trees(program, [](const Stmt& tree) { return Merger().visit(tree, false); });
}

}  // namespace lathe
