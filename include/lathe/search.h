// A search strategy and a cost model of one's own, for tune() (tune.h) and for experiments, which compare
// them with those that there are. Both are used by one thread; the same seed and the same observations must
// give the same answers.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lathe/result.h"

namespace lathe {

// A program that may be tried: which sketch, and that sketch's integers.
struct SearchPoint {
  int sketch = 0;
  std::vector<int64_t> integers;

  auto operator<=>(const SearchPoint&) const = default;
};

// What may be tried for one task. It knows which programs were used.
class PointSpace {
 public:
  virtual ~PointSpace() = default;
  virtual const std::vector<std::string>& sketch_names() const = 0;
  // Worth trying first, the best first.
  virtual std::vector<SearchPoint> initial() const = 0;
  virtual bool is_legal(const SearchPoint& candidate) const = 0;
  // All that differ in one parameter by one step, legal or not.
  virtual std::vector<SearchPoint> neighbours(const SearchPoint& candidate) const = 0;
  // Marks its program as used; false if it was.
  virtual bool use(const SearchPoint& candidate) = 0;
  // At most `count` random legal ones whose programs were not used, and are now; fewer where the space is
  // used up, as far as a bounded number of draws can tell.
  virtual std::vector<SearchPoint> draw(int count) = 0;
};

struct PointOutcome {
  SearchPoint point;
  double seconds = std::numeric_limits<double>::infinity();  // infinity: failed
};

// Predicted costs, one a candidate, lower is better; infinity: not worth a trial. Empty: there is no model
// yet.
using PointScorer = std::function<std::vector<double>(std::span<const SearchPoint>)>;

class SearchMethod {
 public:
  virtual ~SearchMethod() = default;
  // At most `count` legal candidates whose programs were never proposed or observed before, each of which it
  // has marked (PointSpace::use). An empty answer ends the search.
  virtual std::vector<SearchPoint> propose(int count, const PointScorer& scorer) = 0;
  // What proposed candidates took, or those of earlier runs, which the space has marked.
  virtual void observe(std::span<const PointOutcome> outcomes) = 0;
};
// `space` lives as long as the method.
using SearchMethodFactory = std::function<std::unique_ptr<SearchMethod>(PointSpace& space, uint64_t seed)>;

// Rows of numbers that describe programs, row after row; NaN: missing.
struct ProgramRows {
  int64_t columns = 0;
  std::span<const float> values;
};

class CostPredictor {
 public:
  virtual ~CostPredictor() = default;
  // Learns from all rows of the task, forgetting what it knew; `seconds` (infinity: failed) has one entry a
  // row. Gives whether it can predict now.
  virtual bool fit(const ProgramRows& rows, std::span<const double> seconds) = 0;
  // A cost for each row, comparable within one call.
  virtual std::vector<double> predict(const ProgramRows& rows) const = 0;
};
using CostPredictorFactory = std::function<std::unique_ptr<CostPredictor>()>;

// What is compared, on measured tables or live, as a file of `lathe experiment` says it
// (docs/experiment_format.md).
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
