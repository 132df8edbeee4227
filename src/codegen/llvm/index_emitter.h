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
  void close_level();
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
  struct Level {
    llvm::Instruction* place = nullptr;  // hoisted values go before this marker
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
