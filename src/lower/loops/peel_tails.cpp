#include "lower/loops/peel_tails.h"

#include <algorithm>

#include "loop/region.h"
#include "loop/walk.h"
#include "lower/blocks/instantiate.h"
#include "lower/blocks/overlap.h"
#include "lower/loops/select_conditions.h"
#include "lower/loops/simplify_loops.h"
#include "lower/map.h"

namespace lathe {
namespace {

// More partial iterations than this are not worth copies of their own.
constexpr size_t kMaxPartials = 4;
// Stops a tree in which conditions keep giving new ones; far beyond what sane programs need.
constexpr int kMaxCuts = 256;

int64_t unrolled_stores(const Stmt& stmt) {
  if (const For* loop = as<For>(stmt)) {
    const int64_t inside = unrolled_stores(loop->body);
    return loop->kind == LoopKind::unrolled ? inside * std::max<int64_t>(constant_extent(*loop), 1) : inside;
  }
  if (const Alloc* alloc = as<Alloc>(stmt)) return unrolled_stores(alloc->body);
  if (const If* branch = as<If>(stmt)) return unrolled_stores(branch->body);
  const Seq* seq = as<Seq>(stmt);
  if (seq == nullptr) return 1;
  int64_t sum = 0;
  for (const Stmt& child : seq->statements) sum += unrolled_stores(child);
  return sum;
}

// Fetching ahead for what is not computed is of no use.
bool stores_something(const Stmt& stmt) {
  bool found = false;
  for_each(stmt, [&](const StmtNode& node) { found |= std::holds_alternative<Store>(node.node); });
  return found;
}

// Where and how to cut a loop L: value = coefficient * (pivot + shift) + residue + inner, where the pivot is
// L's variable or the one division or modulo in which it occurs.
struct Cut {
  Conjunct conjunct;
  Atom pivot;
  int64_t coefficient = 1;
  Affine shift;            // of loops outside L
  int64_t full = 0;        // pivot + shift <= full: the condition holds for all inner iterations
  int64_t some = 0;        // pivot + shift <= some: it holds for some
  int64_t start = -1;      // tail=overlap: coefficient * pivot of the last whole tile; -1: peel
  bool is_choice = false;  // of a select, which has a value where the condition fails, too
};

Affine position(const Cut& cut) { return Affine(cut.pivot) + cut.shift; }

// The values of pivot + shift for which the condition holds in part, as far as they occur; too many are cut
// short.
std::vector<int64_t> partials(const Cut& cut, const Known& inside) {
  std::vector<int64_t> values;
  for (int64_t q = cut.full + 1; q <= cut.some && values.size() <= kMaxPartials; ++q) {
    if (!inside.at_most(position(cut), q - 1) && !inside.at_most(position(cut) * -1, -q - 1))
      values.push_back(q);
  }
  return values;
}

bool flexible(const For& loop) { return loop.kind == LoopKind::serial || loop.kind == LoopKind::parallel; }

int64_t floor_quotient(int64_t a, int64_t b) { return a / b - ((a % b != 0) && (a < 0)); }

// Looks below one loop for a condition that is to be cut there, of an If or of a select.
class CutFinder {
 public:
  CutFinder(const For& loop, const Known& inside) : loop_(loop), around_(inside) {}

  void run() { visit(loop_.body, around_); }

  std::optional<Cut> cut() const { return cut_; }

 private:
  void visit(const Stmt& stmt, const Known& known) {
    if (cut_) return;
    if (const Seq* seq = as<Seq>(stmt)) {
      for (const Stmt& child : seq->statements) visit(child, known);
    } else if (const Alloc* alloc = as<Alloc>(stmt)) {
      visit(alloc->body, known);
    } else if (const For* loop = as<For>(stmt)) {
      Known inside = known;
      inside.enter(*loop);
      inner_.push_back(loop);
      visit(loop->body, inside);
      inner_.pop_back();
    } else if (const If* branch = as<If>(stmt)) {
      for (const Conjunct& conjunct : branch->conditions) {
        const bool wanted =
            conjunct.tail == Tail::peel || conjunct.tail == Tail::overlap || conjunct.tail == Tail::pad;
        if (wanted && !cut_ && is_level(conjunct)) cut_ = consider(conjunct, known);
      }
      visit(branch->body, known);
    } else if (const Store* store = as<Store>(stmt)) {
      visit_choices(store->value, known);
    }
  }

  void visit_choices(const Expr& value, const Known& known) {
    for (const Conjunct& conjunct : select_conditions(value)) {
      if (cut_ || known.holds(conjunct) || known.fails(conjunct)) continue;
      cut_ = consider(conjunct, known);
      if (cut_) cut_->is_choice = true;
    }
  }

