// The table of rewrites (rewrite/rewrite.h).
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "expr/walk.h"
#include "rewrite/divided_axis.h"
#include "rewrite/factored_quotient.h"
#include "rewrite/factored_sum.h"
#include "rewrite/im2col.h"
#include "rewrite/phases.h"
#include "rewrite/rewrite.h"
#include "rewrite/strassen.h"
#include "rewrite/trim.h"
#include "rewrite/winograd.h"
#include "rewrite/winograd_sides.h"

namespace lathe {

namespace {

std::vector<RewriteParameters> without_choice(const Dag&, const std::string&) { return {{}}; }

std::vector<RewriteParameters> factored_sum_choices(const Dag&, const std::string&) {
  return {{{"axis", 0}}, {{"axis", 1}}};
}

}  // namespace

const std::vector<RewriteRule>& rewrite_rules() {
  static const std::vector<RewriteRule> rules = {
      {.name = "winograd",
       .summary = "windows that slide by single steps by Winograd's minimal filtering",
       .apply = &rewrite_winograd,
       .choices = &winograd_choices,
       .parameters = {"m", "m0", "m1", "m2", "pairs"},
       .spreads_specials = true,
       .rounding = 10},
      {.name = "strassen",
       .summary = "a product of matrices as seven of their quarters by Strassen's algorithm",
       .apply = &rewrite_strassen,
       .choices = &strassen_choices,
       .spreads_specials = true,
       .rounding = 10},
      {.name = "trim",
       .summary = "a sum without the iterations that add nothing to any result",
       .apply = &rewrite_trim,
       .choices = &without_choice,
       .is_always_better = true},
      {.name = "factored_quotient",
       .summary = "a sum of quotients whose divisor stays the same as one quotient",
       .apply = &rewrite_factored_quotient,
       .choices = &without_choice,
       .is_always_better = true},
      {.name = "phases",
       .summary = "a strided transposed convolution as one dense convolution a phase",
       .apply = &rewrite_phases,
       .choices = &without_choice,
       .followed_by = {"winograd", "divided_axis"}},
      {.name = "divided_axis",
       .summary = "an axis that is read divided by a constant as two axes",
       .apply = &rewrite_divided_axis,
       .choices = &without_choice,
       .followed_by = {"winograd"}},
      {.name = "factored_sum",
       .summary = "a sum of products of three factors as two sums",
       .apply = &rewrite_factored_sum,
       .choices = &factored_sum_choices,
       .parameters = {"axis"}},
      {.name = "im2col",
       .summary = "what a windowed product reads laid out as a matrix",
       .apply = &rewrite_im2col,
       .choices = &without_choice,
       .stored = {".col"}},
      {.name = "flat_places",
       .summary = "the places of a windowed product as one axis",
       .apply = &rewrite_flat_places,
       .choices = &without_choice},
  };
  return rules;
}

namespace {

Status check_parameters(const RewriteRule& rule, const RewriteParameters& parameters) {
  for (const auto& [key, value] : parameters) {
    if (std::ranges::find(rule.parameters, key) != rule.parameters.end()) continue;
    return fail(ErrorKind::illegal_schedule, fmt::format("rewrite {} has no parameter '{}'", rule.name, key));
  }
  return {};
}

std::optional<std::string> repeated(const std::vector<std::string>& names) {
  std::set<std::string_view> met;
  for (const std::string& name : names) {
    if (!met.insert(name).second) return name;
  }
  return std::nullopt;
}

// The new names that a rule gives may be the user's own.
Status check_names(const RewriteRule& rule, const std::string& stage, const Dag& dag) {
  std::vector<std::string> tensors;
  std::optional<std::string> taken;
  for (const Tensor& input : dag.inputs) tensors.push_back(input->name);
  for (const Compute& compute : dag.computes) {
    tensors.push_back(compute.output->name);
    std::vector<std::string> axes;
    for (const Axis& axis : compute.axes) axes.push_back(axis.var.name());
    if (!taken) taken = repeated(axes);
  }
  if (!taken) taken = repeated(tensors);
  if (!taken) return {};
  return fail(ErrorKind::illegal_schedule,
              fmt::format("rewrite {} does not apply to '{}': it needs the name '{}', which is taken",
                          rule.name, stage, *taken));
}

// A rule that loses an axis on the way is refused there, and not found out by who makes code of it.
Status check_axes(const RewriteRule& rule, const std::string& stage, const Dag& dag) {
  for (const Compute& compute : dag.computes) {
    std::vector<Var> vars;
    collect_vars(compute.body, vars);
    for (const Var& var : vars) {
      if (std::ranges::find(compute.axes, var, &Axis::var) != compute.axes.end()) continue;
      return fail(ErrorKind::illegal_schedule,
                  fmt::format("rewrite {} does not apply to '{}': '{}' is no axis of '{}'", rule.name, stage,
                              var.name(), compute.output->name));
    }
  }
  return {};
}

}  // namespace

const RewriteRule* find_rule(const std::string& name) {
  const auto found = std::ranges::find(rewrite_rules(), name, &RewriteRule::name);
  return found == rewrite_rules().end() ? nullptr : &*found;
}

Result<Dag> rewrite(const Dag& dag, const std::string& rule, const std::string& stage,
                    const RewriteParameters& parameters) {
  const RewriteRule* const found = find_rule(rule);
  if (found == nullptr)
    return fail(ErrorKind::illegal_schedule, fmt::format("there is no rewrite rule '{}'", rule));
  LATHE_TRY_STATUS(check_parameters(*found, parameters));
  LATHE_TRY(Dag rewritten, found->apply(dag, stage, parameters));
  LATHE_TRY_STATUS(check_names(*found, stage, rewritten));
  LATHE_TRY_STATUS(check_axes(*found, stage, rewritten));
  return rewritten;
}

}  // namespace lathe
