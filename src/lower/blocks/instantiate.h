// A copy of a statement that may stand beside the original: some variables replaced by values, and loops and
// buffers of its own, so that every variable and every allocated tensor of a program has one definition.
#pragma once

#include <utility>
#include <vector>

#include "loop/loop.h"

namespace lathe {

// scale * atom = value: a term whose coefficient is a multiple of `scale` can be replaced.
struct AtomValue {
  Atom atom;
  int64_t scale = 1;
  Affine value;
};

// What a copy replaces. The lists are searched linearly.
struct Replacements {
  Substitution vars;
  std::vector<AtomValue> atoms;  // where they stand in a sum, not inside other atoms; before `vars`
  std::vector<std::pair<Tensor, Tensor>> tensors;

  bool empty() const { return vars.empty() && atoms.empty() && tensors.empty(); }
  Tensor tensor(const Tensor& tensor) const;
};

Affine replace(const Affine& a, const Replacements& replacements);
Expr replace(const Expr& e, const Replacements& replacements);
// A leaf: a Store or Prefetch.
Store replace(const Store& store, const Replacements& replacements);
Prefetch replace(const Prefetch& prefetch, const Replacements& replacements);
std::vector<Conjunct> replace(const std::vector<Conjunct>& conditions, const Replacements& replacements);

// The copy. Blocks do not occur (it runs after `lower_blocks`).
Stmt instantiate(const Stmt& stmt, Replacements replacements);

}  // namespace lathe
