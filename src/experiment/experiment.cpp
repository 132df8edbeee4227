#include "experiment/experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json.h"

namespace lathe {
namespace {

using nlohmann::json;

constexpr int64_t kMostTrials = 1 << 20;
constexpr int kMostSeeds = 10000;
constexpr int kMostCores = 4096;
constexpr const char* kQuantities[] = {"score", "final_quality", "trials_to_quality", "seconds_to_quality"};
constexpr const char* kAcross[] = {"median", "mean", "least"};

std::unexpected<Error> wrong(const std::string& what) { return fail(ErrorKind::parse, what); }

// The members of one object, each read once; what is left over is unknown.
class Members {
 public:
  static Result<Members> of(const json& object, std::string what) {
    if (!object.is_object()) return wrong(what + " is no object");
    return Members(object, std::move(what));
  }

  Status text(const char* key, std::string& value, bool is_required = true) {
    const json* member = take(key);
    if (member == nullptr) return is_required ? Status(missing(key)) : Status();
    if (!member->is_string()) return wrong(fmt::format("'{}' of {} is no text", key, what_));
    value = member->get<std::string>();
    return {};
  }
  template <class Number>
  Status whole(const char* key, Number& value, int64_t most, bool is_required = true) {
    const json* member = take(key);
    if (member == nullptr) return is_required ? Status(missing(key)) : Status();
    const bool is_whole = member->is_number_unsigned() && *member >= 1 && *member <= most;
    if (!is_whole) return wrong(fmt::format("'{}' of {} is no whole number from 1 to {}", key, what_, most));
    value = member->get<Number>();
    return {};
  }
  Status number(const char* key, std::optional<double>& value) {
    const json* member = take(key);
    if (member == nullptr) return {};
    if (!member->is_number()) return wrong(fmt::format("'{}' of {} is no number", key, what_));
    value = member->get<double>();
    return {};
  }
  Result<const json*> list(const char* key, bool is_required) {
    const json* member = take(key);
    if (member == nullptr && is_required) return missing(key);
    if (member != nullptr && !member->is_array())
      return wrong(fmt::format("'{}' of {} is no list", key, what_));
    return member;
  }
  // Null where it is missing.
  const json* any(const char* key) { return take(key); }
  Status finish() const {
    for (const auto& [key, value] : object_->items())
      if (!taken_.contains(key)) return wrong(fmt::format("{} has no member '{}'", what_, key));
    return {};
  }

 private:
  Members(const json& object, std::string what) : object_(&object), what_(std::move(what)) {}
  const json* take(const char* key) {
    taken_.insert(key);
    const auto found = object_->find(key);
    return found == object_->end() ? nullptr : &*found;
  }
  std::unexpected<Error> missing(const char* key) const {
    return wrong(fmt::format("{} has no '{}'", what_, key));
  }

