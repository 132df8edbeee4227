// A task's space as search, cost model and evaluator see it: points in, traces, programs and rows of features
// out. What follows from a point is made once in a round, whoever asks for it first. Used by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cost/cost_model.h"
#include "schedule/prefix_replay.h"
#include "schedule/written.h"
#include "search/search_space.h"
#include "search/strategy.h"
#include "space/all.h"

namespace lathe {

class Candidates {
 public:
  // Of this row of the table of spaces, with features of this kind.
  static Result<Candidates> create(std::shared_ptr<const Task> task, std::string_view space = kDefaultSpace,
                                   FeatureKind features = FeatureKind::summary);

  const Space& space() const { return space_; }
  // What a strategy searches. The returned value refers to this object, which must stay where it is.
  SearchSpace search_space();
  // The hash of the point's trace; its own where it has none.
  uint64_t identity(const Point& point);
  // The point's trace, or the named reason why there is none.
  Result<Trace> trace(const Point& point);
  // The point's program; an Error where it has no trace or that is illegal.
  Result<std::shared_ptr<const Written>> written(const Point& point);
  // The features of a point; nothing where it has no program, or, of a configuration, no trace.
  const std::optional<FeatureRows>& features(const Point& point);
  // What a fitted model predicts of each; infinity for points without features.
  Prediction predict(std::span<const Point> points, const CostModel& model);

  // Lets traces and programs go: what a search proposes next has little in common with them.
  void end_round();

 private:
  // What was made of a point in this round.
  struct Forms {
    std::optional<Result<Trace>> trace;  // until there is a program, which then has it
    std::optional<Result<std::shared_ptr<const Written>>> written;
  };
  struct HashPoint {
    size_t operator()(const Point& point) const { return hash_of(point); }
  };

  Candidates(std::shared_ptr<const Task> task, Space space, FeatureKind kind)
      : task_(std::move(task)), space_(std::move(space)), kind_(kind), replay_(*task_) {}
  Forms& forms_of(const Point& point);
  const Trace* trace_in(const Forms& forms) const;

  std::shared_ptr<const Task> task_;
  Space space_;
  FeatureKind kind_;
  PrefixReplay replay_;
  std::unordered_map<Point, Forms, HashPoint> forms_;
  std::unordered_map<Point, std::optional<FeatureRows>, HashPoint> features_;
  std::unordered_map<uint64_t, uint64_t> identities_;  // of points by their hashes
};

}  // namespace lathe
