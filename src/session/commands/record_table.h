// The command `table record`: every point of a thinned space of one operator measured, and the table written
// (experiment/measured_table.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "session/program_source.h"
#include "session/teller.h"

namespace lathe {

struct RecordTableRequest {
  ProgramSource source;  // of a workload, whose filter names one operator
  std::string space = "lathe";
  int64_t points = 4096;          // at most
  std::optional<double> seconds;  // of this run; another one goes on where it ended
  bool layouts_are_free = false;  // of the operator's activations
  std::string records = "./lathe.db";
  std::string out;     // the table
  std::string worker;  // the program in which candidates are measured
};

// How far it is.
struct TableProgress {
  int64_t recorded = 0;  // points that are measured, have failed or must not be tried
  int64_t points = 0;
  int64_t illegal = 0;
  int64_t failed = 0;
  double best_seconds = 0;  // 0: none yet
};

struct RecordTableListener {
  std::function<void(const TableProgress&)> progress = {};
  Teller note = {};
  std::function<bool()> stop = {};
};

struct RecordedTable {
  TableProgress progress;
  bool is_written = false;  // all points are recorded, and the best were measured again in turns
};

// What is measured is in the records within a second, so that a run that ends early loses nothing. Points
// that come to one program share its time. An Error says what is at fault.
Result<RecordedTable> record_table(const RecordTableRequest& request, const RecordTableListener& listener);

}  // namespace lathe
