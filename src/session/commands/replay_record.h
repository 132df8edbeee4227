// The command `replay`: a record measured again, or printed.
#pragma once

#include <cstdint>
#include <string>

#include "artifact/replay.h"
#include "base/result.h"
#include "records/record.h"

namespace lathe {

// The record of that number in the file.
Result<Record> find_record(const std::string& file, int64_t id);

struct Replayed {
  FullCheck check;
  Measurement now;  // where the check found nothing wrong
};
// Compares all that its program computes, then measures it, in the program `worker`. Errors name `file`.
Result<Replayed> replay(const Record& record, const std::string& file, const std::string& worker);

// Its program in that form (code_forms()).
Result<std::string> record_text(const Record& record, const std::string& file, const std::string& form);

}  // namespace lathe
