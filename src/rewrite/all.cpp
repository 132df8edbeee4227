#include <fmt/format.h>

#include "rewrite/divided_axis.h"
#include "rewrite/phases.h"
#include "rewrite/rewrite.h"
#include "rewrite/winograd.h"

namespace lathe {

const std::vector<RewriteRule>& rewrite_rules() {
  static const std::vector<RewriteRule> rules = {
      {"winograd",
       "3x3-like convolutions of stride 1 by Winograd's minimal filtering",
       &rewrite_winograd,
       {{{"m", 2}}, {{"m", 4}}, {{"m", 6}}}},
      {"phases", "a strided transposed convolution as one dense convolution a phase", &rewrite_phases, {{}}},
      {"divided_axis", "an axis that is read divided by a constant as two axes", &rewrite_divided_axis, {{}}},
  };
  return rules;
}

Result<Dag> rewrite(const Dag& dag, const std::string& rule, const std::string& stage,
                    const RewriteParameters& parameters) {
  for (const RewriteRule& candidate : rewrite_rules()) {
    if (candidate.name == rule) return candidate.apply(dag, stage, parameters);
  }
  return fail(ErrorKind::illegal_schedule, fmt::format("there is no rewrite rule '{}'", rule));
}

}  // namespace lathe