  // Whether this loop is the right one: the last serial one with a loop of the condition below it.
  bool is_level(const Conjunct& conjunct) const {
    std::vector<const For*> used;
    std::ranges::copy_if(inner_, std::back_inserter(used),
                         [&](const For* l) { return conjunct.value.uses(l->var); });
    return std::ranges::none_of(used, [&](const For* l) { return flexible(*l) && l != used.back(); });
  }

  std::optional<Cut> consider(const Conjunct& conjunct, const Known& known) const {
    if (!conjunct.value.uses(loop_.var)) return std::nullopt;
    Cut cut{conjunct, nullptr, 1, Affine(), 0, 0, -1, false};
    Affine inner;
    Affine outer(conjunct.value.constant());
    for (const Affine::Term& term : conjunct.value.terms()) {
      const Affine part(term.atom, term.coefficient);
      const bool moves = std::ranges::any_of(inner_, [&](const For* l) { return part.uses(l->var); });
      const bool pivots = part.uses(loop_.var);
      if (pivots && (moves || cut.pivot || term.coefficient < 0)) return std::nullopt;
      if (pivots) {
        cut.pivot = term.atom;
        cut.coefficient = term.coefficient;
      } else {
        (moves ? inner : outer) += part;
      }
    }
    const std::optional<Interval> range = bounds(inner, known.ranges());
    const Affine residue = modulo(outer, cut.coefficient);
    if (!range || !residue.is_constant()) return std::nullopt;
    cut.shift = floor_div(outer, cut.coefficient);
    const int64_t room = conjunct.bound - 1 - residue.constant();
    cut.full = floor_quotient(room - range->hi, cut.coefficient);
    cut.some = floor_quotient(room - range->lo, cut.coefficient);
    const bool by_loop = cut.pivot == loop_.var.atom();
    if (partials(cut, known).size() > kMaxPartials || (!by_loop && inner.is_constant())) return std::nullopt;
    const bool whole = reaches_all(inner, known.ranges()) && cut.coefficient <= range->hi - range->lo + 1;
    const bool overlaps = conjunct.tail == Tail::overlap && by_loop && outer.is_constant() && whole;
    if (overlaps && can_overlap(loop_, conjunct, around_)) {
      cut.start = conjunct.bound - 1 - range->hi - outer.constant();
    }
    return cut;
  }

  const For& loop_;
  const Known& around_;  // what is known in the loop's body
  std::vector<const For*> inner_;
  std::optional<Cut> cut_;
};

class Peeler {
 public:
  Stmt visit(const Stmt& stmt, const Known& known) {
    if (const For* loop = as<For>(stmt)) return visit_loop(stmt, *loop, known);
    Known inside = known;
    if (const If* branch = as<If>(stmt)) {
      for (const Conjunct& conjunct : branch->conditions) inside.assume(conjunct);
    }
    return map_statements(stmt, [&](const Stmt& child) { return visit(child, inside); });
  }

  explicit Peeler(const Stmt& tree) : stores_(unrolled_stores(tree)) {}

 private:
  Stmt visit_loop(const Stmt& stmt, const For& loop, const Known& known) {
    Known inside = known;
    inside.enter(loop);
    if (flexible(loop) && cuts_ < kMaxCuts) {
      CutFinder finder(loop, inside);
      finder.run();
      if (const std::optional<Cut> cut = finder.cut(); cut && pays_for(*cut, loop, inside)) {
        const bool by_loop = cut->pivot == loop.var.atom() && loop.kind == LoopKind::serial;
        return by_loop ? cut_loop(loop, *cut, known, inside) : cut_body(loop, *cut, inside);
      }
    }
    return map_statements(stmt, [&](const Stmt& child) { return visit(child, inside); });
  }

  bool pays_for(const Cut& cut, const For& loop, const Known& inside) {
    const int64_t copies = static_cast<int64_t>(partials(cut, inside).size()) + (cut.is_choice ? 1 : 0);
    const int64_t growth = copies * unrolled_stores(loop.body);
    if (stores_ + growth > kMaxPeeledStores) return false;
    stores_ += growth;
    ++cuts_;
    return true;
  }

  // Simplifies one part and cuts it further.
  Stmt finish(const Stmt& part, const Known& known) {
    const Stmt simple = part ? simplify_loops(part, known) : nullptr;
    return simple && stores_something(simple) ? visit(simple, known) : nullptr;
  }

