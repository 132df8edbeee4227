// A table (experiment/measured_table.h) with the task and the space whose points it has, as this version of
// the compiler derives them: what its points' programs are, and what models see of them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cost/feature_set.h"
#include "experiment/measured_table.h"
#include "space/space.h"
#include "task/task.h"
#include "tune/candidates.h"

namespace lathe {

class TableGround {
 public:
  // An Error says what of the table is no more: its target, task, space, a sketch or a choice.
  static Result<TableGround> create(MeasuredTable table);

  const MeasuredTable& table() const { return table_; }
  const TableIndex& index() const { return index_; }
  // The point's trace, or the named reason why it must not be tried.
  Result<Trace> trace(size_t place) const { return space_.trace(whole_[place]); }
  // Made when they are first asked for; none of a point without a program.
  const std::optional<FeatureRows>& features(FeatureKind kind, const Point& point);

 private:
  TableGround(MeasuredTable table, std::shared_ptr<const Task> task, Space space);
  Status find_points();
  Candidates& candidates_of(FeatureKind kind);

  MeasuredTable table_;
  TableIndex index_;
  std::shared_ptr<const Task> task_;
  Space space_;
  std::vector<Point> whole_;  // each point of the table in the whole space
  std::map<FeatureKind, Candidates> candidates_;
  size_t asked_ = 0;  // how often for features
};

}  // namespace lathe
