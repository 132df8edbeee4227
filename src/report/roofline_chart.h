// All tasks under what the machine can do at most: GFLOP/s over operations a byte.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "report/overview.h"

namespace lathe {

// What is measured of a machine, on the cores that the tasks use.
struct ReportPeaks {
  double gflops = 0;
  double l2_gigabytes = 0;
  double memory_gigabytes = 0;
};

// A point of the plot, and the number by which the page knows the task.
struct RooflineTask {
  const TaskOverview* task = nullptr;
  size_t number = 0;
};

// An SVG element; empty where none of the tasks has a program with operations. Only the first tasks are
// numbered. Without peaks there is no roof.
std::string roofline_chart(std::span<const RooflineTask> tasks, const std::optional<ReportPeaks>& peaks);

}  // namespace lathe
