// A task's space as search and cost model see it: points in, traces, programs and rows of features out, each
// computed once. Used by one thread.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cost/cost_model.h"
#include "schedule/prefix_replay.h"
#include "search/search_space.h"
#include "search/strategy.h"
#include "space/all.h"

namespace lathe {

class ScoredSpace {
 public:
  // Of this row of the table of spaces.
  static Result<ScoredSpace> create(const Task& task, std::string_view kind = kDefaultSpace);

  const Space& space() const { return space_; }
  // What a strategy searches. The returned value refers to this object, which must stay where it is.
  SearchSpace search_space();
  // The features of a point's program; nothing where its trace is illegal.
  const std::optional<std::vector<float>>& features(const Point& point);
  // The hash of the point's trace; its own where it has none.
  uint64_t identity(const Point& point);
  // Predicted costs by a fitted model; infinity for illegal points.
  std::vector<double> score(std::span<const Point> points, const CostModel& model);

 private:
  ScoredSpace(const Task& task, Space space)
      : target_(task.target), space_(std::move(space)), replay_(task) {}
  Target target_;
  Space space_;
  PrefixReplay replay_;
  std::map<Point, std::optional<std::vector<float>>> features_;
  std::unordered_map<uint64_t, uint64_t> identities_;  // of points by their hashes
};

}  // namespace lathe
