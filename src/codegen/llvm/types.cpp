#include "codegen/llvm/types.h"

namespace lathe::llvm_backend {
namespace {

llvm::Type* element_type(llvm::LLVMContext& context, DType dtype) {
  if (dtype == DType::boolean) return llvm::Type::getInt1Ty(context);
  if (dtype == DType::f32) return llvm::Type::getFloatTy(context);
  if (dtype == DType::f64) return llvm::Type::getDoubleTy(context);
  return llvm::Type::getIntNTy(context, static_cast<unsigned>(8 * bytes_of(dtype)));
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