  // What one partial iteration runs, the pivot being q - shift.
  static Stmt partial_body(const For& loop, const Cut& cut, int64_t q) {
    Replacements replacements;
    if (cut.start >= 0) {
      replacements.atoms.push_back({cut.pivot, cut.coefficient, Affine(cut.start)});
    } else if (cut.pivot->kind == AtomKind::variable) {
      replacements.vars.emplace_back(Var(cut.pivot), Affine(q) - cut.shift);
    } else {
      replacements.atoms.push_back({cut.pivot, 1, Affine(q) - cut.shift});
    }
    return instantiate(loop.body, replacements);
  }

  Stmt cut_loop(const For& loop, const Cut& cut, const Known& known, const Known& inside) {
    std::vector<Stmt> parts;
    For main = loop;
    main.extents.push_back(Affine(cut.full + 1) - cut.shift);
    parts.push_back(finish(make_stmt(std::move(main)), known));
    for (const int64_t q : partials(cut, inside)) {
      const Affine iteration = Affine(q) - cut.shift;
      If branch{{{iteration * -1, 1}}, partial_body(loop, cut, q)};
      for (const Affine& extent : loop.extents) branch.conditions.push_back({iteration - extent, 0});
      parts.push_back(finish(make_stmt(std::move(branch)), known));
    }
    parts.push_back(finish(beyond_loop(loop, cut, inside), known));
    return make_seq(std::move(parts));
  }

  // The iterations for which the condition never holds: other statements may stand there.
  static Stmt beyond_loop(const For& loop, const Cut& cut, const Known& inside) {
    if (inside.at_most(position(cut), cut.some)) return nullptr;
    const Affine start = Affine(cut.some + 1) - cut.shift;
    For rest{Var(loop.var.name()), loop.extents, loop.kind, nullptr};
    if (!start.is_constant() || start.constant() <= 0) {
      const Affine place = Affine(rest.var) + cut.shift;
      const Stmt body = instantiate(loop.body, {{{loop.var, Affine(rest.var)}}, {}, {}});
      rest.body = make_stmt(If{{{place * -1, -cut.some}}, body});
      return make_stmt(std::move(rest));
    }
    for (Affine& extent : rest.extents) extent = extent - start;
    rest.body = instantiate(loop.body, {{{loop.var, Affine(rest.var) + start}}, {}, {}});
    const Conjunct never{(Affine(rest.var) + start + cut.shift) * -1, -cut.some};
    rest.body = make_stmt(If{{never}, rest.body});
    return make_stmt(std::move(rest));
  }

  // The cases as conditions inside of a loop that stays whole.
  Stmt cut_body(const For& loop, const Cut& cut, const Known& inside) {
    const Affine place = position(cut);
    std::vector<Stmt> cases;
    cases.push_back(finish(make_stmt(If{{{place, cut.full + 1}}, loop.body}), inside));
    for (const int64_t q : partials(cut, inside)) {
      cases.push_back(
          finish(make_stmt(If{{{place, q + 1}, {place * -1, 1 - q}}, partial_body(loop, cut, q)}), inside));
    }
    if (!inside.at_most(place, cut.some)) {
      cases.push_back(finish(make_stmt(If{{{place * -1, -cut.some}}, instantiate(loop.body, {})}), inside));
    }
    const Stmt body = make_seq(std::move(cases));
    return body ? make_stmt(with_body(loop, body)) : nullptr;
  }

  int64_t stores_;
  int cuts_ = 0;
};

// Conditions with tail=pad save work where they are decided at compile time. Others go, for there is room.
Stmt without_open_paddings(const Stmt& stmt, const std::vector<Var>& open) {
  if (const For* loop = as<For>(stmt)) {
    std::vector<Var> inside = open;
    if (flexible(*loop)) inside.push_back(loop->var);
    return map_statements(stmt, [&](const Stmt& body) { return without_open_paddings(body, inside); });
  }
  const auto visit = [&](const Stmt& child) { return without_open_paddings(child, open); };
  const If* branch = as<If>(stmt);
  if (branch == nullptr) return map_statements(stmt, visit);
  If kept{branch->conditions, visit(branch->body)};
  std::erase_if(kept.conditions, [&](const Conjunct& conjunct) {
    return conjunct.tail == Tail::pad &&
           std::ranges::any_of(open, [&](const Var& var) { return conjunct.value.uses(var); });
  });
  if (kept.conditions.empty()) return kept.body;
  return kept.conditions.size() == branch->conditions.size() && kept.body == branch->body
             ? stmt
             : make_stmt(std::move(kept));
}

}  // namespace

Program peel_tails(const Program& program) {
  return map_trees(program, [](const Stmt& tree) {
    const Stmt peeled = Peeler(tree).visit(tree, Known());
    return peeled ? without_open_paddings(peeled, {}) : peeled;
  });
}

}  // namespace lathe
