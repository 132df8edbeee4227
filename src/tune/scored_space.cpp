#include "tune/scored_space.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/hash.h"
#include "features/features.h"

namespace lathe {

Result<ScoredSpace> ScoredSpace::create(const Task& task, std::string_view kind) {
  LATHE_TRY(Space space, derive_space(task, kind));
  return ScoredSpace(task, std::move(space));
}

SearchSpace ScoredSpace::search_space() {
  SearchSpace search;
  for (const Sketch& sketch : space_.sketches()) {
    search.sketches.push_back(sketch.domain);
    search.sketch_names.push_back(sketch.name);
  }
  search.violation = [this](const Point& point) { return space_.violation(point); };
  search.identity = [this](const Point& point) { return identity(point); };
  search.initial = space_.preferred_points();
  return search;
}

uint64_t ScoredSpace::identity(const Point& point) {
  const auto [entry, added] = identities_.try_emplace(hash_of(point), hash_of(point));
  if (added) {
    if (const Result<Trace> trace = space_.trace(point)) entry->second = hash_text(to_string(*trace));
  }
  return entry->second;
}

const std::optional<std::vector<float>>& ScoredSpace::features(const Point& point) {
  const auto known = features_.find(point);
  if (known != features_.end()) return known->second;
  std::optional<std::vector<float>> row;
  if (const Result<Trace> trace = space_.trace(point)) {
    if (const Result<Program> program = replay_.apply(*trace)) {
      row = extract_features(*program, target_).flat;
    }
  }
  return features_.emplace(point, std::move(row)).first->second;
}

std::vector<double> ScoredSpace::score(std::span<const Point> points, const CostModel& model) {
  std::vector<double> costs(points.size(), std::numeric_limits<double>::infinity());
  FeatureMatrix rows;
  rows.columns = static_cast<int64_t>(feature_names().size());
  std::vector<size_t> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  // Neighbours in this order share the beginnings of their traces.
  std::ranges::sort(order, {}, [&](size_t i) -> const Point& { return points[i]; });
  std::vector<size_t> places;
  for (const size_t i : order) {
    const auto& row = features(points[i]);
    if (!row) continue;
    rows.values.insert(rows.values.end(), row->begin(), row->end());
    places.push_back(i);
  }
  rows.rows = static_cast<int64_t>(places.size());
  if (places.empty()) return costs;
  const Result<Prediction> prediction = model.predict(rows);
  if (!prediction) return costs;
  for (size_t i = 0; i < places.size(); ++i) costs[places[i]] = prediction->mean[i];
  return costs;
}

}  // namespace lathe
