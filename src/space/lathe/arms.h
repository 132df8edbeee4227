// The ways to compute a task: its own Dag and what the rules of src/rewrite make of it, each as plans of
// sketches. A rule that spreads infinities is left out where the task keeps them; whether a rule fits a
// compute's shape, the rule says. Before any of them go the rules that are always better, which no arm is
// named after.
#pragma once

#include <vector>

#include "space/lathe/plan.h"

namespace lathe {

// What every direct program computes: the Dag after the rules that are always better, and without its inlined
// computes.
Reduced reduced_directly(const Task& task, const CostConstants& costs);
// Of the Dag as it is.
std::vector<Plan> direct_plans(const Task& task, const CostConstants& costs);
// Of every algorithm that a rule knows for a compute of the Dag.
std::vector<Plan> algorithm_plans(const Task& task, const CostConstants& costs);

struct RequiredPlans {
  std::vector<Plan> plans;
  RewriteStep rewrite;  // the first by the algorithm
};
// Of the algorithm that the task requires; an Error of kind unsupported where it applies to no compute.
Result<RequiredPlans> required_plans(const Task& task, const CostConstants& costs);

}  // namespace lathe
