#include "rewrite/winograd_sides.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/nonzero.h"
#include "rewrite/match.h"
#include "rewrite/paired_table.h"
#include "rewrite/winograd_tables.h"

namespace lathe {

std::unexpected<Error> refuse_winograd(const std::string& stage, const std::string& reason) {
  return fail(ErrorKind::illegal_schedule, fmt::format("winograd does not apply to '{}': {}", stage, reason));
}

namespace {

// A window of more taps than this is cut in equal parts.
constexpr int64_t kMostTaps = 5;

int64_t taps_of_part(int64_t taps) {
  if (taps <= kMostTaps) return taps;
  for (const int64_t part : {3, 4, 5, 2}) {
    if (taps % part == 0) return part;
  }
  return taps;
}

}  // namespace

std::vector<Side> winograd_sides(const Compute& compute, const SlidingProduct& product) {
  std::vector<Side> sides;
  for (const SlidingProduct::Window& window : product.windows) {
    const int64_t taps = compute.axes[window.reduce_axis].extent;
    const int64_t inner = taps_of_part(taps);
    sides.push_back({window, compute.axes[window.output_axis].extent, inner, taps / inner, 1});
  }
  return sides;
}

Status check_winograd_reuse(const std::string& stage, const Compute& conv, const SlidingProduct& product) {
  if (extent_of(conv, product.features) < 2)
    return refuse_winograd(stage, "each of its windows gives one result alone");
  if (extent_of(conv, product.channels) < 2) return refuse_winograd(stage, "it adds up one channel alone");
  return {};
}

namespace {

// What the sides come to in all, as a schedule would see it: multiplications, transforms of data and results,
// and weights that come from far away, in units of a vector's multiply-add.
double work_of(const Compute& conv, const SlidingProduct& product, const std::vector<Side>& sides) {
  constexpr double kLanes = 16;
  constexpr double kUnitsPerWeight = 0.25;
  constexpr double kUnitsPerStep = 1.5;
  double points = 1;
  double weights = 1;
  const auto shared = static_cast<double>(extent_of(conv, product.shared));
  double places = static_cast<double>(extent_of(conv, product.rows)) * shared;
  double steps = 0;
  for (const Side& side : sides) {
    if (!side.is_tiled()) {
      places *= static_cast<double>(side.extent);
      weights *= static_cast<double>(side.taps * side.parts);
      continue;
    }
    points *= static_cast<double>(side.points());
    weights *= static_cast<double>(side.parts);
    places *= static_cast<double>(side.phases() * side.tiles());
    steps += static_cast<double>(side.points()) * kUnitsPerStep;
  }
  const auto channels = static_cast<double>(extent_of(conv, product.channels));
  const auto features = static_cast<double>(extent_of(conv, product.features));
  const double multiplied = points * places * weights * channels * features / kLanes;
  const double fetched = points * weights * shared * channels * features * kUnitsPerWeight;
  return multiplied + fetched + points * places * steps * (channels + features) / kLanes;
}

// Whether a transform of this side takes less in pairs.
bool has_pairs(const Side& side) {
  if (!side.is_tiled()) return false;
  const auto tables = winograd_tables(side.m, side.taps);
  const int64_t n = side.points();
  return tables && (pair_results(tables->data, n) || pair_values(tables->output, n));
}

bool is_uniform(const std::vector<Side>& sides) {
  return std::ranges::all_of(sides, [&](const Side& side) { return side.m == sides.front().m; });
}

RewriteParameters parameters_of(const std::vector<Side>& sides) {
  RewriteParameters parameters;
  if (is_uniform(sides)) {
    parameters.emplace("m", sides.front().m);
  } else {
    for (size_t w = 0; w < std::min(sides.size(), kMostSides); ++w)
      parameters.emplace(fmt::format("m{}", w), sides[w].m);
  }
  if (std::ranges::any_of(sides, has_pairs)) parameters.emplace("pairs", 1);
  return parameters;
}

// Every choice of tiles that have tables and are no larger than the output (two always is a choice); at least
// one side has tiles.
std::vector<std::vector<Side>> all_tiles(const std::vector<Side>& sides) {
  constexpr int64_t kMostTile = 6;
  std::vector<std::vector<Side>> all = {sides};
  for (size_t w = 0; w < std::min(sides.size(), kMostSides); ++w) {
    std::vector<std::vector<Side>> extended;
    for (const std::vector<Side>& chosen : all) {
      for (int64_t m = 1; m <= kMostTile; ++m) {
        if (m > 1 && (m > sides[w].largest_tile() || !winograd_tables(m, sides[w].taps))) break;
        extended.push_back(chosen);
        extended.back()[w].m = m;
      }
    }
    all = std::move(extended);
  }
  std::erase_if(all, [](const auto& chosen) { return std::ranges::none_of(chosen, &Side::is_tiled); });
  return all;
}

// Whether every second place or so of the data is 0: what computes its phases has less to do.
bool is_spread_out(const Dag& dag, const Load& data) {
  const std::vector<Limit> limits = where_nonzero(dag, load(data.tensor, data.index));
  return std::ranges::any_of(limits, [](const Limit& limit) {
    return std::ranges::any_of(limit.value.terms(),
                               [](const Affine::Term& term) { return term.atom->kind == AtomKind::modulo; });
  });
}

}  // namespace

std::vector<RewriteParameters> winograd_choices(const Dag& dag, const std::string& stage) {
  constexpr size_t kMostUnequal = 3;
  constexpr double kWorstWork = 1.5;  // of the best's
  const auto position = find_stage(dag, stage);
  if (!position) return {};
  const Compute& conv = dag.computes[*position];
  const auto product = match_sliding_product(conv);
  if (!product || !check_winograd_reuse(stage, conv, *product) || is_spread_out(dag, product->data))
    return {};
  std::vector<std::vector<Side>> all = all_tiles(winograd_sides(conv, *product));
  const auto work = [&](const std::vector<Side>& sides) { return work_of(conv, *product, sides); };
  std::ranges::stable_sort(all, {}, work);
  std::vector<RewriteParameters> choices;  // the most exact one first, and in any case
  size_t unequal = 0;
  for (const std::vector<Side>& sides : all) {
    const bool is_equal = is_uniform(sides);
    const bool is_smallest = is_equal && sides.front().m == 2;
    const bool is_promising =
        work(sides) <= kWorstWork * work(all.front()) && (is_equal || ++unequal <= kMostUnequal);
    if (is_smallest || is_promising)
      choices.insert(is_smallest ? choices.begin() : choices.end(), parameters_of(sides));
  }
  return choices;
}

}  // namespace lathe
