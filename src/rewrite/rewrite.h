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
  // The Dag with `stage` rewritten, or an Error (illegal_schedule) that says why the rule does not apply;
  // types are asked here too.
  Result<Dag> (*apply)(const Dag& dag, const std::string& stage, const RewriteParameters& parameters);
  // The parameters that a search should try for a stage, each an arm of its own; some may be refused.
  std::vector<RewriteParameters> (*choices)(const Dag& dag, const std::string& stage);
  std::vector<std::string> parameters = {};  // the names of all there are
  // What the names of those new computes end with that are to be stored, though they only move elements.
  std::vector<std::string> stored = {};
  // The rules that a search should try on the sums that this one makes.
  std::vector<std::string> followed_by = {};
  // It takes away from the work and adds nothing: all arms begin with it where it applies.
  bool is_always_better = false;
  // Results take part in sums of inputs that their formula does not read, and which cancel but for rounding:
  // an infinity or NaN there makes them NaN.
  bool spreads_specials = false;
  // What its sums and differences on the way make of a result's usual rounding, in multiples of it.
  double rounding = 1;
};

// All rules, in one list (rewrite/all.cpp).
const std::vector<RewriteRule>& rewrite_rules();
// The one of that name, or null.
const RewriteRule* find_rule(const std::string& name);

Result<Dag> rewrite(const Dag& dag, const std::string& rule, const std::string& stage,
                    const RewriteParameters& parameters);

}  // namespace lathe
