// When a task's search may end before its trials are used up: once the best program takes little longer than
// any program can on this machine.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "base/result.h"
#include "search/strategy.h"
#include "space/space.h"
#include "task/task.h"

namespace lathe {

// What the machine does at most on a task's cores.
struct Peaks {
  double gflops = 0;     // fp32 FMAs between registers, two operations each
  double gigabytes = 0;  // read from memory a second
};

// The time that no program of the task stays below: its products' multiply-adds, those with zeros left out,
// at the peak, by the algorithm that has the fewest of them; or, where that takes longer, the bytes that no
// cache holds when it starts, of outputs and of what is plainly read whole. An algorithm counts no more once
// several of its programs have been measured and all take clearly longer than the best of `trials`.
double least_seconds(const Task& task, const Space& space, std::span<const Trial> trials, const Peaks& peaks);

class StopRule {
 public:
  // No rule: every search goes on.
  StopRule() = default;
  // Searches end at this share, above 0, of what the peaks allow. `measure` takes them anew; where it fails
  // searches go on.
  StopRule(double share, std::function<Result<Peaks>()> measure)
      : share_(share), measure_(std::move(measure)) {}

  // The share that a task's best program has reached, if its search may end; `least` gives the task's least
  // time. A share clearly above 1 is none: the peaks, or the least time, are wrong. Peaks are measured before
  // the first answer and again before each yes, the best of all counts: on a machine that was slow for a
  // while everything would look near its peak.
  std::optional<double> reached(double best_seconds, const std::function<double(const Peaks&)>& least);

 private:
  bool measure();

  double share_ = 0;
  std::function<Result<Peaks>()> measure_;
  Peaks peaks_;
};

}  // namespace lathe
