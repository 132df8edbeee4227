// Records files as the commands open them: what is damaged in one is set aside, and a note on stderr says so,
// once.
#pragma once

#include <string>

#include "base/result.h"
#include "records/record_store.h"

namespace lathe::cli {

// As RecordStore::open, and open_read_only.
Result<RecordStore> open_records(const std::string& path);
Result<RecordStore> open_records_to_read(const std::string& path);

// "3 records are damaged: record 7, its column seconds holds '-1.0', and 2 more", and the tasks; for a store
// in which something is.
std::string told_damage(const Damage& damage);

}  // namespace lathe::cli
