#include "codegen/llvm/buffer_set.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/MDBuilder.h>

#include "base/check.h"
#include "codegen/llvm/types.h"

namespace lathe::llvm_backend {
namespace {

// The widest guarded load: 64 lanes of 4 bytes.
constexpr uint64_t kZeroBytes = 256;

// Registers and literals are objects of their own: LLVM sees that without help.
bool needs_scope(const BufferUse& use) {
  return use.storage != Storage::registers && use.storage != Storage::literal;
}

llvm::Constant* constant_of(llvm::Type* type, double value) {
  if (type->isFloatingPointTy()) return llvm::ConstantFP::get(type, value);
  return llvm::ConstantInt::getSigned(type, static_cast<int64_t>(value));
}

}  // namespace

BufferSet::BufferSet(llvm::Module& module, std::vector<BufferUse> uses)
    : module_(module), uses_(std::move(uses)) {
  llvm::LLVMContext& context = module.getContext();
  llvm::MDBuilder metadata(context);
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain();
  std::vector<llvm::MDNode*> scopes;
  for (const BufferUse& use : uses_) {
    scopes.push_back(needs_scope(use) ? metadata.createAnonymousAliasScope(domain) : nullptr);
  }
  for (size_t i = 0; i < uses_.size(); ++i) {
    std::vector<llvm::Metadata*> others;
    for (size_t j = 0; j < uses_.size(); ++j) {
      if (j != i && scopes[j] != nullptr && !may_overlap(uses_[i], uses_[j])) others.push_back(scopes[j]);
    }
    scope_.push_back(scopes[i] == nullptr ? nullptr : llvm::MDNode::get(context, {scopes[i]}));
    noalias_.push_back(scopes[i] == nullptr || others.empty() ? nullptr : llvm::MDNode::get(context, others));
  }
}

const BufferUse& BufferSet::find(const Tensor& tensor) const {
  for (const BufferUse& use : uses_) {
    if (use.tensor == tensor) return use;
  }
  LATHE_CHECK(false);
}

void BufferSet::annotate(llvm::Instruction* access, const Tensor& tensor) const {
  const size_t i = static_cast<size_t>(&find(tensor) - uses_.data());
  if (scope_[i] != nullptr) access->setMetadata(llvm::LLVMContext::MD_alias_scope, scope_[i]);
  if (noalias_[i] != nullptr) access->setMetadata(llvm::LLVMContext::MD_noalias, noalias_[i]);
}

llvm::Constant* BufferSet::literal(const Tensor& tensor) {
  llvm::Constant*& known = literals_[tensor.get()];
  if (known != nullptr) return known;
  llvm::Type* element = memory_type(module_.getContext(), {tensor->dtype, 1});
  std::vector<llvm::Constant*> values;
  values.reserve(tensor->literal.size());
  for (double value : tensor->literal) values.push_back(constant_of(element, value));
  known = add_constant(llvm::ConstantArray::get(llvm::ArrayType::get(element, values.size()), values));
  return known;
}

llvm::Constant* BufferSet::zeros(uint64_t bytes) {
  LATHE_CHECK(bytes <= kZeroBytes);
  if (zeros_ == nullptr) {
    llvm::Type* byte = llvm::Type::getInt8Ty(module_.getContext());
    zeros_ = add_constant(llvm::ConstantAggregateZero::get(llvm::ArrayType::get(byte, kZeroBytes)));
  }
  return zeros_;
}

llvm::GlobalVariable* BufferSet::add_constant(llvm::Constant* values) {
  auto* table = new llvm::GlobalVariable(module_, values->getType(), true, llvm::GlobalValue::InternalLinkage,
                                         values, "table");
  table->setAlignment(llvm::Align(64));
  table->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return table;
}

}  // namespace lathe::llvm_backend
