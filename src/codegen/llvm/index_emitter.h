// Index arithmetic as 64-bit LLVM values. Each part of an affine form is computed once, at the outermost loop
// level where its variables are known, outer levels first: unrolled copies of an access then differ by a
// constant displacement, and nothing is left for a later pass to hoist. Not thread-safe; one a function.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "codegen/llvm/guard.h"
#include "expr/affine.h"

namespace lathe::llvm_backend {

class IndexEmitter {
 public:
  // Gives the i64 value of an integer expression that is no affine form, at the builder's place.
  using OpaqueValue = std::function<llvm::Value*(const Expr&, const Guard&)>;

  struct Variable {
    Var var;
    llvm::Value* value;
    Interval range;
    size_t level;
  };

  IndexEmitter(Builder& builder, OpaqueValue opaque) : builder_(builder), opaque_(std::move(opaque)) {}

  // A level's values are computed where the builder stands when it is opened. Level 0 is the function's
  // entry.
  void open_level();
  // The body of a loop whose variable, already made, starts at `first` in the block that enters it.
  void open_loop(llvm::PHINode* variable, llvm::BasicBlock* entry, llvm::Value* first);
  void close_level();
  // At the end of the body of the loop that was opened last, before its branch back: closes the level;
  // whether the loop goes on, having run from `first` up to below `end`.
  llvm::Value* close_loop(llvm::Value* end);
  // A variable of the innermost level.
  void define(const Var& var, llvm::Value* value, Interval range);
  const std::vector<Variable>& variables() const { return variables_; }

  llvm::Value* value(const Affine& a, const Guard& guard = {});
  // `base` plus that many bytes; `base` is known at level 0.
  llvm::Value* pointer(llvm::Value* base, const Affine& bytes, const Guard& guard = {});
  // The values that `a` may take, as far as the variables' ranges tell.
  std::optional<Interval> range(const Affine& a) const { return bounds(a, levels_.back().ranges); }

 private:
  struct Less {
    bool operator()(const std::pair<llvm::Value*, Affine>& a, const std::pair<llvm::Value*, Affine>& b) const;
  };
  // A pointer that a loop advances.
  struct Recurrence {
    llvm::PHINode* pointer;
    llvm::Value* start;  // of the loop variable's value 0
    int64_t step;        // bytes
  };
  struct Level {
    llvm::Instruction* place = nullptr;   // hoisted values go before this marker
    llvm::PHINode* variable = nullptr;    // of a loop
    llvm::BasicBlock* entry = nullptr;    // from which a loop is entered
    llvm::Value* first = nullptr;         // the loop variable's first value
    std::vector<Recurrence> recurrences;  // of a loop
    std::map<std::pair<llvm::Value*, Affine>, llvm::Value*, Less> known;
    size_t variables = 0;  // of the levels outside
    Ranges ranges;
  };

  const Variable& find(const AtomNode* atom) const;
  // The level at which an atom's value is known; nothing where it must be computed in place.
  std::optional<size_t> level_of(const AtomNode& atom) const;
  std::optional<size_t> level_of(const Affine& a) const;
  // The sum of `a`'s terms on top of `base` (null: of zero).
  llvm::Value* sum(llvm::Value* base, const Affine& a, const Guard& guard);
  // `start` plus `count` steps of a loop, computed where the loop is entered.
  llvm::Value* moved(const Level& level, llvm::Value* start, llvm::Value* count, int64_t step);
  // `start` plus the loop variable's term.
  llvm::Value* advance(Level& level, llvm::Value* start, const Affine::Term& term);
  bool advances(const Level& level, const Affine::Term& term) const;
  llvm::Value* add(llvm::Value* base, llvm::Value* sum, llvm::Value* term);
  llvm::Value* term_value(const Affine::Term& term, const Guard& guard);
  llvm::Value* atom_value(const Atom& atom, const Guard& guard);
  llvm::Value* division(const AtomNode& atom, const Guard& guard);

  Builder& builder_;
  OpaqueValue opaque_;
  std::vector<Level> levels_;
  std::vector<Variable> variables_;
};

}  // namespace lathe::llvm_backend
