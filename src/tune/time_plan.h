// How what is left of a command's time is shared between the search and its end: the races and comparisons of
// the winners, and what the caller does afterwards. Estimates, corrected by what the first of them took. Used
// by one thread.
#pragma once

#include <cstddef>
#include <vector>

#include "base/deadline.h"
#include "task/task.h"

namespace lathe {

class TimePlan {
 public:
  // All must be done by then, of which the caller needs `closing_seconds` for itself afterwards; it is left
  // two fifths of the time at most.
  TimePlan(const Deadline& deadline, double closing_seconds);

  // When all but the caller's part must be done.
  const Deadline& end() const { return end_; }
  // Until when the first candidate of an operator may take: of the caller's part it leaves what the least
  // that it can do takes, a tenth of the time at most.
  const Deadline& end_of_first() const { return end_of_first_; }
  // When the search of these tasks ends. The end takes two fifths of the time at most; comparisons that do
  // not fit in are left out, the longest first.
  Deadline end_of_search(const std::vector<const Task*>& tasks) const;

  // The end of the race of a task, after which it and `later` are still to be compared.
  Deadline end_of_race(const Task& task, const std::vector<const Task*>& later) const;
  // Until when a task may be compared: at once where it would not be done by the end.
  Deadline end_of_check(const Task& task) const;
  // What comparing it took.
  void learn(const Task& task, double seconds);
  // So many seconds more are needed afterwards than was planned.
  void reserve(double seconds) { end_ = end_.earlier_by(seconds); }

 private:
  double check_seconds(const Task& task) const;

  Deadline end_;
  Deadline end_of_first_;
  double estimated_ = 0;  // of what was compared
  double taken_ = 0;
};

}  // namespace lathe
