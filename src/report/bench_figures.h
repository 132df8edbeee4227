// What `lathe bench --json` and `lathe tune --json` wrote, beside the tasks of a records file: other
// libraries' times, and how often a network runs a task.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "report/overview.h"

namespace lathe {

struct BenchFigure {
  std::string name;
  std::string target;
  int cores = 1;
  std::optional<int64_t> record = {};                      // of its best program
  std::optional<double> seconds = {};                      // Lathe's
  std::vector<std::pair<std::string, double>> peers = {};  // seconds by form
  std::optional<double> speed_up = {};                     // over the fastest of them, by turns
  std::optional<int64_t> uses = {};  // in a run of the network; none: it is no network's
};

// An Error where the text is no such list; it names `source`.
Result<std::vector<BenchFigure>> read_bench_figures(std::string_view text, const std::string& source);

// The figure for this task: that of one of its records, or without records one of its name, target and
// cores; null where there is none.
const BenchFigure* figure_of(const TaskOverview& task, std::span<const BenchFigure> figures);

}  // namespace lathe
