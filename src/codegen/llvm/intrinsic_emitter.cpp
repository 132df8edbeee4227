#include "codegen/llvm/intrinsic_emitter.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include "base/check.h"
#include "codegen/llvm/conversions.h"
#include "codegen/llvm/types.h"

namespace lathe::llvm_backend {
namespace {

int lanes_of(const llvm::Value* value) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector == nullptr ? 1 : static_cast<int>(vector->getNumElements());
}

// The groups of a factor in every lane: one group, as an integer, is broadcast.
llvm::Value* in_all_lanes(Builder& builder, llvm::Value* factor, int group, int lanes) {
  if (lanes_of(factor) != group || lanes == 1) return factor;
  llvm::Type* element = factor->getType()->getScalarType();
  const unsigned bits = element->getPrimitiveSizeInBits() * static_cast<unsigned>(group);
  llvm::Value* whole = builder.CreateBitCast(factor, builder.getIntNTy(bits));
  llvm::Value* splat = builder.CreateVectorSplat(static_cast<unsigned>(lanes), whole);
  const auto all = static_cast<unsigned>(group * lanes);
  return builder.CreateBitCast(splat, llvm::FixedVectorType::get(element, all));
}

llvm::Value* emit_form(Builder& builder, const IntrinsicForm& form, llvm::Value* accumulator, llvm::Value* a,
                       llvm::Value* b) {
  llvm::Module* module = builder.GetInsertBlock()->getModule();
  const llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID(form.function);
  LATHE_CHECK(id != llvm::Intrinsic::not_intrinsic);
  llvm::Function* function = llvm::Intrinsic::getOrInsertDeclaration(module, id);
  const unsigned first = form.accumulates ? 1 : 0;
  std::vector<llvm::Value*> operands;
  if (form.accumulates) operands.push_back(accumulator);
  operands.push_back(builder.CreateBitCast(a, function->getFunctionType()->getParamType(first)));
  operands.push_back(builder.CreateBitCast(b, function->getFunctionType()->getParamType(first + 1)));
  llvm::Value* result = builder.CreateCall(function, operands);
  return form.accumulates ? result : builder.CreateAdd(accumulator, result);
}

// The elements number t of each lane's group, in the accumulator's type.
llvm::Value* elements(Builder& builder, llvm::Value* factor, DType dtype, Type wanted, int group, int t) {
  std::vector<int> picks;
  for (int lane = 0; lane < wanted.lanes; ++lane)
    picks.push_back(lanes_of(factor) == group ? t : group * lane + t);
  llvm::Value* picked = wanted.lanes == 1 ? builder.CreateExtractElement(factor, static_cast<uint64_t>(t))
                                          : builder.CreateShuffleVector(factor, picks);
  return convert(builder, picked, dtype, wanted);
}

}  // namespace

llvm::Value* emit_intrinsic(Builder& builder, const Intrinsic& intrinsic, const Target& target,
                            llvm::Value* accumulator, llvm::Value* a, llvm::Value* b) {
  const int group = intrinsic.group;
  const Type type{intrinsic.result, lanes_of(accumulator)};
  if (const IntrinsicForm* form = form_of(intrinsic, target, type.lanes)) {
    return emit_form(builder, *form, accumulator, in_all_lanes(builder, a, group, type.lanes),
                     in_all_lanes(builder, b, group, type.lanes));
  }
  for (int t = 0; t < group; ++t) {
    llvm::Value* left = elements(builder, a, intrinsic.a, type, group, t);
    llvm::Value* right = elements(builder, b, intrinsic.b, type, group, t);
    accumulator = is_float(type.dtype) ? builder.CreateIntrinsic(llvm::Intrinsic::fma, {left->getType()},
                                                                 {left, right, accumulator})
                                       : builder.CreateAdd(accumulator, builder.CreateMul(left, right));
  }
  return accumulator;
}

}  // namespace lathe::llvm_backend
