#include "lower/blocks/overlap.h"

#include <algorithm>

#include "loop/walk.h"

namespace lathe {
namespace {

class OverlapCheck {
 public:
  OverlapCheck(const Var& var, const Conjunct& conjunct)
      : var_(var), coefficient_(conjunct.value.coefficient(var)), conjunct_(conjunct) {}

  bool legal(const Stmt& body, const Known& inside) {
    visit(body, inside, false);
    if (!legal_) return false;
    check_memory(body);
    return legal_;
  }

 private:
  // The same condition, whatever loops run through the tile in it.
  bool is_same(const Conjunct& other, const Known& known) const {
    if (other.bound != conjunct_.bound || other.tail != Tail::overlap) return false;
    if (other.value.coefficient(var_) != coefficient_ ||
        other.value.constant() != conjunct_.value.constant()) {
      return false;
    }
    const auto reach = bounds(other.value - Affine(var_) * coefficient_, known.ranges());
    if (!reach || (reach_ && *reach_ != reach->hi)) return false;
    reach_ = reach->hi;
    return true;
  }

  // Another condition on the loops through the tile: then it is never whole.
  bool cuts_tile(const Conjunct& other) const {
    std::vector<Var> vars;
    collect_vars(conjunct_.value, vars);
    return std::ranges::any_of(vars, [&](const Var& var) { return !(var == var_) && other.value.uses(var); });
  }

  void visit(const Stmt& stmt, const Known& known, bool guarded) {
    if (const For* loop = as<For>(stmt)) {
      for (const Affine& extent : loop->extents) legal_ &= !extent.uses(var_);
      Known inside = known;
      inside.enter(*loop);
      visit(loop->body, inside, guarded);
    } else if (const Seq* seq = as<Seq>(stmt)) {
      for (const Stmt& child : seq->statements) visit(child, known, guarded);
    } else if (const Alloc* alloc = as<Alloc>(stmt)) {
      visit(alloc->body, known, guarded);
      local_.push_back(alloc->tensor);
    } else if (const If* branch = as<If>(stmt)) {
      for (const Conjunct& c : branch->conditions) {
        const bool same = is_same(c, known);
        guarded |= same;
        legal_ &= same || !cuts_tile(c);
        check_affine(c.value);
      }
      visit(branch->body, known, guarded);
    } else if (const Store* store = as<Store>(stmt)) {
      visit_store(*store, guarded);
    } else if (const Prefetch* prefetch = as<Prefetch>(stmt)) {
      for (const Affine& index : prefetch->index) check_affine(index);
    }
  }

  // The last tile starts where coefficient * var is bound - tile, which need not be a multiple: all else must
  // follow from that.
  void check_affine(const Affine& a) {
    legal_ &= a.coefficient(var_) % coefficient_ == 0 && !a.uses_inside_atom(var_);
  }

  void visit_store(const Store& store, bool guarded) {
    written_.push_back(store.tensor);
    for (const Affine& index : store.index) check_affine(index);
    for_each(store.value, [&](const Expr& e) {
      if (const Index* index = e.as<Index>()) check_affine(index->value);
      const Load* load = e.as<Load>();
      for (const Affine& index : load != nullptr ? load->index : std::vector<Affine>{}) check_affine(index);
    });
    legal_ &= guarded;
  }

  // A tensor of the outside that is written must not be read, but for updates of what a store here started.
  void check_memory(const Stmt& body) {
    std::vector<Tensor> started;
    for_each(body, [&](const StmtNode& node) {
      const Store* store = std::get_if<Store>(&node.node);
      if (store == nullptr) return;
      bool updates = false;
      for (const Load* load : loads_of(store->value)) {
        const bool local = std::ranges::find(local_, load->tensor) != local_.end();
        if (local || std::ranges::find(written_, load->tensor) == written_.end()) continue;
        updates |= load->tensor == store->tensor;
        legal_ &= load->tensor == store->tensor && std::ranges::find(started, load->tensor) != started.end();
      }
      if (!updates) started.push_back(store->tensor);
    });
  }

  const Var& var_;
  int64_t coefficient_;
  const Conjunct& conjunct_;
  mutable std::optional<int64_t> reach_;
  std::vector<Tensor> local_;
  std::vector<Tensor> written_;
  bool legal_ = true;
};

}  // namespace

bool can_overlap(const For& loop, const Conjunct& conjunct, const Known& inside) {
  return OverlapCheck(loop.var, conjunct).legal(loop.body, inside);
}

}  // namespace lathe
