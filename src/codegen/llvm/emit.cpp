#include "codegen/llvm/emit.h"

#include <fmt/format.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <chrono>
#include <optional>

#include "codegen/check_lowered.h"
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/machine.h"
#include "codegen/needed_extensions.h"

namespace lathe {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// LLVM's machine scheduler takes quadratic time in the length of a block; blocks as long as this are straight
// transforms that gain nothing from it.
constexpr size_t kLongestOrderedBlock = 1000;
// Longer blocks spill in any order: they hold more values than there are registers.
constexpr size_t kLongestRetriedBlock = 300;
// A sum of 20 powers has 14,000 instructions in a block and takes 1.3 s, one of 80 has 57,000 and takes 18 s,
// and 1.2 s where it is cut and not optimised. The code is then at most a tenth slower: such blocks wait for
// arithmetic.
constexpr size_t kLongestOptimizedBlock = 20000;

struct Emission {
  EmitStats stats;
  size_t longest_block = 0;
};

// A program on its way through LLVM. Each has a context of its own: LLVM's are not thread-safe.
struct Unit {
  llvm::LLVMContext context;
  llvm::Module module{"lathe", context};
  std::unique_ptr<llvm::TargetMachine> machine;
};

Result<std::unique_ptr<Unit>> make_unit(const LoweredProgram& lowered, const Target& target,
                                        const EntrySymbols& symbols, bool names, EmitStats& stats) {
  LATHE_TRY_STATUS(check_lowered(lowered));
  const llvm_backend::Processor* processor = llvm_backend::find_processor(target.name);
  if (processor == nullptr)
    return fail(ErrorKind::unsupported, fmt::format("LLVM generates no code for target '{}'", target.name));
  const Clock::time_point start = Clock::now();
  auto unit = std::make_unique<Unit>();
  LATHE_TRY(unit->machine, llvm_backend::make_machine(*processor, needed_extensions(lowered, target)));
  unit->context.setDiscardValueNames(!names);
  unit->module.setTargetTriple(unit->machine->getTargetTriple());
  unit->module.setDataLayout(unit->machine->createDataLayout());
  if (lowered.program.main)
    llvm_backend::emit_entry(unit->module, *processor, target, lowered, lowered.program.main, symbols.kernel);
  if (lowered.program.prepare) {
    llvm_backend::emit_entry(unit->module, *processor, target, lowered, lowered.program.prepare,
                             symbols.prepare);
  }
  const std::string width = std::to_string(target.cpu().vector_bytes * 8);
  for (llvm::Function& function : unit->module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
  }
  stats.emit_seconds = seconds_since(start);
  const Clock::time_point passes = Clock::now();
  llvm_backend::run_passes(unit->module, *unit->machine, *processor);
  stats.passes_seconds = seconds_since(passes);
  return unit;
}

Result<std::string> emit_once(const LoweredProgram& lowered, const Target& target,
                              const EntrySymbols& symbols, llvm_backend::Output output,
                              std::optional<bool> reorders, Emission& emission) {
  const bool names = output == llvm_backend::Output::assembly;
  LATHE_TRY(std::unique_ptr<Unit> unit, make_unit(lowered, target, symbols, names, emission.stats));
  const Clock::time_point start = Clock::now();
  emission.longest_block = llvm_backend::longest_block(unit->module);
  if (emission.longest_block > kLongestOptimizedBlock)
    llvm_backend::forgo_optimization(unit->module, *unit->machine);
  const bool order = reorders.value_or(emission.longest_block <= kLongestOrderedBlock);
  LATHE_TRY(std::string code, llvm_backend::emit_machine_code(unit->module, *unit->machine, output, order,
                                                              emission.stats.spills));
  emission.stats.machine_seconds = seconds_since(start);
  return code;
}

// No order of instructions is the best for all register tiles: where LLVM's own leads to spilled vectors in a
// loop, the program's is tried too, and the code with fewer spills is taken. Spilled addresses come from the
// number of pointers that a loop advances; no order helps them.
Result<std::string> emit_code(const LoweredProgram& lowered, const Target& target,
                              const EntrySymbols& symbols, llvm_backend::Output output, EmitStats& stats) {
  Emission first;
  LATHE_TRY(std::string code, emit_once(lowered, target, symbols, output, std::nullopt, first));
  stats = first.stats;
  if (stats.spills.vector_references == 0 || first.longest_block > kLongestRetriedBlock) return code;
  Emission second;
  LATHE_TRY(std::string other, emit_once(lowered, target, symbols, output, false, second));
  const bool better = second.stats.spills.stack_references < stats.spills.stack_references;
  stats.emit_seconds += second.stats.emit_seconds;
  stats.passes_seconds += second.stats.passes_seconds;
  stats.machine_seconds += second.stats.machine_seconds;
  if (better) stats.spills = second.stats.spills;
  return better ? other : code;
}

}  // namespace

Result<std::string> emit_object(const LoweredProgram& lowered, const Target& target,
                                const EntrySymbols& symbols, EmitStats* stats) {
  EmitStats unused;
  return emit_code(lowered, target, symbols, llvm_backend::Output::object,
                   stats == nullptr ? unused : *stats);
}

Result<std::string> emit_assembly(const LoweredProgram& lowered, const Target& target,
                                  const EntrySymbols& symbols) {
  EmitStats stats;
  return emit_code(lowered, target, symbols, llvm_backend::Output::assembly, stats);
}

Result<std::string> emit_llvm_ir(const LoweredProgram& lowered, const Target& target,
                                 const EntrySymbols& symbols) {
  EmitStats stats;
  LATHE_TRY(std::unique_ptr<Unit> unit, make_unit(lowered, target, symbols, true, stats));
  std::string text;
  llvm::raw_string_ostream stream(text);
  unit->module.print(stream, nullptr);
  return text;
}

}  // namespace lathe
