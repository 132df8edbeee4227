// lathe/search.h.
#include <fmt/format.h>

#include <utility>

#include "lathe/search.h"
#include "session/commands/run_experiment.h"
#include "session/own_search.h"

namespace lathe {
namespace {

ExperimentRequest request_of(const ExperimentChoice& choice) {
  ExperimentRequest request{.file = choice.file,
                            .tables = choice.tables,
                            .out = choice.out,
                            .seeds = choice.seeds,
                            .worker = choice.worker};
  for (const auto& [name, method] : choice.search_methods)
    request.parts.strategies.emplace(name, own_strategy(method));
  for (const auto& [name, predictor] : choice.cost_predictors)
    request.parts.cost_models.emplace(name, own_cost_model(predictor));
  return request;
}

ExperimentResult result_of(const RunExperiment& run) {
  ExperimentResult result{.runs = {}, .bars = {}, .is_whole = run.is_whole};
  for (const TableCurves& table : run.tables) {
    for (const RunCurves& curves : table.runs)
      result.runs.push_back({.ground = table.table,
                             .run = curves.run,
                             .seeds = static_cast<int>(curves.best.size()),
                             .score = score_of(table, curves.run).median,
                             .final_quality = final_quality_of(table, curves.run).median});
  }
  for (const BarOutcome& bar : run.bars) result.bars.push_back({bar.bar.claim, bar.value, bar.is_met});
  return result;
}

}  // namespace

Result<ExperimentResult> run_experiment(const ExperimentChoice& choice) {
  ExperimentListener listener;
  listener.stop = choice.stop;
  if (choice.progress)
    listener.progress = [&choice](size_t done, size_t count, const std::string& what) {
      choice.progress(fmt::format("{} of {} searches are done; {}", done, count, what));
    };
  LATHE_TRY(const RunExperiment run, run_experiment(request_of(choice), listener));
  return result_of(run);
}

}  // namespace lathe
