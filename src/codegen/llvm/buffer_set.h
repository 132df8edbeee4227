// The buffers of one entry as LLVM sees them: what aliases what, and the tables of constants. One an entry
// and its outlined parallel loops.
#pragma once

#include <llvm/IR/Module.h>

#include <map>
#include <vector>

#include "codegen/buffers.h"

namespace lathe::llvm_backend {

class BufferSet {
 public:
  BufferSet(llvm::Module& module, std::vector<BufferUse> uses);

  const std::vector<BufferUse>& uses() const { return uses_; }
  const BufferUse& find(const Tensor& tensor) const;
  // Tells LLVM that an access touches this buffer and no other one.
  void annotate(llvm::Instruction* access, const Tensor& tensor) const;
  // A literal table's values, 64-byte aligned.
  llvm::Constant* literal(const Tensor& tensor);
  // At least that many zero bytes: what a load reads where its guard is off.
  llvm::Constant* zeros(uint64_t bytes);

 private:
  llvm::GlobalVariable* add_constant(llvm::Constant* values);

  llvm::Module& module_;
  std::vector<BufferUse> uses_;
  std::vector<llvm::MDNode*> scope_;  // of each use; null where LLVM knows itself
  std::vector<llvm::MDNode*> noalias_;
  std::map<const TensorNode*, llvm::Constant*> literals_;
  llvm::GlobalVariable* zeros_ = nullptr;
};

}  // namespace lathe::llvm_backend
