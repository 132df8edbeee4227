// The LLVM backend: lowered programs to machine code of a CPU target. Every function is thread-safe, and
// gives the same bytes for the same program, whatever ran before.
#pragma once

#include <string>

#include "base/result.h"
#include "codegen/emit_stats.h"
#include "codegen/entry.h"
#include "lower/lower.h"
#include "target/target.h"

namespace lathe {

// A relocatable ELF object that defines the entries (lathe/kernel_abi.h): the kernel, and prepare where the
// program has one. It refers to no symbol but memcpy and memset. An Error says what lowering left undone
// (check_lowered) or that LLVM failed.
Result<std::string> emit_object(const LoweredProgram& lowered, const Target& target,
                                const EntrySymbols& symbols, EmitStats* stats = nullptr);
// The same as text, for people: LLVM IR after the passes, and assembly (AT&T syntax).
Result<std::string> emit_llvm_ir(const LoweredProgram& lowered, const Target& target,
                                 const EntrySymbols& symbols);
Result<std::string> emit_assembly(const LoweredProgram& lowered, const Target& target,
                                  const EntrySymbols& symbols);

}  // namespace lathe
