// The commands `table show` and `table verify`: what a table holds, and whether this version of the compiler
// still has its points.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "experiment/measured_table.h"

namespace lathe {

// The table in a file; an Error names the file and what is wrong with it.
Result<MeasuredTable> load_table(const std::string& path);

struct TableOverview {
  MeasuredTable table;
  int64_t legal = 0;
  int64_t failed = 0;
  double optimum = 0;     // seconds of the best point; 0: none was measured
  std::string best = {};  // it: its sketch and choices
  double median = 0;      // seconds of the measured points
  // How many points there are of at least this share of the optimum's speed.
  std::vector<std::pair<double, int64_t>> near_optimum = {};
};

// An Error names the file and what is wrong with it.
Result<TableOverview> table_overview(const std::string& path);

// Checks that its task's text makes that task, that its space still has all its sketches and points, and that
// the same of them may be tried. An Error names the file and the first thing that differs. Gives the number
// of points.
Result<int64_t> verify_table(const std::string& path);

}  // namespace lathe
