#include "codegen/llvm/machine.h"

#include <fmt/format.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/LastRunTrackingAnalysis.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/MemorySSA.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ProfileSummaryInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScopedNoAliasAA.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/TypeBasedAliasAnalysis.h>
#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <ranges>
#include <vector>

namespace lathe::llvm_backend {
namespace {

// LLVM's own list of code generation passes, but for loop strength reduction, since the index emitter
// advances the pointers of loops itself, and for what prepares it, which asks for the bounds of every loop in
// the light of all those before it.
class MachinePipeline : public llvm::legacy::PassManager {
 public:
  void add(llvm::Pass* pass) override {
    const llvm::PassInfo* information = llvm::Pass::lookupPassInfo(pass->getPassID());
    const llvm::StringRef name = information != nullptr ? information->getPassArgument() : "";
    if (name == "loop-reduce" || name == "canon-freeze") {
      left_out_.emplace_back(pass);
    } else {
      llvm::legacy::PassManager::add(pass);
    }
  }

 private:
  std::vector<std::unique_ptr<llvm::Pass>> left_out_;
};

// Bytes. LLVM's own 16 leave it to luck how many pieces of code a short loop touches: one took 9 % longer
// (docs/notes/code_places.md).
constexpr unsigned kLoopAlignment = 32;

// LLVM's registry is one for the process, and not thread-safe.
void initialise_llvm(const Processor& processor) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  processor.initialise();
}

}  // namespace

Result<std::unique_ptr<llvm::TargetMachine>> make_machine(const Processor& processor,
                                                          const std::vector<std::string>& extensions) {
  initialise_llvm(processor);
  std::string error;
  const llvm::Triple triple(processor.triple);
  const llvm::Target* backend = llvm::TargetRegistry::lookupTarget(triple, error);
  if (backend == nullptr) {
    return fail(ErrorKind::unsupported,
                fmt::format("target '{}' has no LLVM backend: {}", processor.target, error));
  }
  std::string features = processor.features;
  for (const ExtensionFeature& feature : processor.extensions) {
    if (std::ranges::find(extensions, feature.extension) != extensions.end())
      features += fmt::format(",{}", feature.feature);
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  options.LoopAlignment = kLoopAlignment;
  std::unique_ptr<llvm::TargetMachine> machine(
      backend->createTargetMachine(triple, processor.cpu, features, options, llvm::Reloc::PIC_, std::nullopt,
                                   llvm::CodeGenOptLevel::Default));
  if (machine == nullptr) {
    return fail(ErrorKind::unsupported, fmt::format("LLVM has no code generator for target '{}' (cpu {})",
                                                    processor.target, processor.cpu));
  }
  return machine;
}

// What the passes ask for. LLVM's PassBuilder registers these and those of every other pass, which takes all
// of LLVM's transformations into a program.
struct Analyses {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::ModuleAnalysisManager modules;

  explicit Analyses(const llvm::TargetMachine& machine) {
    add<llvm::PassInstrumentationAnalysis>(loops);
    add<llvm::PassInstrumentationAnalysis>(functions);
    add<llvm::PassInstrumentationAnalysis>(modules);
    add<llvm::ProfileSummaryAnalysis>(modules);
    add<llvm::LastRunTrackingAnalysis>(functions);
    add<llvm::AssumptionAnalysis>(functions);
    add<llvm::BlockFrequencyAnalysis>(functions);
    add<llvm::BranchProbabilityAnalysis>(functions);
    add<llvm::DominatorTreeAnalysis>(functions);
    add<llvm::LoopAnalysis>(functions);
    add<llvm::MemorySSAAnalysis>(functions);
    add<llvm::OptimizationRemarkEmitterAnalysis>(functions);
    add<llvm::PostDominatorTreeAnalysis>(functions);
    add<llvm::ScalarEvolutionAnalysis>(functions);
    add<llvm::TargetLibraryAnalysis>(functions);
    add<llvm::BasicAA>(functions);
    add<llvm::ScopedNoAliasAA>(functions);
    add<llvm::TypeBasedAA>(functions);
    functions.registerPass([&] { return machine.getTargetIRAnalysis(); });
    functions.registerPass([] {
      llvm::AAManager aliases;
      aliases.registerFunctionAnalysis<llvm::BasicAA>();
      aliases.registerFunctionAnalysis<llvm::ScopedNoAliasAA>();
      aliases.registerFunctionAnalysis<llvm::TypeBasedAA>();
      return aliases;
    });
    functions.registerPass([&] { return llvm::ModuleAnalysisManagerFunctionProxy(modules); });
    functions.registerPass([&] { return llvm::LoopAnalysisManagerFunctionProxy(loops); });
    loops.registerPass([&] { return llvm::FunctionAnalysisManagerLoopProxy(functions); });
    modules.registerPass([&] { return llvm::FunctionAnalysisManagerModuleProxy(functions); });
  }

 private:
  template <typename Analysis, typename Manager>
  static void add(Manager& manager) {
    manager.registerPass([] { return Analysis(); });
  }
};

void run_passes(llvm::Module& module, llvm::TargetMachine& machine, const Processor& processor) {
  Analyses analyses(machine);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) passes.run(function, analyses.functions);
  }
  if (processor.mend != nullptr) processor.mend(module);
}

void forgo_optimization(llvm::Module& module, llvm::TargetMachine& machine) {
  constexpr size_t kPiece = 2000;  // instructions
  machine.setOptLevel(llvm::CodeGenOptLevel::None);
  for (llvm::Function& function : module) {
    std::vector<llvm::Instruction*> cuts;
    for (llvm::BasicBlock& block : function) {
      const size_t size = block.size();
      size_t place = 0;
      for (llvm::Instruction& instruction : block) {
        const bool may_cut = place > 0 && place + kPiece <= size && !llvm::isa<llvm::PHINode>(instruction);
        if (may_cut && place % kPiece == 0) cuts.push_back(&instruction);
        ++place;
      }
    }
    // From the back: a cut moves all that is behind it.
    for (llvm::Instruction* cut : std::views::reverse(cuts)) cut->getParent()->splitBasicBlock(cut);
  }
}

Result<std::string> emit_machine_code(llvm::Module& module, llvm::TargetMachine& machine, Output output,
                                      bool reorders, SpillCount& spills) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  MachinePipeline passes;
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  if (!reorders) config->disablePass(&llvm::MachineSchedulerID);
  auto* information = new llvm::MachineModuleInfoWrapperPass(&machine);
  passes.add(config);
  passes.add(information);
  const auto kind =
      output == Output::object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  bool failed = config->addISelPasses();
  if (!failed) {
    config->addMachinePasses();
    config->setInitialized();
    passes.add(make_spill_counter(spills));
    failed = machine.addAsmPrinter(passes, stream, nullptr, kind, information->getMMI().getContext());
  }
  if (failed) return fail(ErrorKind::build, "LLVM cannot emit machine code for this target");
  passes.run(module);
  return std::string(bytes.data(), bytes.size());
}

size_t longest_block(const llvm::Module& module) {
  size_t longest = 0;
  for (const llvm::Function& function : module) {
    for (const llvm::BasicBlock& block : function) longest = std::max(longest, block.size());
  }
  return longest;
}

}  // namespace lathe::llvm_backend
