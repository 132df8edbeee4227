// A function of LLVM IR that a test fills with a code generator's parts, and its text.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <string>
#include <vector>

#include "codegen/llvm/guard.h"
#include "codegen/llvm/types.h"

namespace lathe::testing {

inline std::string text_of(const llvm::Value* value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  value->print(stream);
  return text;
}

inline std::string text_of(const llvm::Type* type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  type->print(stream);
  return text;
}

// One a line, block by block, without indentation; a blank line before each block but the first. Metadata is
// left out.
inline std::string instructions_of(llvm::Function& function) {
  std::string text;
  for (llvm::BasicBlock& block : function) {
    if (!text.empty()) text += "\n" + block.getName().str() + ":\n";
    for (llvm::Instruction& instruction : block) {
      std::string line = text_of(&instruction);
      line = line.substr(0, line.find(", !"));
      text += line.substr(line.find_first_not_of(' ')) + "\n";
    }
  }
  return text;
}

// The function takes pointers p0, p1 .. and values a, b, c .. of these types; the builder stands at its end.
class IrFunction {
 public:
  explicit IrFunction(const std::vector<Type>& values = {}, int pointers = 0) : pointers_(pointers) {
    std::vector<llvm::Type*> types(static_cast<size_t>(pointers), builder.getPtrTy());
    for (const Type& type : values) types.push_back(llvm_backend::value_type(context, type));
    auto* signature = llvm::FunctionType::get(builder.getVoidTy(), types, false);
    function = llvm::Function::Create(signature, llvm::GlobalValue::ExternalLinkage, "f", module);
    for (unsigned i = 0; i < function->arg_size(); ++i) {
      const bool is_pointer = static_cast<int>(i) < pointers;
      function->getArg(i)->setName(is_pointer ? "p" + std::to_string(i)
                                              : std::string(1, static_cast<char>('a' + i - pointers)));
    }
    builder.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  }

  llvm::Value* pointer(int i) { return function->getArg(static_cast<unsigned>(i)); }
  llvm::Value* value(int i) { return function->getArg(static_cast<unsigned>(pointers_ + i)); }
  std::string text() { return instructions_of(*function); }
  // What LLVM finds wrong with the function, once it has a terminator.
  std::string faults() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::verifyFunction(*function, &stream);
    return text;
  }

  llvm::LLVMContext context;
  llvm::Module module{"test", context};
  llvm_backend::Builder builder{context};
  llvm::Function* function = nullptr;

 private:
  int pointers_;
};

}  // namespace lathe::testing
