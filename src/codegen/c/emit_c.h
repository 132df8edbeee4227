// The C backend: a lowered program as one self-contained C99 file, for compilers and machines that no
// other backend serves, and as a second opinion in tests. Thread-safe.
#pragma once

#include <string>

#include "base/result.h"
#include "codegen/entry.h"
#include "lower/lower.h"

namespace lathe {

// Defines the entries of lathe/kernel_abi.h, whose declarations are repeated in the text. Compiles without
// warnings under `cc -std=c99 -Wall`. Where the compiler has a fast fmaf (-mfma), results are the machine
// code's bit by bit, else multiply-adds round twice. An Error says what lowering left undone (check_lowered).
Result<std::string> emit_c(const LoweredProgram& lowered, const EntrySymbols& symbols);

}  // namespace lathe
