// What LLVM must know of a CPU target: the table of processors that machine code is generated for.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <span>
#include <string_view>

namespace lathe::llvm_backend {

// An extension of a target as LLVM knows it.
struct ExtensionFeature {
  std::string_view extension;
  const char* feature;
};

struct Processor {
  std::string_view target;  // the name in the table of targets
  const char* triple;
  const char* cpu;       // LLVM's name of a processor with exactly these instructions
  const char* features;  // LLVM's feature string that goes with it
  std::span<const ExtensionFeature> extensions;
  void (*initialise)();  // registers LLVM's backend; called once
  // Makes every store past the caches seen by other threads before what follows; null: they all are.
  void (*fence_streams)(llvm::IRBuilderBase& builder);
  // Mends what LLVM's selection of instructions would get wrong; null: nothing.
  void (*mend)(llvm::Module& module);
};

// Null where LLVM generates no code for the target of that name.
const Processor* find_processor(std::string_view target);

}  // namespace lathe::llvm_backend
