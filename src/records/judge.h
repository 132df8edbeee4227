// Whether rows of a records file can be used: what no Lathe can have written, or no program can be made of,
// is found where it is read. Not thread-safe.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "base/result.h"
#include "records/record.h"
#include "records/sqlite.h"

namespace lathe {

// Why a record cannot be used, as half a sentence: "its column seconds holds '-1.0'".
struct Fault {
  std::string reason;
  std::string of_task = {};  // why its task cannot, where the record itself is in order and its task is there
};

struct DamagedTask {
  int64_t row = 0;  // its rowid
  std::string reason;
};

struct Damage {
  std::map<int64_t, std::string> records;    // ids, with reasons; those of damaged tasks are among them
  std::map<std::string, DamagedTask> tasks;  // by what the column hash holds

  bool empty() const { return records.empty() && tasks.empty(); }
};

class Judge {
 public:
  // The record of a row of select_record. Traces, formulas and hashes of another version of Lathe stay
  // unjudged: it may know steps that this one does not.
  std::expected<Record, Fault> read(const Statement& row);
  // Why the text does not make the task that its hash names, for this target and so many cores; empty where
  // it does. The same question is answered from memory.
  const std::string& fault_of(const TaskText& text, const std::string& target, int cores);

 private:
  struct Answer {
    TaskText text;
    std::string reason;
  };
  std::map<std::tuple<uint64_t, std::string, int>, Answer> answers_;
};

// Whether this version of Lathe made the record.
bool is_of_this_version(const Record& record);

// Calls `each` with the records of all rows of select_record that can be used, until it gives false; what of
// the others is damaged.
Result<Damage> read_records(Statement& rows, Judge& judge,
                            const std::function<bool(const Statement& row, Record record)>& each);

}  // namespace lathe
