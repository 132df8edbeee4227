#include "codegen/llvm/x86/single_lane_stores.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <optional>

namespace lathe::llvm_backend {
namespace {

// Operands of a masked store.
constexpr unsigned kValue = 0;
constexpr unsigned kPointer = 1;

// The lane that the mask alone lets through; none where others are or nothing is known.
std::optional<unsigned> single_lane(const llvm::Value* mask) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(mask->getType());
  if (constant == nullptr || type == nullptr) return std::nullopt;
  std::optional<unsigned> found;
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    const llvm::Constant* element = constant->getAggregateElement(lane);
    if (element == nullptr) return std::nullopt;
    if (element->isNullValue()) continue;
    if (found || !element->isOneValue()) return std::nullopt;
    found = lane;
  }
  return found;
}

void scalarize(llvm::IntrinsicInst& store, unsigned lane) {
  llvm::IRBuilder<> builder(&store);
  llvm::Value* value = builder.CreateExtractElement(store.getArgOperand(kValue), uint64_t{lane});
  llvm::Value* pointer = builder.CreateConstGEP1_64(value->getType(), store.getArgOperand(kPointer), lane);
  const uint64_t bytes = value->getType()->getScalarSizeInBits() / 8;
  llvm::StoreInst* scalar = builder.CreateAlignedStore(value, pointer, llvm::Align(bytes));
  scalar->setAAMetadata(store.getAAMetadata());
  store.eraseFromParent();
}

}  // namespace

void scalarize_single_lane_stores(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (call == nullptr || call->getIntrinsicID() != llvm::Intrinsic::masked_store) continue;
      const std::optional<unsigned> lane = single_lane(call->getArgOperand(call->arg_size() - 1));
      if (lane) scalarize(*call, *lane);
    }
  }
}

}  // namespace lathe::llvm_backend
