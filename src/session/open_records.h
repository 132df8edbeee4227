// Records files as commands open them: what a query leaves out as damaged is told once.
#pragma once

#include <string>

#include "base/result.h"
#include "records/record_store.h"
#include "session/teller.h"

namespace lathe {

// As RecordStore::open, and open_read_only; the store keeps `note`.
Result<RecordStore> open_records(const std::string& path, const Teller& note);
Result<RecordStore> open_records_to_read(const std::string& path, const Teller& note);

}  // namespace lathe
