// Every program that may be tried for a task: sketches derived from the Dag by rules, each with the integers
// that it leaves open. There is no template for any operator. A Space is immutable and safe to share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schedule/trace.h"
#include "space/chooser.h"
#include "space/domain.h"
#include "task/task.h"

namespace lathe {

// A way to build the program; `write` gives the trace for what the chooser answers, or an Error whose message
// is the named reason why these answers do not go together.
struct Sketch {
  std::string name;  // the arm and what the rules decided, e.g. "direct O vector=f rows=x"
  std::function<Result<Trace>(Chooser&)> write;
  Domain domain;
  std::vector<int64_t> preferred;                  // the analytic model's own choice
  std::vector<std::vector<int64_t>> alternatives;  // others that it finds about as good, none twice
  double cycles = 0;      // how long that may take, as far as sizes tell (space/estimate.h)
  double operations = 0;  // that any program of it does at least (least_operations)
};

class Space {
 public:
  // Where the task requires an algorithm, its sketches alone: an Error of kind unsupported if its rule
  // applies to no compute.
  static Result<Space> derive(const Task& task);

  const std::vector<Sketch>& sketches() const { return sketches_; }
  // The named reason why a point must not be tried, or nothing.
  std::optional<std::string> violation(const Point& point) const;
  Result<Trace> trace(const Point& point) const;
  // The model's choice in each sketch, most promising sketch first: an algorithm goes before the direct
  // program only where sizes promise a clear gain. The alternatives of the first few stand behind these.
  std::vector<Point> preferred_points() const;
  // The program that is left where every sketch fails: the naive one, of the Dag or, where an algorithm is
  // required, of that rewritten by it.
  const Trace& naive() const { return naive_; }
  // The number of points, all sketches together; saturates.
  int64_t size() const;

 private:
  std::vector<Sketch> sketches_;
  Trace naive_;
};

}  // namespace lathe
