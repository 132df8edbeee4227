// What training makes small: losses over candidates by their measured seconds, and where nothing can be
// learned.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cost/cost_model.h"

namespace lathe {

// Given the present predictions, one a candidate, writes first and second derivatives of the loss by each of
// them.
using Objective = std::function<void(std::span<const float> predictions, std::span<float> gradient,
                                     std::span<float> hessian)>;

// "rank" (AutoTVM's formula (2)), "regression" (squared loss on relative costs) and "pack-sum" (the same,
// each candidate weighted by its throughput, as Ansor has it: where nothing good is expected errors hardly
// count).
const std::vector<std::string>& objective_names();
// `name` is one of them; the loss of the chosen samples, each once, or of all where none are named. What is
// relative is so to the best of all samples of its task. The samples must outlive what is returned.
Objective make_objective(const std::string& name, const CostSamples& samples,
                         std::span<const size_t> chosen = {});

// Whether two candidates of one task differ in seconds.
bool anything_to_learn(const CostSamples& samples);
// Minus the throughput relative to the task's best, a cost from -1 to 0; 0 for failures.
std::vector<float> relative_costs(const CostSamples& samples);

}  // namespace lathe
