// Searches compared with each other, on measured tables or live, as a file of `lathe experiment` describes
// them (docs/experiments.md); one's own enter it under a name.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lathe/result.h"
#include "lathe/search.h"

namespace lathe {

struct ExperimentChoice {
  std::string file;  // what is compared: JSON
  // The folder of its tables; empty: the file's own.
  std::string tables;
  // Made where it is missing: searches that are done, the figure and the numbers. Empty: nothing is kept; not
  // for operators that are measured live.
  std::string out;
  // The program lathe-worker, for operators that are measured live.
  std::string worker;
  std::optional<int> seeds = {};  // of each run at most
  // What the file's "strategy" and "cost_model" may name beside those that there are. Searches with them are
  // made anew each time: the code behind a name may be another one.
  std::map<std::string, SearchMethodFactory> search_methods = {};
  std::map<std::string, CostPredictorFactory> cost_predictors = {};
  // Asked between searches; true ends the experiment, which goes on when it is run again.
  std::function<bool()> stop = {};
  // Told, in a sentence, how far it is.
  std::function<void(const std::string&)> progress = {};
};

// One run on one table or operator: medians over its seeds.
struct ComparedRun {
  std::string ground;  // the table or operator
  std::string run;     // its label in the file
  int seeds = 0;
  double score = 0;  // between random search (0) and the optimum at once (1), by the area of its curve
  double final_quality = 0;  // the optimum's seconds over its best one's
};

// What the file expects, and whether it is so.
struct JudgedBar {
  std::string claim;
  double value = 0;  // infinity: never
  bool is_met = false;
};

struct ExperimentResult {
  std::vector<ComparedRun> runs;
  std::vector<JudgedBar> bars;  // none where `stop` ended it
  bool is_whole = true;
};

// An Error names the file, the run or the table that is at fault.
Result<ExperimentResult> run_experiment(const ExperimentChoice& choice);

}  // namespace lathe
