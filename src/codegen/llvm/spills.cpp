#include "codegen/llvm/spills.h"

#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineLoopInfo.h>
#include <llvm/CodeGen/MachineMemOperand.h>
#include <llvm/CodeGen/PseudoSourceValue.h>

#include <algorithm>

namespace lathe::llvm_backend {
namespace {

constexpr uint64_t kLargestScalarBits = 64;

bool on_stack(const llvm::MachineMemOperand* access) {
  const llvm::PseudoSourceValue* source = access->getPseudoValue();
  return source != nullptr && source->kind() == llvm::PseudoSourceValue::FixedStack;
}

bool is_vector(const llvm::MachineMemOperand* access) {
  return access->getSizeInBits().hasValue() && access->getSizeInBits().getValue() > kLargestScalarBits;
}

class SpillCounter : public llvm::MachineFunctionPass {
 public:
  static char id;

  explicit SpillCounter(SpillCount& count) : MachineFunctionPass(id), count_(count) {}

  llvm::StringRef getPassName() const override { return "stack references in innermost loops"; }

  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
    usage.setPreservesAll();
    usage.addRequired<llvm::MachineLoopInfoWrapperPass>();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(llvm::MachineFunction&) override {
    const llvm::MachineLoopInfo& loops = getAnalysis<llvm::MachineLoopInfoWrapperPass>().getLI();
    for (const llvm::MachineLoop* outermost : loops) count(*outermost);
    return false;
  }

 private:
  void count(const llvm::MachineLoop& loop) {
    for (const llvm::MachineLoop* inner : loop.getSubLoops()) count(*inner);
    if (!loop.isInnermost()) return;
    ++count_.innermost_loops;
    for (const llvm::MachineBasicBlock* block : loop.blocks()) {
      for (const llvm::MachineInstr& instruction : *block) {
        const llvm::ArrayRef<llvm::MachineMemOperand*> accesses = instruction.memoperands();
        const auto* access = std::ranges::find_if(accesses, on_stack);
        if (access == accesses.end()) continue;
        ++count_.stack_references;
        if (is_vector(*access)) ++count_.vector_references;
      }
    }
  }

  SpillCount& count_;
};

char SpillCounter::id = 0;

}  // namespace

llvm::MachineFunctionPass* make_spill_counter(SpillCount& count) { return new SpillCounter(count); }

}  // namespace lathe::llvm_backend
