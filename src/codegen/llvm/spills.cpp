#include "codegen/llvm/spills.h"

#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineLoopInfo.h>
#include <llvm/CodeGen/MachineMemOperand.h>
#include <llvm/CodeGen/PseudoSourceValue.h>

#include <algorithm>

namespace lathe::llvm_backend {
namespace {

bool touches_stack(const llvm::MachineInstr& instruction) {
  return std::ranges::any_of(instruction.memoperands(), [](const llvm::MachineMemOperand* access) {
    const llvm::PseudoSourceValue* source = access->getPseudoValue();
    return source != nullptr && source->kind() == llvm::PseudoSourceValue::FixedStack;
  });
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
      count_.stack_references += static_cast<int>(std::ranges::count_if(*block, touches_stack));
    }
  }

  SpillCount& count_;
};

char SpillCounter::id = 0;

}  // namespace

llvm::MachineFunctionPass* make_spill_counter(SpillCount& count) { return new SpillCounter(count); }

}  // namespace lathe::llvm_backend
