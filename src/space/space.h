// Every program of one kind that may be tried for a task: sketches, each with the integers that it leaves
// open. What derives them is a row of the table of spaces (space/all.h); whoever searches, records or
// explains sees this face alone. A Space is immutable and safe to share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "domain/domain.h"
#include "schedule/trace.h"
#include "space/chooser.h"

namespace lathe {

// A way to build the program; `write` gives the trace for what the chooser answers, or an Error whose message
// is the named reason why these answers do not go together.
struct Sketch {
  std::string name;  // the same in every run, unique in its space: the arm and what was decided
  std::function<Result<Trace>(Chooser&)> write;
  Domain domain = {};
  std::vector<int64_t> preferred = {};  // what `write` prefers, as a point of the domain
  double operations = 0;                // that any program of it does at least (least_operations)
  double cycles = 0;                    // of one core, that its best program may take; an estimate, 0: none
};

// What a run of `write` that declares says of itself: its domain and what it prefers.
Sketch declared_sketch(std::string name, std::function<Result<Trace>(Chooser&)> write);

class Space {
 public:
  // `first`: points that are worth trying before any search, best first; `naive`: the program that is left
  // where every sketch fails.
  Space(std::vector<Sketch> sketches, std::vector<Point> first, Trace naive)
      : sketches_(std::move(sketches)), first_(std::move(first)), naive_(std::move(naive)) {}

  const std::vector<Sketch>& sketches() const { return sketches_; }
  const Sketch& sketch_of(const Point& point) const { return sketches_[static_cast<size_t>(point.sketch)]; }
  // An Error names why the point must not be tried.
  Result<Trace> trace(const Point& point) const;
  // Trial 0 and what else is worth trying first, none of them in violation; empty where no model has a
  // choice.
  const std::vector<Point>& preferred_points() const { return first_; }
  const Trace& naive() const { return naive_; }
  // The number of points, all sketches together; saturates.
  int64_t size() const;

 private:
  std::vector<Sketch> sketches_;
  std::vector<Point> first_;
  Trace naive_;
};

}  // namespace lathe
