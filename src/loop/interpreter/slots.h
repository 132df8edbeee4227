// Integers of an interpreted program: every loop variable and every value computed from them has a slot.
// A sum is computed where its variables change, not where it is used: each loop carries the slot operations
// that depend on its variable, so an innermost access costs one addition. It uses none of the Affine
// arithmetic (no substitution, no simplification): the interpreter is what those are checked against.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "expr/affine.h"

namespace lathe::interpreter {

// target = slots[a] + factor * slots[b], or floor((slots[a] + constant) / factor), or that remainder.
enum class SlotOpKind : uint8_t { add_scaled, divide, remainder };
struct SlotOp {
  SlotOpKind kind = SlotOpKind::add_scaled;
  int target = 0;
  int a = 0;
  int b = 0;
  int64_t constant = 0;
  int64_t factor = 1;
};

// slots[slot] + constant.
struct SlotValue {
  int slot = 0;
  int64_t constant = 0;
};

// constant + sum of factor * slot.
struct Linear {
  int64_t constant = 0;
  std::vector<std::pair<int, int64_t>> terms;

  void add(const Linear& other, int64_t factor);
};

// Hands out slots while a program is compiled. Slot 0 holds 0 for ever.
class SlotPlan {
 public:
  SlotPlan();

  // Opens a loop: operations on its variable go to `operations`. Returns the variable's slot.
  int open_loop(const Var& var, int64_t largest, std::vector<SlotOp>* operations);
  void close_loop(const Var& var);
  // Gives a block axis the value of its binding until it is forgotten.
  void bind(const Var& var, Linear value) { bindings_.emplace_back(var.atom().get(), std::move(value)); }
  void forget_bindings(size_t count) { bindings_.resize(bindings_.size() - count); }
  // A slot that code inside a statement sets; what is computed from it goes to the local sink.
  int local_slot();
  // What computes an opaque value into a local slot, and where local operations go.
  std::function<int(const Expr&)> on_opaque;
  std::function<void(const SlotOp&)> on_local;

  // The affine form over slots; a variable that is no loop around and no axis becomes 0 and `unknown`.
  Linear linear(const Affine& a);
  SlotValue value(const Linear& linear);
  SlotValue value(const Affine& a) { return value(linear(a)); }
  // floor(linear / divisor) and the remainder.
  Linear divided(const Linear& a, int64_t divisor, SlotOpKind kind);

  Interval range(const SlotValue& value) const;
  // Narrows a slot to values below `bound`, as a condition around what is compiled next does; returns what it
  // was, for `restore`. What is computed from the slot may be shared with others, so it is not narrowed.
  Interval narrow(const SlotValue& value, int64_t bound);
  void restore(int slot, Interval range) { slots_[static_cast<size_t>(slot)].narrowed = range; }

  size_t size() const { return slots_.size(); }
  // The first variable that was used outside its loop, if any.
  const AtomNode* unknown() const { return unknown_; }

 private:
  struct Slot {
    int level = 0;
    Interval range;
    Interval narrowed;
  };
  using Key = std::tuple<SlotOpKind, int, int, int64_t, int64_t>;
  struct Level {
    std::vector<SlotOp>* operations = nullptr;
    std::map<Key, int> known;  // equal operations share a slot
  };

  int add_slot(int level, Interval range);
  int operation(SlotOp op, int level, Interval range);
  int level_of(int slot) const { return slots_[static_cast<size_t>(slot)].level; }

  std::vector<Slot> slots_;
  std::vector<Level> levels_;                                 // levels_[0] is unused: nothing varies there
  std::vector<std::pair<const AtomNode*, Linear>> bindings_;  // loop variables and axes, innermost last
  const AtomNode* unknown_ = nullptr;
};

}  // namespace lathe::interpreter
