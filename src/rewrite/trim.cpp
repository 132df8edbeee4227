#include "rewrite/trim.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/nonzero.h"
#include "expr/walk.h"
#include "rewrite/match.h"

namespace lathe {
namespace {

// Whether some iteration at this place of the reduce axis may add something: no limit fails all over.
bool may_add(const std::vector<Limit>& limits, const Axis& axis, int64_t place, const Ranges& ranges) {
  return std::ranges::none_of(limits, [&](const Limit& limit) {
    const auto reach = bounds(substitute(limit.value, {{axis.var, Affine(place)}}), ranges);
    return reach && reach->lo >= limit.bound;
  });
}

// The first and the last such place; all where there is none.
Interval needed(const std::vector<Limit>& limits, const Axis& axis, const Ranges& ranges) {
  Interval range{0, axis.extent - 1};
  while (range.lo < axis.extent && !may_add(limits, axis, range.lo, ranges)) ++range.lo;
  if (range.lo == axis.extent) return {0, axis.extent - 1};
  while (!may_add(limits, axis, range.hi, ranges)) --range.hi;
  return range;
}

}  // namespace

Result<Dag> rewrite_trim(const Dag& dag, const std::string& stage, const RewriteParameters&) {
  LATHE_TRY(const size_t position, find_stage(dag, stage));
  Compute sum = dag.computes[position];
  if (sum.reduction != Reduction::sum)
    return fail(ErrorKind::illegal_schedule,
                fmt::format("trim does not apply to '{}': it sums nothing", stage));
  const std::vector<Limit> limits = where_nonzero(dag, sum.body);
  Ranges ranges;
  for (const Axis& axis : sum.axes) ranges.set_extent(axis.var, axis.extent);
  Substitution moved;
  for (size_t r = sum.spatial_count(); r < sum.axes.size(); ++r) {
    Axis& axis = sum.axes[r];
    const Interval range = needed(limits, axis, ranges);
    if (range == Interval{0, axis.extent - 1}) continue;
    const Axis shorter = reduce(axis.var.name(), range.hi - range.lo + 1);
    moved.emplace_back(axis.var, Affine(shorter.var) + range.lo);
    axis = shorter;
  }
  if (moved.empty())
    return fail(ErrorKind::illegal_schedule,
                fmt::format("trim does not apply to '{}': all its iterations add something", stage));
  sum.body = substitute(sum.body, moved);
  return replace_stage(dag, position, {sum});
}

}  // namespace lathe
