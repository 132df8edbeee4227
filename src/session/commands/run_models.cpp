#include "session/commands/run_models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "cost/transfer.h"
#include "records/within.h"
#include "session/commands/measured_tables.h"
#include "session/commands/table_ground.h"

namespace lathe {
namespace {

// So many measured points of a table, drawn without repetition.
void add_points(TableGround& ground, int64_t count, int task, FeatureKind kind, CostSamples& samples) {
  const std::vector<TableEntry>& entries = ground.table().entries;
  std::vector<size_t> places;
  for (size_t i = 0; i < entries.size(); ++i)
    if (entries[i].outcome == TableEntry::Outcome::measured) places.push_back(i);
  Rng rng(static_cast<uint64_t>(task));
  for (size_t i = 0; i < places.size() && std::cmp_less(i, count); ++i) {
    std::swap(places[i], places[i + rng.below(places.size() - i)]);
    const auto& rows = ground.features(kind, ground.index().points()[places[i]]);
    if (!rows) continue;
    samples.features.add(*rows);
    samples.seconds.push_back(entries[places[i]].seconds);
    samples.tasks.push_back(task);
  }
}

}  // namespace

std::string RunModels::text_of(const ExperimentRun& run) {
  if (!run.learned) return run.cost_model;
  const LearnedBefore& learned = *run.learned;
  return fmt::format("{} after {} of {} points of {}, half-life {}", run.cost_model, learned.cost_model,
                     learned.points, fmt::join(learned.tables, " "), learned.half_life);
}

Result<std::unique_ptr<CostModel>> RunModels::make(const ExperimentRun& run) {
  LATHE_TRY(std::unique_ptr<CostModel> model, parts_.make_cost_model(run.cost_model));
  if (!run.learned) return model;
  LATHE_TRY(std::shared_ptr<const CostModel> global, global_model(*run.learned));
  if (global->wants() != model->wants())
    return fail(ErrorKind::invalid_argument, fmt::format("run '{}': '{}' and '{}' want other features",
                                                         run.label, run.cost_model, run.learned->cost_model));
  return make_transfer(std::move(global), std::move(model), {.half_life = run.learned->half_life});
}

Result<std::shared_ptr<const CostModel>> RunModels::global_model(const LearnedBefore& learned) {
  for (const auto& [known, model] : global_)
    if (known == learned) return model;
  LATHE_TRY(std::unique_ptr<CostModel> model, parts_.make_cost_model(learned.cost_model));
  CostSamples samples;
  const int64_t each = std::max<int64_t>(1, learned.points / std::ssize(learned.tables));
  for (size_t i = 0; i < learned.tables.size(); ++i) {
    const std::string path = (std::filesystem::path(folder_) / learned.tables[i]).string();
    LATHE_TRY(MeasuredTable table, load_table(path));
    LATHE_TRY(TableGround ground, within(path, TableGround::create(std::move(table))));
    add_points(ground, each, static_cast<int>(i), model->wants(), samples);
  }
  LATHE_TRY_STATUS(model->fit(samples));
  if (!model->fitted())
    return fail(ErrorKind::unsupported, fmt::format("'{}' learns nothing from {}", learned.cost_model,
                                                    fmt::join(learned.tables, ", ")));
  global_.emplace_back(learned, std::move(model));
  return global_.back().second;
}

}  // namespace lathe
