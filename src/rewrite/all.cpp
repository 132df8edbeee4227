#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "rewrite/divided_axis.h"
#include "rewrite/factored_sum.h"
#include "rewrite/im2col.h"
#include "rewrite/phases.h"
#include "rewrite/rewrite.h"
#include "rewrite/winograd.h"

namespace lathe {

const std::vector<RewriteRule>& rewrite_rules() {
  static const std::vector<RewriteRule> rules = {
      {"winograd",
       "3x3-like convolutions of stride 1 by Winograd's minimal filtering",
       &rewrite_winograd,
       {{{"m", 2}}, {{"m", 4}}, {{"m", 6}}},
       {".D", ".C"}},
      {"phases", "a strided transposed convolution as one dense convolution a phase", &rewrite_phases, {{}}},
      {"divided_axis", "an axis that is read divided by a constant as two axes", &rewrite_divided_axis, {{}}},
      {"factored_sum",
       "a sum of products of three factors as two sums",
       &rewrite_factored_sum,
       {{{"axis", 0}}, {{"axis", 1}}}},
      {"im2col", "what a windowed product reads laid out as a matrix", &rewrite_im2col, {{}}, {".col"}},
  };
  return rules;
}

namespace {

Status check_parameters(const RewriteRule& rule, const RewriteParameters& parameters) {
  for (const auto& [key, value] : parameters) {
    const bool known = std::ranges::any_of(
        rule.choices, [&](const RewriteParameters& choice) { return choice.contains(key); });
    if (known) continue;
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

}  // namespace

Result<Dag> rewrite(const Dag& dag, const std::string& rule, const std::string& stage,
                    const RewriteParameters& parameters) {
  for (const RewriteRule& candidate : rewrite_rules()) {
    if (candidate.name != rule) continue;
    LATHE_TRY_STATUS(check_parameters(candidate, parameters));
    LATHE_TRY(Dag rewritten, candidate.apply(dag, stage, parameters));
    LATHE_TRY_STATUS(check_names(candidate, stage, rewritten));
    return rewritten;
  }
  return fail(ErrorKind::illegal_schedule, fmt::format("there is no rewrite rule '{}'", rule));
}

}  // namespace lathe
