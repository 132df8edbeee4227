// An experiment: searches compared on the same ground, as a file describes them. A plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lathe {

// What random search is expected to have found, which is known without a run.
inline constexpr std::string_view kRandomRun = "random";

// What a run's model has learned before: the global model of a transfer (cost/transfer.h).
struct LearnedBefore {
  std::vector<std::string> tables;  // files, as those of the experiment
  int64_t points = 0;               // of all of them together at most, drawn evenly
  std::string cost_model;           // that learns them; it wants the same features as the run's
  double half_life = 64;

  bool operator==(const LearnedBefore&) const = default;
};

// One line of a figure: a strategy with a model, run with several seeds.
struct ExperimentRun {
  std::string label;       // unique
  std::string strategy;    // as --strategy takes it
  std::string cost_model;  // as --cost-model takes it
  int seeds = 1;
  std::optional<LearnedBefore> learned = {};
};

// A number of a run on one table.
enum class Quantity : uint8_t {
  score,               // search_score (curve.h), the median of the seeds
  final_quality,       // the optimum's seconds over those of the best at the end, the median of the seeds
  trials_to_quality,   // the share of the budget after which the median best has the reference's quality
  seconds_to_quality,  // the same of the seconds charged, of live searches
};

// What many tables' numbers come to.
enum class Across : uint8_t { median, mean, least };  // `mean`: the geometric one

// What is expected of an experiment: a number of a run, alone or compared with another run's, over all
// tables.
struct ExperimentBar {
  std::string claim;  // a sentence
  Quantity quantity = Quantity::score;
  std::string run;
  // The run that it is compared with: `score` by difference, `final_quality` by ratio, `trials_to_quality`
  // and `seconds_to_quality` by ratio of what it takes to the other run's quality at the end of the budget.
  // Empty: the number itself; trials_to_quality then is to `share` of the optimum's speed. kRandomRun where
  // no run is called so: what random search is expected to have.
  std::string than = {};
  double share = 0.95;
  int64_t after = 0;  // of final_quality: so many trials are the end; 0: all are
  Across across = Across::median;
  std::optional<double> at_least = {};
  std::optional<double> at_most = {};
};

// An operator that is searched live, on this machine.
struct ExperimentCase {
  std::string workload;  // a file of operators, relative to the experiment's folder
  std::string op;        // the one of that name
  std::string space = "lathe";
  bool layouts_are_free = false;
  int cores = 1;
};

struct Experiment {
  std::string name;
  std::string title;
  std::string source;               // paper and figure
  std::vector<std::string> tables;  // files, relative to the experiment's folder
  std::vector<ExperimentCase> cases;
  std::vector<ExperimentRun> runs;
  std::vector<ExperimentBar> bars;
  int64_t trials = 0;
  int batch = 64;  // between two fits, where a strategy does not fix it
};

// An Error names `source` and the member that is missing, unknown or out of its bounds.
Result<Experiment> parse_experiment(std::string_view text, const std::string& source);

}  // namespace lathe
