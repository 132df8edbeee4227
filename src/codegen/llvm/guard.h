// The lanes in which an expression's value is wanted. On the side of a select that is not taken a load may
// lie anywhere, so loads read nothing in lanes that their guard switches off and give 0 there; all else is
// computed regardless. Code stays free of branches that way.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace lathe::llvm_backend {

using Builder = llvm::IRBuilder<>;

struct Guard {
  llvm::Value* all = nullptr;    // i1 for all lanes together; null: on
  llvm::Value* lanes = nullptr;  // a vector of i1; null: all on

  bool always() const { return all == nullptr && lanes == nullptr; }
  bool operator==(const Guard&) const = default;
  auto operator<=>(const Guard&) const = default;
};

// The guard where `condition` (i1 or a vector of i1) holds too.
Guard refine(Builder& builder, Guard guard, llvm::Value* condition);
// One i1: whether any lane is on; null where the guard is always on.
llvm::Value* any_lane(Builder& builder, const Guard& guard);
// A vector of i1 for that many lanes; null where the guard is always on.
llvm::Value* lane_mask(Builder& builder, const Guard& guard, unsigned lanes);

}  // namespace lathe::llvm_backend
