#include "schedule/apply.h"

#include <fmt/format.h>

#include <algorithm>

#include "intrinsics/intrinsic.h"
#include "rewrite/rewrite.h"
#include "schedule/check_scopes.h"
#include "schedule/primitive.h"

namespace lathe {
namespace {

std::unexpected<Error> located_at(Error error, const Step& step) {
  error.where = to_string(step);
  return std::unexpected(std::move(error));
}

Status check_algorithm(const Task& task, const Trace& trace) {
  const auto is_required = [&](const Step& step) {
    const RewriteStep* rewrite = std::get_if<RewriteStep>(&step);
    return rewrite != nullptr && rewrite->rule == task.algorithm;
  };
  if (task.algorithm == kExactSpecials) {
    if (!spreads_specials(trace)) return {};
    return fail(ErrorKind::illegal_schedule,
                "a step of the trace rewrites by an algorithm that spreads infinities and NaN, and the task "
                "is to keep them where they belong");
  }
  if (task.algorithm.empty() || std::ranges::any_of(trace, is_required)) return {};
  return fail(
      ErrorKind::illegal_schedule,
      fmt::format("the task is to be computed by the algorithm '{}', and no step of the trace rewrites "
                  "by it",
                  task.algorithm));
}

}  // namespace

Status check_intrinsics(const Target& target, const Trace& trace) {
  for (const Step& step : trace) {
    const TensorizeStep* tensorize = std::get_if<TensorizeStep>(&step);
    const Intrinsic* intrinsic = tensorize == nullptr ? nullptr : find_intrinsic(tensorize->intrinsic);
    if (intrinsic == nullptr || has_intrinsic(target, *intrinsic)) continue;
    Error error{ErrorKind::illegal_schedule,
                fmt::format("target '{}' ({}) has no instruction for intrinsic '{}'", target.name,
                            target.machine, intrinsic->name),
                {},
                {}};
    return located_at(std::move(error), step);
  }
  return {};
}

bool spreads_specials(const Trace& trace) {
  return std::ranges::any_of(trace, [](const Step& step) {
    const RewriteStep* rewrite = std::get_if<RewriteStep>(&step);
    if (rewrite == nullptr) return false;
    const RewriteRule* const rule = find_rule(rewrite->rule);
    return rule != nullptr && rule->spreads_specials;
  });
}

Result<Program> apply(const Program&, const RewriteStep&) {
  return illegal("a rewrite stands before all other steps");
}

std::string describe(const RewriteStep& step) {
  std::string parameters;
  for (const auto& [name, value] : step.parameters) parameters += fmt::format(", {} = {}", name, value);
  return fmt::format("is computed by the algorithm '{}'{}{}", step.rule, parameters,
                     spreads_specials({step}) ? "; an infinity or NaN makes results beside it NaN" : "");
}

Result<Program> apply_step(const Program& program, const Step& step) {
  Result<Program> result = std::visit(
      [&]<class StepKind>(const StepKind& kind) -> Result<Program> {
        LATHE_TRY(Program applied, apply(program, kind));
        if constexpr (!requires { requires StepKind::kKeepsScopes; }) LATHE_TRY_STATUS(check_scopes(applied));
        return applied;
      },
      step);
  if (!result) return located_at(std::move(result.error()), step);
  return result;
}

Result<Program> apply_trace(const Task& task, const Trace& trace) {
  LATHE_TRY_STATUS(check_algorithm(task, trace));
  LATHE_TRY_STATUS(check_intrinsics(task.target, trace));
  Task rewritten = task;
  size_t next = 0;
  for (; next < trace.size(); ++next) {
    const RewriteStep* step = std::get_if<RewriteStep>(&trace[next]);
    if (step == nullptr) break;
    Result<Dag> dag = rewrite(rewritten.dag, step->rule, step->stage, step->parameters);
    if (!dag) return located_at(std::move(dag.error()), trace[next]);
    rewritten.dag = std::move(*dag);
  }
  Program program = naive_program(rewritten);
  for (; next < trace.size(); ++next) {
    LATHE_TRY(program, apply_step(program, trace[next]));
  }
  return program;
}

}  // namespace lathe
