// The table of targets: every name that --target and records may hold. A new one is a row here and a file
// that the row names.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "target/cpu/peak_loops.h"
#include "target/target.h"

namespace lathe {

struct TargetRow {
  std::string_view name;
  std::string_view needs;             // what a machine without it lacks, in words
  Target (*generic)();                // a typical machine, without a look at this one
  std::optional<Target> (*detect)();  // this machine with all its cores; nothing where it does not have it
  const PeakLoops* peaks;             // of a processor's target; to be run where it is detected
};

// Best first.
std::span<const TargetRow> all_targets();

// The row of that name, which must be one of the table: any that a Target bears is.
const TargetRow& row_of(std::string_view name);
// That row's generic target.
Target generic_target(std::string_view name);
// "native" and the names of the table, which --target may hold, in words.
std::string target_names();

// An Error (unsupported) where this machine cannot run the target's programs, which says what it lacks: its
// instructions or one of its extensions.
Status check_runs_here(const Target& target);

}  // namespace lathe
