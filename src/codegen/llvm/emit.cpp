#include "codegen/llvm/emit.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <chrono>

#include "codegen/check_lowered.h"
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/machine.h"

namespace lathe {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A program on its way through LLVM. Each has a context of its own: LLVM's are not thread-safe.
struct Unit {
  llvm::LLVMContext context;
  llvm::Module module{"lathe", context};
  std::unique_ptr<llvm::TargetMachine> machine;
};

Result<std::unique_ptr<Unit>> make_unit(const LoweredProgram& lowered, const Target& target,
                                        const EntrySymbols& symbols, bool names, EmitStats& stats) {
  LATHE_TRY_STATUS(check_lowered(lowered));
  const Clock::time_point start = Clock::now();
  auto unit = std::make_unique<Unit>();
  LATHE_TRY(unit->machine, llvm_backend::make_machine(target));
  unit->context.setDiscardValueNames(!names);
  unit->module.setTargetTriple(unit->machine->getTargetTriple());
  unit->module.setDataLayout(unit->machine->createDataLayout());
  if (lowered.program.main)
    llvm_backend::emit_entry(unit->module, lowered, lowered.program.main, symbols.kernel);
  if (lowered.program.prepare) {
    llvm_backend::emit_entry(unit->module, lowered, lowered.program.prepare, symbols.prepare);
  }
  const std::string width = std::to_string(target.vector_bytes * 8);
  for (llvm::Function& function : unit->module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
  }
  stats.emit_seconds = seconds_since(start);
  const Clock::time_point passes = Clock::now();
  llvm_backend::run_passes(unit->module, *unit->machine);
  stats.passes_seconds = seconds_since(passes);
  return unit;
}

Result<std::string> emit_code(const LoweredProgram& lowered, const Target& target,
                              const EntrySymbols& symbols, llvm_backend::Output output, EmitStats& stats) {
  const bool names = output == llvm_backend::Output::assembly;
  LATHE_TRY(std::unique_ptr<Unit> unit, make_unit(lowered, target, symbols, names, stats));
  const Clock::time_point start = Clock::now();
  Result<std::string> code =
      llvm_backend::emit_machine_code(unit->module, *unit->machine, output, stats.spills);
  stats.machine_seconds = seconds_since(start);
  return code;
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
