// Algorithm arms: rewrites of the mathematics that keep the result (up to rounding) and change the work. A
// rule replaces one compute of a Dag by several; it is found by name in one table and recorded as the first
// steps of a trace, so that a task's identity and its reference stay the direct Dag.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "expr/dag.h"

namespace lathe {

using RewriteParameters = std::map<std::string, int64_t>;

struct RewriteRule {
  std::string name;
  std::string summary;
  // The Dag with `stage` rewritten, or an Error (illegal_schedule) that says why the rule does not apply.
  Result<Dag> (*apply)(const Dag& dag, const std::string& stage, const RewriteParameters& parameters);
  std::vector<RewriteParameters> choices;  // the parameters that a search should try, each an arm of its own
  // What the names of those new computes end with that are to be stored, though they only move elements.
  std::vector<std::string> stored = {};
};

// All rules, in one list (rewrite/all.cpp).
const std::vector<RewriteRule>& rewrite_rules();

Result<Dag> rewrite(const Dag& dag, const std::string& rule, const std::string& stage,
                    const RewriteParameters& parameters);

}  // namespace lathe
