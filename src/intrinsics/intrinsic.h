// What machines compute at once beyond arithmetic lane by lane: each lane of an accumulator gains the
// products of a group of elements. An intrinsic is named after what it computes; the instructions for it are
// its forms, which differ from machine to machine. State beyond vector registers, such as the tiles of a
// matrix unit, is not described by it. Plain values, one in a file of its own, listed in all.cpp.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "expr/dag.h"
#include "target/target.h"

namespace lathe {

// The instruction of one vector width.
struct IntrinsicForm {
  std::string_view target;     // the name of the targets that may have it
  std::string_view extension;  // that they must have for it; empty: none
  int lanes = 1;               // of the accumulator
  const char* function;        // LLVM's
  bool accumulates = true;     // of accumulator and factors; false: of the factors alone, and is to be added
};

// accumulator[l] += sum(t: group) result(a[t]) * result(b[l, t]), or a[l, t] and b[t]: the elements of a
// group lie together, and one factor may be the same in all lanes.
struct Intrinsic {
  const char* name;
  DType result;
  DType a;
  DType b;
  int group;
  std::vector<IntrinsicForm> forms;
};

// All of them; where several compute the same, the one that takes most elements together comes first.
std::span<const Intrinsic> intrinsics();
// Null if there is none of that name.
const Intrinsic* find_intrinsic(std::string_view name);
// The target's instruction for so many lanes, or null.
const IntrinsicForm* form_of(const Intrinsic& intrinsic, const Target& target, int lanes);
// Whether the target has any instruction for it.
bool has_intrinsic(const Target& target, const Intrinsic& intrinsic);

// What it computes in so many lanes, as a formula: inputs A and B, C of the accumulators' type.
Dag block_of(const Intrinsic& intrinsic, int lanes);

// The factors of a summed product, as elements of the intrinsic's types.
struct Factors {
  Expr a;
  Expr b;
};
// Those of a term that the intrinsic adds up exactly: a product of elements cast to its type, in either
// order, of narrower types too, and under conditions that stand for zeros. Nothing if it is none.
std::optional<Factors> match_factors(const Intrinsic& intrinsic, const Expr& term);

}  // namespace lathe
