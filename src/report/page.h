// What tuning came to, as one page of HTML that needs nothing else: no script, no file, no network. Every
// figure stands as <data> with the exact value beside its text, and all of them once more as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/bench_figures.h"
#include "report/overview.h"
#include "report/roofline_chart.h"

namespace lathe {

// Where tasks were measured, on so many cores.
struct ReportMachine {
  std::string target;
  std::string machine;
  int cores = 1;
  std::optional<ReportPeaks> peaks = {};  // none: they cannot be measured here
};

struct Report {
  std::string file;              // the records file's name
  std::string compiler_version;  // of the Lathe that makes the page
  std::vector<TaskOverview> tasks;
  std::vector<ReportMachine> machines;  // of all tasks with a program
  std::vector<BenchFigure> bench = {};
  std::string bench_file = {};          // empty: none was given
  std::vector<std::string> notes = {};  // what was left out of the file: a sentence each
};

std::string report_page(const Report& report);

}  // namespace lathe
