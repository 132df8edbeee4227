// The sections of the report's page: each is a heading with what stands below it, or nothing where there is
// nothing to say. Pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/page.h"

namespace lathe {

// A task in the page's order: those that take most of the time come first, those without a program last.
struct RankedTask {
  const TaskOverview* task = nullptr;
  size_t number = 0;                   // from 1 on
  const BenchFigure* bench = nullptr;  // null: there is none
  int64_t uses = 1;                    // in a run of its network
  double seconds = 0;                  // of all of them; 0 without a program
};
std::vector<RankedTask> ranked_tasks(const Report& report);

// First programs against the best ones.
std::string gains_section(std::span<const RankedTask> tasks);
// Where the time of all tasks goes.
std::string time_section(std::span<const RankedTask> tasks);
// Of each machine its tasks under its peaks.
std::string roofline_section(std::span<const RankedTask> tasks, std::span<const ReportMachine> machines);
// Each task's search.
std::string search_section(std::span<const RankedTask> tasks);
// In which ways trials failed.
std::string failures_section(std::span<const RankedTask> tasks);
// Lathe beside other libraries.
std::string peers_section(const Report& report);

// The page's style sheet.
const char* report_style();

}  // namespace lathe
