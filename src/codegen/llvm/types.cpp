#include "codegen/llvm/types.h"

namespace lathe::llvm_backend {
namespace {

llvm::Type* element_type(llvm::LLVMContext& context, DType dtype) {
  switch (dtype) {
    case DType::boolean: return llvm::Type::getInt1Ty(context);
    case DType::i8: return llvm::Type::getInt8Ty(context);
    case DType::i32: return llvm::Type::getInt32Ty(context);
    case DType::i64: return llvm::Type::getInt64Ty(context);
    case DType::f16: return llvm::Type::getHalfTy(context);
    case DType::bf16: return llvm::Type::getBFloatTy(context);
    case DType::f32: return llvm::Type::getFloatTy(context);
    case DType::f64: return llvm::Type::getDoubleTy(context);
  }
  return nullptr;
}

}  // namespace

llvm::Type* value_type(llvm::LLVMContext& context, Type type) {
  llvm::Type* element = element_type(context, type.dtype);
  if (type.lanes == 1) return element;
  return llvm::FixedVectorType::get(element, static_cast<unsigned>(type.lanes));
}

llvm::Type* memory_type(llvm::LLVMContext& context, Type type) {
  if (type.dtype == DType::boolean) type.dtype = DType::i8;
  return value_type(context, type);
}

}  // namespace lathe::llvm_backend
