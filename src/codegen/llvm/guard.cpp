#include "codegen/llvm/guard.h"

namespace lathe::llvm_backend {

Guard refine(Builder& builder, Guard guard, llvm::Value* condition) {
  llvm::Value*& part = condition->getType()->isVectorTy() ? guard.lanes : guard.all;
  part = part == nullptr ? condition : builder.CreateAnd(part, condition);
  return guard;
}

llvm::Value* any_lane(Builder& builder, const Guard& guard) {
  if (guard.lanes == nullptr) return guard.all;
  llvm::Value* any = builder.CreateOrReduce(guard.lanes);
  return guard.all == nullptr ? any : builder.CreateAnd(guard.all, any);
}

llvm::Value* lane_mask(Builder& builder, const Guard& guard, unsigned lanes) {
  if (guard.all == nullptr) return guard.lanes;
  llvm::Value* all = builder.CreateVectorSplat(lanes, guard.all);
  return guard.lanes == nullptr ? all : builder.CreateAnd(guard.lanes, all);
}

}  // namespace lathe::llvm_backend
