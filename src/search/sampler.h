// Draws legal points whose program was never used, uniformly over the sketches in play and over each sketch's
// points. Small sketches are listed and shuffled, so that their end is known; in large ones points are drawn
// until a new legal one comes. Deterministic for a given Rng. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "search/search_space.h"

namespace lathe {

class Sampler {
 public:
  // `space` must outlive the sampler.
  Sampler(const SearchSpace& space, Rng rng);

  // The sketches to draw from, one entry each; all at first.
  void set_in_play(std::vector<bool> in_play) { in_play_ = std::move(in_play); }
  bool in_play(const Point& point) const { return in_play_[static_cast<size_t>(point.sketch)]; }
  // An unused legal point, now used, of another sketch where those in play are used up; nothing when the
  // space is used up, or when a large space gave none in a bounded number of draws.
  std::optional<Point> draw();
  // Adds draws until there are `count` points; false where nothing is left before.
  bool fill(std::vector<Point>& points, int count);
  // Up to `count` unused legal points, of distinct programs, but still unused: candidates to choose from.
  std::vector<Point> peek(int count);
  // So many points of the sketches in play, legal or not and used or not: guesses.
  std::vector<Point> guess(int count);
  // Marks the points of this one's identity as used; false if they were.
  bool use(const Point& point) { return used_.insert(space_.identity_of(point)).second; }
  bool used(const Point& point) const { return used_.contains(space_.identity_of(point)); }
  Rng& rng() { return rng_; }

 private:
  struct Sketch {
    int index;
    bool listed = false;
    std::vector<std::vector<int64_t>> rest;  // shuffled lazily, from the back; only if listed
  };
  // An unused legal point, not marked; takes what it draws from a large sketch off `budget`.
  std::optional<Point> candidate(Sketch& sketch, int& budget);

  const SearchSpace& space_;
  Rng rng_;
  std::optional<Point> draw_from(std::vector<size_t> open);

  std::vector<Sketch> live_;
  std::vector<bool> in_play_;
  std::unordered_set<uint64_t> used_;
};

}  // namespace lathe
