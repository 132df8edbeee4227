// What an experiment came to: curves on each table, numbers with intervals, and whether its bars are met.
// Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/curve.h"
#include "experiment/experiment.h"

namespace lathe {

// Of one run on one table.
struct RunCurves {
  std::string run;
  std::vector<std::vector<double>> best;  // a curve for each seed: the best so far after each trial (curve.h)
  // Of live searches, as long: the seconds charged until then. Empty on tables.
  std::vector<std::vector<double>> charged = {};
};

// The same ground for all runs. All curves have as many places as `random`: what ended early goes on as it
// was.
struct TableCurves {
  std::string table;
  double optimum = 0;  // seconds; of live searches the best that any has found
  // What random search is expected to have found (expected_random); of live searches the median of its runs.
  std::vector<double> random;
  std::vector<RunCurves> runs;

  // The run of that label, which must be one of them.
  const RunCurves& of(const std::string& run) const;
};

// Of every trial, over the seeds.
struct Band {
  std::vector<double> low;  // a quarter of the seeds is below
  std::vector<double> median;
  std::vector<double> high;  // a quarter is above
};
Band band_of(const std::vector<std::vector<double>>& curves);

// The median over the seeds with its interval.
ConfidenceInterval score_of(const TableCurves& table, const std::string& run);
ConfidenceInterval final_quality_of(const TableCurves& table, const std::string& run);
// The first trial, counted from 1, after which the median best is no slower; nothing where none is.
std::optional<int64_t> trials_until(const TableCurves& table, const std::string& run, double seconds);

// The median over the seeds of the seconds that are charged until their best is no slower; infinity for seeds
// that never come to it. Of live searches.
double seconds_until(const TableCurves& table, const std::string& run, double seconds);

struct BarOutcome {
  ExperimentBar bar;
  std::vector<double> values;  // one for each table; infinity: a quality that was never reached
  double value = 0;            // what they come to, as the bar says
  bool is_met = false;
};
BarOutcome outcome_of(const ExperimentBar& bar, const std::vector<TableCurves>& tables);

}  // namespace lathe
