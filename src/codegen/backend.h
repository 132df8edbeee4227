// What makes code of lowered programs: a row of the table of backends (all.h).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codegen/emit_stats.h"
#include "codegen/entry.h"
#include "lower/lower.h"
#include "module/module.h"
#include "target/target.h"

namespace lathe {

// The program as text, for people or for another compiler.
struct TextForm {
  std::string_view name;
  Result<std::string> (*print)(const LoweredProgram& lowered, const Target& target,
                               const EntrySymbols& symbols);
};

// Every function is thread-safe, and gives the same bytes for the same program, whatever ran before.
struct Backend {
  std::string_view name;
  // By its kind, or by its name too; of two that emit and take a target the first of the table does.
  bool (*takes)(const Target& target);
  std::string_view form;  // of its modules (module/module.h)
  // What a module of the target holds (module/module.h); null: this backend makes text alone.
  Result<std::string> (*emit)(const LoweredProgram& lowered, const Target& target,
                              const EntrySymbols& symbols, EmitStats* stats);
  // Of the program's `main` or `prepare`; null where the form has entries and no launches.
  std::vector<KernelLaunch> (*launches)(const LoweredProgram& lowered, const Stmt& tree,
                                        const std::string& entry);
  std::span<const TextForm> forms;
};

}  // namespace lathe
