// The task that --task names in a records file.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "records/record_store.h"

namespace lathe {

// The hash of the one task with records that begins with these hexadecimal digits; an Error where there is
// none, or are several, which it names.
Result<uint64_t> find_task(const RecordStore& store, const std::string& digits);

// The Error for a task that the file has no records of, or none any more.
std::unexpected<Error> no_such_task(const RecordStore& store, const std::string& digits);

}  // namespace lathe