  const json* object_;
  std::string what_;
  std::set<std::string, std::less<>> taken_;
};

Result<std::vector<std::string>> texts_in(const json& list, const std::string& what) {
  std::vector<std::string> texts;
  for (const json& each : list) {
    if (!each.is_string()) return wrong(fmt::format("{} is no list of texts", what));
    texts.push_back(each.get<std::string>());
  }
  if (texts.empty()) return wrong(fmt::format("{} names none", what));
  return texts;
}

Result<LearnedBefore> learned_from(const json& object) {
  LearnedBefore learned;
  std::optional<double> half_life;
  LATHE_TRY(Members members, Members::of(object, "'learned'"));
  LATHE_TRY(const json* tables, members.list("tables", true));
  LATHE_TRY(learned.tables, texts_in(*tables, "'tables' of 'learned'"));
  LATHE_TRY_STATUS(members.whole("points", learned.points, kMostTrials));
  LATHE_TRY_STATUS(members.text("cost_model", learned.cost_model));
  LATHE_TRY_STATUS(members.number("half_life", half_life));
  LATHE_TRY_STATUS(members.finish());
  learned.half_life = half_life.value_or(learned.half_life);
  if (!(learned.half_life >= 0)) return wrong("'half_life' of 'learned' is below 0");
  return learned;
}

Result<ExperimentRun> run_from(const json& object) {
  ExperimentRun run;
  LATHE_TRY(Members members, Members::of(object, "a run"));
  LATHE_TRY_STATUS(members.text("label", run.label));
  LATHE_TRY_STATUS(members.text("strategy", run.strategy));
  run.cost_model = "none";
  LATHE_TRY_STATUS(members.text("cost_model", run.cost_model, false));
  LATHE_TRY_STATUS(members.whole("seeds", run.seeds, kMostSeeds, false));
  if (const json* learned = members.any("learned")) {
    LATHE_TRY(run.learned, learned_from(*learned));
  }
  LATHE_TRY_STATUS(members.finish());
  return run;
}

// The value that a name stands for, by its place among the names.
template <class Value, size_t count>
Result<Value> named(const std::string& name, const char* what, const char* const (&names)[count]) {
  const auto* found = std::ranges::find(names, name);
  if (found == std::end(names))
    return wrong(fmt::format("there is no {} '{}'; legal names are {}", what, name, fmt::join(names, ", ")));
  return static_cast<Value>(found - names);
}

Result<ExperimentBar> bar_from(const json& object, const std::vector<ExperimentRun>& runs) {
  ExperimentBar bar;
  std::string quantity;
  std::string across = kAcross[0];
  std::optional<double> share;
  LATHE_TRY(Members members, Members::of(object, "a bar"));
  LATHE_TRY_STATUS(members.text("claim", bar.claim));
  LATHE_TRY_STATUS(members.text("quantity", quantity));
  LATHE_TRY(bar.quantity, named<Quantity>(quantity, "quantity", kQuantities));
  LATHE_TRY_STATUS(members.text("across", across, false));
  LATHE_TRY(bar.across, named<Across>(across, "way across tables", kAcross));
  LATHE_TRY_STATUS(members.whole("after", bar.after, kMostTrials, false));
  LATHE_TRY_STATUS(members.text("run", bar.run));
  LATHE_TRY_STATUS(members.text("than", bar.than, false));
  LATHE_TRY_STATUS(members.number("share", share));
  LATHE_TRY_STATUS(members.number("at_least", bar.at_least));
  LATHE_TRY_STATUS(members.number("at_most", bar.at_most));
  LATHE_TRY_STATUS(members.finish());
  bar.share = share.value_or(bar.share);
  if (!(bar.share > 0 && bar.share <= 1)) return wrong("'share' of a bar is not above 0 and at most 1");
  if (bar.after > 0 && bar.quantity != Quantity::final_quality)
    return wrong("'after' of a bar is of its final_quality alone");
  if (!bar.at_least && !bar.at_most) return wrong("a bar has neither 'at_least' nor 'at_most'");
  const auto is_run = [&](const std::string& name) {
    return std::ranges::find(runs, name, &ExperimentRun::label) != runs.end();
  };
  const bool may_be_no_run = bar.than.empty() || bar.than == kRandomRun;
  const std::string* unknown = !is_run(bar.run) ? &bar.run : nullptr;
  if (unknown == nullptr && !may_be_no_run && !is_run(bar.than)) unknown = &bar.than;
  if (unknown != nullptr)
    return wrong(fmt::format("a bar speaks of the run '{}', and there is none", *unknown));
  return bar;
}

Result<ExperimentCase> case_from(const json& object) {
  ExperimentCase one;
  std::string layout = "fixed";
  LATHE_TRY(Members members, Members::of(object, "a case"));
  LATHE_TRY_STATUS(members.text("workload", one.workload));
  LATHE_TRY_STATUS(members.text("operator", one.op));
  LATHE_TRY_STATUS(members.text("space", one.space, false));
  LATHE_TRY_STATUS(members.text("layout", layout, false));
  LATHE_TRY_STATUS(members.whole("cores", one.cores, kMostCores, false));
  LATHE_TRY_STATUS(members.finish());
  if (layout != "free" && layout != "fixed") return wrong("'layout' of a case is neither 'free' nor 'fixed'");
  one.layouts_are_free = layout == "free";
  return one;
}

// What is searched: tables, or cases.
Status read_grounds(Members& members, Experiment& experiment) {
  LATHE_TRY(const json* tables, members.list("tables", false));
  LATHE_TRY(const json* cases, members.list("cases", false));
  if ((tables == nullptr) == (cases == nullptr))
    return wrong("the experiment must have either 'tables' or 'cases'");
  if (tables != nullptr) {
    LATHE_TRY(experiment.tables, texts_in(*tables, "'tables' of the experiment"));
    return {};
  }
  for (const json& object : *cases) {
    LATHE_TRY(ExperimentCase one, case_from(object));
    experiment.cases.push_back(std::move(one));
  }
  return experiment.cases.empty() ? Status(wrong("'cases' of the experiment names none")) : Status();
}

// A live search has no optimum but the best that is found, and random search is known by its runs alone.
Status check_live(const Experiment& experiment) {
  const bool is_live = !experiment.cases.empty();
  const bool has_random =
      std::ranges::find(experiment.runs, kRandomRun, &ExperimentRun::label) != experiment.runs.end();
  if (is_live && !has_random)
    return wrong(fmt::format("cases are compared with a run called '{}', and there is none", kRandomRun));
  for (const ExperimentBar& bar : experiment.bars)
    if (!is_live && bar.quantity == Quantity::seconds_to_quality)
      return wrong("seconds are charged in cases alone: a table has none");
  return {};
}

Status read_runs(Members& members, Experiment& experiment) {
  LATHE_TRY(const json* runs, members.list("runs", true));
  for (const json& object : *runs) {
    LATHE_TRY(ExperimentRun run, run_from(object));
    if (std::ranges::find(experiment.runs, run.label, &ExperimentRun::label) != experiment.runs.end())
      return wrong(fmt::format("two runs are called '{}'", run.label));
    experiment.runs.push_back(std::move(run));
  }
  if (experiment.runs.empty()) return wrong("the experiment has no runs");
  LATHE_TRY(const json* bars, members.list("bars", false));
  if (bars == nullptr) return {};
  for (const json& object : *bars) {
    LATHE_TRY(ExperimentBar bar, bar_from(object, experiment.runs));
    experiment.bars.push_back(std::move(bar));
  }
  return {};
}

Result<Experiment> experiment_from(const json& object) {
  Experiment experiment;
  LATHE_TRY(Members members, Members::of(object, "the experiment"));
  LATHE_TRY_STATUS(members.text("name", experiment.name));
  LATHE_TRY_STATUS(members.text("title", experiment.title));
  LATHE_TRY_STATUS(members.text("source", experiment.source, false));
  LATHE_TRY_STATUS(read_grounds(members, experiment));
  LATHE_TRY_STATUS(members.whole("trials", experiment.trials, kMostTrials));
  LATHE_TRY_STATUS(members.whole("batch", experiment.batch, kMostTrials, false));
  LATHE_TRY_STATUS(read_runs(members, experiment));
  LATHE_TRY_STATUS(members.finish());
  LATHE_TRY_STATUS(check_live(experiment));
  return experiment;
}

}  // namespace

Result<Experiment> parse_experiment(std::string_view text, const std::string& source) {
  LATHE_TRY(const json object, parse_json(text, source));
  Result<Experiment> experiment = experiment_from(object);
  if (!experiment) return fail(experiment.error().kind, experiment.error().message, source);
  return experiment;
}

}  // namespace lathe
