// Records files as the commands open them: what a query leaves out as damaged a note on stderr tells, once.
#pragma once

#include <string>

#include "base/result.h"
#include "records/record_store.h"

namespace lathe::cli {

// As RecordStore::open, and open_read_only.
Result<RecordStore> open_records(const std::string& path);
Result<RecordStore> open_records_to_read(const std::string& path);

}  // namespace lathe::cli
