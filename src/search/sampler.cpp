#include "search/sampler.h"

#include <algorithm>
#include <utility>

namespace lathe {
namespace {

constexpr int64_t kListedSize = 1 << 16;  // a list of so many points takes some megabytes and milliseconds
constexpr int kDraws = 4096;              // without a new point, before a large sketch is taken for used up
constexpr int kDrawsAtOnce = 256;         // of them from one sketch
constexpr int kDrawsPerPeek = 16;         // for each point asked for: a peek may come back short

}  // namespace

Sampler::Sampler(const SearchSpace& space, Rng rng)
    : space_(space), rng_(rng), in_play_(space.sketches.size(), true) {
  for (size_t i = 0; i < space.sketches.size(); ++i) {
    Sketch sketch{
        .index = static_cast<int>(i), .listed = space.sketches[i].size() <= kListedSize, .rest = {}};
    if (sketch.listed) sketch.rest = all_points(space.sketches[i]);
    live_.push_back(std::move(sketch));
  }
}

std::optional<Point> Sampler::candidate(Sketch& sketch, int& budget) {
  const auto fits = [&](const Point& point) {
    return !used(point) && (!space_.violation || !space_.violation(point));
  };
  if (!sketch.listed) {
    for (; budget > 0; --budget) {
      Point point{sketch.index, sample(space_.sketches[sketch.index], rng_)};
      if (fits(point)) return point;
    }
    return std::nullopt;
  }
  while (!sketch.rest.empty()) {
    const size_t pick = rng_.below(sketch.rest.size());
    Point point{sketch.index, sketch.rest[pick]};
    if (fits(point)) return point;
    std::swap(sketch.rest[pick], sketch.rest.back());
    sketch.rest.pop_back();
  }
  return std::nullopt;
}

std::optional<Point> Sampler::draw_from(std::vector<size_t> open) {
  while (!open.empty()) {
    const size_t pick = rng_.below(open.size());
    int budget = kDraws;
    if (auto point = candidate(live_[open[pick]], budget)) {
      use(*point);
      return point;
    }
    open.erase(open.begin() + pick);
  }
  return std::nullopt;
}

std::optional<Point> Sampler::draw() {
  std::vector<size_t> open;
  std::vector<size_t> rest;
  for (size_t i = 0; i < live_.size(); ++i) (in_play_[live_[i].index] ? open : rest).push_back(i);
  auto point = draw_from(std::move(open));
  return point ? point : draw_from(std::move(rest));
}

bool Sampler::fill(std::vector<Point>& points, int count) {
  while (std::ssize(points) < count) {
    auto point = draw();
    if (!point) return false;
    points.push_back(std::move(*point));
  }
  return true;
}

std::vector<Point> Sampler::guess(int count) {
  std::vector<int> open;
  for (size_t i = 0; i < in_play_.size(); ++i) {
    if (in_play_[i]) open.push_back(static_cast<int>(i));
  }
  std::vector<Point> points;
  for (int i = 0; i < count && !open.empty(); ++i) {
    const int sketch = open[rng_.below(open.size())];
    points.push_back({sketch, sample(space_.sketches[static_cast<size_t>(sketch)], rng_)});
  }
  return points;
}

std::vector<Point> Sampler::peek(int count) {
  std::erase_if(live_, [](const Sketch& sketch) { return sketch.listed && sketch.rest.empty(); });
  std::vector<size_t> open;
  for (size_t i = 0; i < live_.size(); ++i) {
    if (in_play_[live_[i].index]) open.push_back(i);
  }
  std::vector<Point> points;
  std::unordered_set<uint64_t> seen;
  int budget = kDrawsPerPeek * count;
  // Small spaces repeat themselves before `count` different points have come.
  for (int tries = 0; tries < 4 * count && !open.empty() && std::ssize(points) < count; ++tries) {
    const size_t pick = rng_.below(open.size());
    int draws = std::min(budget, kDrawsAtOnce);
    budget -= draws;
    auto point = candidate(live_[open[pick]], draws);
    budget += draws;
    // Of a large sketch that few programs have all may be used: it must not take the draws of the others.
    if (!point) open.erase(open.begin() + static_cast<std::ptrdiff_t>(pick));
    if (point && seen.insert(space_.identity_of(*point)).second) points.push_back(std::move(*point));
  }
  return points;
}

}  // namespace lathe
