#include "experiment/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace lathe {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr uint64_t kBootstrapSeed = 20;

// The value below which this share lies, of values that need not be sorted; between two the nearer one.
double quantile(std::vector<double> values, double share) {
  const auto place = static_cast<size_t>(std::lround(share * static_cast<double>(values.size() - 1)));
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(place));
  return values[place];
}

template <class Number>
ConfidenceInterval over_seeds(const RunCurves& run, Number number) {
  std::vector<double> numbers;
  for (const std::vector<double>& best : run.best) numbers.push_back(number(best));
  return bootstrap_median(numbers, Rng(kBootstrapSeed));
}

bool is_random(const TableCurves& table, const std::string& run) {
  return run == kRandomRun && std::ranges::find(table.runs, run, &RunCurves::run) == table.runs.end();
}

// After so many trials, or all where it is 0 or there are no more.
double seconds_after(const TableCurves& table, const std::string& run, int64_t trials) {
  const std::vector<double> best = is_random(table, run) ? table.random : band_of(table.of(run).best).median;
  const int64_t last = trials > 0 ? std::min(trials, std::ssize(best)) : std::ssize(best);
  return best[static_cast<size_t>(last) - 1];
}
double final_seconds(const TableCurves& table, const std::string& run) {
  return seconds_after(table, run, 0);
}

double value_on(const ExperimentBar& bar, const TableCurves& table) {
  switch (bar.quantity) {
    case Quantity::score: {
      // Random search has none above itself.
      const bool stands_alone = bar.than.empty() || is_random(table, bar.than);
      return score_of(table, bar.run).median - (stands_alone ? 0 : score_of(table, bar.than).median);
    }
    case Quantity::final_quality: {
      const double other = bar.than.empty() ? table.optimum : seconds_after(table, bar.than, bar.after);
      return other / seconds_after(table, bar.run, bar.after);
    }
    case Quantity::seconds_to_quality: {
      const double reference = bar.than.empty() ? table.optimum / bar.share : final_seconds(table, bar.than);
      const double own = seconds_until(table, bar.run, reference);
      return bar.than.empty() ? own : own / seconds_until(table, bar.than, reference);
    }
    case Quantity::trials_to_quality: break;
  }
  const auto trials_of = [](const std::optional<int64_t>& trials) {
    return trials ? static_cast<double>(*trials) : kNever;
  };
  const auto budget = static_cast<double>(table.random.size());
  if (bar.than.empty()) return trials_of(trials_until(table, bar.run, table.optimum / bar.share)) / budget;
  const double reference = final_seconds(table, bar.than);
  const double others =
      is_random(table, bar.than) ? budget : trials_of(trials_until(table, bar.than, reference));
  return trials_of(trials_until(table, bar.run, reference)) / others;
}

double value_across(Across across, const std::vector<double>& values) {
  switch (across) {
    case Across::median: return median_of(values);
    case Across::least: return *std::ranges::min_element(values);
    case Across::mean: break;
  }
  double logarithms = 0;
  for (const double value : values) logarithms += std::log(value);
  return std::exp(logarithms / static_cast<double>(values.size()));
}

}  // namespace

const RunCurves& TableCurves::of(const std::string& run) const {
  const auto found = std::ranges::find(runs, run, &RunCurves::run);
  LATHE_CHECK(found != runs.end());
  return *found;
}

Band band_of(const std::vector<std::vector<double>>& curves) {
  Band band;
  for (size_t trial = 0; trial < curves.front().size(); ++trial) {
    std::vector<double> values;
    for (const std::vector<double>& curve : curves) values.push_back(curve[trial]);
    band.low.push_back(quantile(values, 0.25));
    band.high.push_back(quantile(values, 0.75));
    band.median.push_back(median_of(std::move(values)));
  }
  return band;
}

ConfidenceInterval score_of(const TableCurves& table, const std::string& run) {
  return over_seeds(table.of(run), [&](const std::vector<double>& best) {
    return search_score(best, table.random, table.optimum);
  });
}

ConfidenceInterval final_quality_of(const TableCurves& table, const std::string& run) {
  return over_seeds(table.of(run),
                    [&](const std::vector<double>& best) { return table.optimum / best.back(); });
}

std::optional<int64_t> trials_until(const TableCurves& table, const std::string& run, double seconds) {
  const std::vector<double> best = band_of(table.of(run).best).median;
  const auto found = std::ranges::find_if(best, [&](double value) { return value <= seconds; });
  return found == best.end() ? std::nullopt : std::optional<int64_t>(found - best.begin() + 1);
}

double seconds_until(const TableCurves& table, const std::string& run, double seconds) {
  const RunCurves& curves = table.of(run);
  std::vector<double> charged;
  for (size_t seed = 0; seed < curves.charged.size(); ++seed) {
    const std::vector<double>& best = curves.best[seed];
    const auto found = std::ranges::find_if(best, [&](double value) { return value <= seconds; });
    const bool is_reached = found != best.end();
    charged.push_back(is_reached ? curves.charged[seed][static_cast<size_t>(found - best.begin())] : kNever);
  }
  return charged.empty() ? kNever : median_of(std::move(charged));
}

BarOutcome outcome_of(const ExperimentBar& bar, const std::vector<TableCurves>& tables) {
  BarOutcome outcome{.bar = bar, .values = {}};
  for (const TableCurves& table : tables) outcome.values.push_back(value_on(bar, table));
  outcome.value = value_across(bar.across, outcome.values);
  outcome.is_met =
      (!bar.at_least || outcome.value >= *bar.at_least) && (!bar.at_most || outcome.value <= *bar.at_most);
  return outcome;
}

}  // namespace lathe
