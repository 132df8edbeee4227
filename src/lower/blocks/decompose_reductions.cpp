#include "lower/blocks/decompose_reductions.h"

#include <algorithm>

#include "base/check.h"
#include "loop/walk.h"
#include "lower/blocks/known.h"
#include "lower/map.h"

namespace lathe {
namespace {

// A start on its way outwards to where it belongs.
struct Start {
  Block block;
  std::vector<For> loops;    // repeated so far, inside out, without bodies
  std::vector<Var> pending;  // variables that drive reduce axes and whose loops are still to be passed
};

bool uses(const Start& start, const Var& var) {
  const auto in = [&](const Affine& a) { return a.uses(var); };
  return std::ranges::any_of(start.block.axes, in, &BlockAxis::binding) ||
         std::ranges::any_of(start.block.predicate, in, &Conjunct::value) ||
         std::ranges::any_of(start.loops,
                             [&](const For& loop) { return std::ranges::any_of(loop.extents, in); });
}

// The least that a condition's value is while the loops that drive reduce axes run: the start belongs where
// the condition lets any of their iterations in. Nothing where it cannot tell.
std::optional<Affine> least(const Affine& value, const std::vector<Var>& reducing, const Ranges& ranges) {
  Affine result(value.constant());
  for (const Affine::Term& term : value.terms()) {
    const Affine part(term.atom, term.coefficient);
    if (std::ranges::none_of(reducing, [&](const Var& var) { return part.uses(var); })) {
      result += part;
      continue;
    }
    const auto reach = bounds(part, ranges);
    if (!reach) return std::nullopt;
    result += Affine(reach->lo);
  }
  return result;
}

Start start_of(const Block& block, const Ranges& ranges) {
  Start start;
  start.block.name = block.name + ".init";
  start.block.output = block.output;
  start.block.output_index = block.output_index;
  start.block.value = literal({block.output->dtype, 1}, identity_of(block.reduction));
  std::vector<int> new_axis(block.axes.size(), -1);
  for (size_t i = 0; i < block.axes.size(); ++i) {
    if (block.axes[i].axis.kind == AxisKind::reduce) {
      collect_vars(block.axes[i].binding, start.pending);
      continue;
    }
    new_axis[i] = static_cast<int>(start.block.axes.size());
    start.block.axes.push_back(block.axes[i]);
  }
  for (Conjunct conjunct : block.predicate) {
    if (conjunct.is_neutral) continue;
    if (conjunct.axis >= 0) conjunct.axis = new_axis[static_cast<size_t>(conjunct.axis)];
    if (conjunct.axis < 0) {
      // On a reduce axis or on none: most let the first part of the sum in and say no more of the start.
      std::optional<Affine> value = least(conjunct.value, start.pending, ranges);
      if (!value || (value->is_constant() && value->constant() < conjunct.bound)) continue;
      conjunct.value = std::move(*value);
    }
    start.block.predicate.push_back(std::move(conjunct));
  }
  return start;
}

Stmt nest_of(const Start& start) {
  Substitution fresh;
  for (const For& loop : start.loops) fresh.emplace_back(loop.var, Affine(Var(loop.var.name())));
  Stmt nest = substitute(make_stmt(start.block), fresh);
  for (size_t i = 0; i < start.loops.size(); ++i) {
    For loop{*fresh[i].second.as_var(), {}, start.loops[i].kind, std::move(nest)};
    for (const Affine& extent : start.loops[i].extents) loop.extents.push_back(substitute(extent, fresh));
    nest = make_stmt(std::move(loop));
  }
  return nest;
}

class Decomposer {
 public:
  // The statement without starts; those that belong further out are added to `starts`.
  Stmt visit(const Stmt& stmt, std::vector<Start>& starts) {
    if (const Block* block = as<Block>(stmt)) return visit_block(stmt, *block, starts);
    if (const For* loop = as<For>(stmt)) return visit_loop(stmt, *loop, starts);
    if (const Seq* seq = as<Seq>(stmt)) {
      std::vector<Stmt> statements;
      for (const Stmt& child : seq->statements) statements.push_back(visit(child, starts));
      return statements == seq->statements ? stmt : make_seq(std::move(statements));
    }
    if (const Alloc* alloc = as<Alloc>(stmt)) {
      const size_t outer = starts.size();
      const Stmt body = visit(alloc->body, starts);
      for (size_t i = outer; i < starts.size(); ++i) LATHE_CHECK(!(starts[i].block.output == alloc->tensor));
      return body == alloc->body ? stmt : make_stmt(Alloc{alloc->tensor, alloc->scope, alloc->layout, body});
    }
    return map_statements(stmt, [&](const Stmt& child) { return visit(child, starts); });
  }

 private:
  Stmt visit_block(const Stmt& stmt, const Block& block, std::vector<Start>& starts) const {
    if (!block.initialises) return stmt;
    Start start = start_of(block, known_.ranges());
    Block update = block;
    update.initialises = false;
    Stmt rest = make_stmt(std::move(update));
    if (start.pending.empty()) return make_seq({nest_of(start), rest});
    starts.push_back(std::move(start));
    return rest;
  }

  Stmt visit_loop(const Stmt& stmt, const For& loop, std::vector<Start>& starts) {
    std::vector<Start> inner;
    known_.enter(loop);
    const Stmt body = visit(loop.body, inner);
    std::vector<Stmt> here;
    for (Start& start : inner) {
      const bool drives = std::erase(start.pending, loop.var) > 0;
      const bool repeated = uses(start, loop.var);
      if (repeated) start.loops.push_back(with_body(loop, nullptr));
      if (drives && start.pending.empty()) {
        here.push_back(nest_of(start));
      } else {
        starts.push_back(std::move(start));
      }
    }
    here.push_back(body == loop.body ? stmt : make_stmt(with_body(loop, body)));
    return make_seq(std::move(here));
  }

  Known known_;  // no two loops share a variable, so what was left stays true
};

}  // namespace

Program decompose_reductions(const Program& program) {
  return map_trees(program, [](const Stmt& tree) {
    std::vector<Start> starts;
    const Stmt result = Decomposer().visit(tree, starts);
    LATHE_CHECK(starts.empty());
    return result;
  });
}

}  // namespace lathe
