// A records file whose pages are damaged, by a disk or a copy that was cut short: all rows that SQLite can
// still reach, in a file that is whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace lathe {

struct Salvaged {
  int64_t records = 0;   // that could be read and are in their table again
  int64_t refused = 0;   // that could be read, but lack what a record must have: they are in damaged_records
  std::string original;  // where the damaged file is now, with its log
};

// Whether SQLite finds every page of the file in order. An Error where it is no file, no Lathe records file,
// or so damaged that nobody can tell.
Result<bool> is_whole(const std::string& path);

// Puts a whole file in the place of a damaged one, which is kept beside it as FILE.damaged. Rows are copied
// as they are, those of an earlier repair too; what the tables do not take goes to its damaged_ one. An
// Error, which leaves everything as it was, where nothing can be read, or nothing written.
Result<Salvaged> salvage(const std::string& path);

}  // namespace lathe
