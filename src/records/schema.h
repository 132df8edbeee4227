// The tables of a records file, and the tests that a file is one of ours. docs/record_format.md describes
// them. Files of older versions are read as they are: a column that they lack reads as NULL, and is added
// when such a file is opened for writing.
#pragma once

#include <string>

#include "base/result.h"
#include "records/sqlite.h"

namespace lathe {

inline constexpr int kRecordSchema = 4;

// An Error unless the file is a Lathe records file of a version that this Lathe knows, or empty where
// `may_be_empty`.
Status verify_schema(const Connection& connection, const std::string& path, bool may_be_empty);

// The columns that files of earlier builds lack until they are written: each by its name, or NULL in a file
// without it.
struct LaterColumns {
  std::string tolerance = "tolerance";  // of records
  std::string runs_cold = "runs_cold";  // of tasks
  std::string algorithm = "algorithm";  // of tasks
};
Result<LaterColumns> later_columns(const Connection& connection);

// An Error where an index does not hold as many rows as there are: a query by it would miss some. Costs
// milliseconds, as no row is read.
Status verify_indexes(const Connection& connection, const std::string& path);

// Writes the file's head, and the tables and columns that are missing, in one transaction.
Status write_schema(Connection& connection, const std::string& path);

}  // namespace lathe
