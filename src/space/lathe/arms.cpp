#include "space/lathe/arms.h"

#include <fmt/format.h>

#include <algorithm>

#include "rewrite/rewrite.h"

namespace lathe {
namespace {

// A Dag rewritten by rules, one after another, and how it came about.
struct Rewritten {
  Dag dag;
  Trace steps;
  std::string arm;
  std::set<std::string> stored;  // names of computes that are to be stages of their own
};

Result<Rewritten> rewritten_by(const Rewritten& before, const RewriteRule& rule, const RewriteStep& step) {
  Rewritten after = before;
  LATHE_TRY(after.dag, rewrite(before.dag, step.rule, step.stage, step.parameters));
  after.steps.emplace_back(step);
  after.arm += (after.arm.empty() ? "" : " ") + step.rule;
  for (const auto& [key, value] : step.parameters) after.arm += fmt::format(" {}={}", key, value);
  for (const std::string& suffix : rule.stored) after.stored.insert(step.stage + suffix);
  return after;
}

// With the most promising tile only: an arm that loses costs few trials.
void add_plans(const Task& task, const Rewritten& rewritten, const CostConstants& costs,
               std::vector<Plan>& plans) {
  const Reduced reduced = take_out_inlined(task, rewritten.dag, rewritten.steps, rewritten.stored, costs);
  for (Plan& plan : plans_of(task, rewritten.arm, reduced, 1, costs)) plans.push_back(std::move(plan));
}

// The sums that a rule has made of a stage: those computes are named after it.
std::vector<std::string> new_sums(const Dag& before, const Dag& after) {
  std::vector<std::string> names;
  for (const Compute& compute : after.computes) {
    const bool was_there =
        std::ranges::any_of(before.computes, [&](const Compute& c) { return c.output == compute.output; });
    if (!was_there && compute.reduction == Reduction::sum) names.push_back(compute.output->name);
  }
  return names;
}

bool may_use(const Task& task, const RewriteRule& rule) {
  return task.algorithm != kExactSpecials || !rule.spreads_specials;
}

// Every way in which a rule applies to a stage, and what may follow it.
void add_algorithm(const Task& task, const Rewritten& before, const RewriteRule& rule,
                   const std::string& stage, const CostConstants& costs, std::vector<Plan>& plans) {
  for (const RewriteParameters& parameters : rule.choices(before.dag, stage)) {
    // A rule that does not apply adds nothing.
    const auto after = rewritten_by(before, rule, {rule.name, stage, parameters});
    if (!after) continue;
    add_plans(task, *after, costs, plans);
    for (const RewriteRule& next : rewrite_rules()) {
      if (!may_use(task, next)) continue;
      if (std::ranges::find(rule.followed_by, next.name) == rule.followed_by.end()) continue;
      for (const std::string& sum : new_sums(before.dag, after->dag))
        add_algorithm(task, *after, next, sum, costs, plans);
    }
  }
}

// The Dag after the rules that are always better, which no arm is named after.
Rewritten without_waste(const Task& task) {
  Rewritten base{task.dag, {}, {}, {}};
  for (const RewriteRule& rule : rewrite_rules()) {
    if (!rule.is_always_better) continue;
    for (const Compute& compute : task.dag.computes) {
      if (auto better = rewritten_by(base, rule, {rule.name, compute.output->name, {}}))
        base = std::move(*better);
    }
  }
  base.arm.clear();
  return base;
}

}  // namespace

Reduced reduced_directly(const Task& task, const CostConstants& costs) {
  const Rewritten base = without_waste(task);
  return take_out_inlined(task, base.dag, base.steps, {}, costs);
}

std::vector<Plan> direct_plans(const Task& task, const CostConstants& costs) {
  return plans_of(task, "direct", reduced_directly(task, costs), whole(costs.tiles_of_direct), costs);
}

std::vector<Plan> algorithm_plans(const Task& task, const CostConstants& costs) {
  const Rewritten base = without_waste(task);
  std::vector<Plan> plans;
  for (const RewriteRule& rule : rewrite_rules()) {
    if (rule.is_always_better || !may_use(task, rule)) continue;
    for (const Compute& compute : base.dag.computes)
      add_algorithm(task, base, rule, compute.output->name, costs, plans);
  }
  return plans;
}

Result<RequiredPlans> required_plans(const Task& task, const CostConstants& costs) {
  const Rewritten base = without_waste(task);
  RequiredPlans required;
  std::optional<RewriteStep> first;
  std::string reason = fmt::format("there is no rewrite rule '{}'", task.algorithm);
  bool has_reason = false;
  for (const RewriteRule& rule : rewrite_rules()) {
    if (rule.name != task.algorithm) continue;
    for (const Compute& compute : base.dag.computes) {
      std::vector<RewriteParameters> choices = rule.choices(base.dag, compute.output->name);
      if (choices.empty()) choices.emplace_back();  // to learn why
      for (const RewriteParameters& parameters : choices) {
        RewriteStep step{rule.name, compute.output->name, parameters};
        const auto after = rewritten_by(base, rule, step);
        if (after) add_plans(task, *after, costs, required.plans);
        if (after && !first) first = std::move(step);
        if (after || has_reason) continue;
        // Of a compute that reduces: what pads its input is no candidate.
        reason = after.error().message;
        has_reason = compute.reduction != Reduction::none;
      }
    }
  }
  if (first) {
    required.rewrite = std::move(*first);
    return required;
  }
  return fail(ErrorKind::unsupported,
              fmt::format("the task is to be computed by the algorithm '{}': {}", task.algorithm, reason));
}

}  // namespace lathe
