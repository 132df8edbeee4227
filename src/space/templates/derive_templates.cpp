#include "space/templates/derive_templates.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "space/estimate.h"
#include "space/lathe/plan.h"
#include "space/rules/pointwise.h"
#include "space/templates/convolution.h"
#include "space/templates/depthwise.h"
#include "space/templates/gemm.h"
#include "space/templates/grouped.h"

namespace lathe {
namespace {

struct TemplateFamily {
  std::string_view name;
  bool (*fits)(const Analysis& analysis, const Stage& stage);
  Tiling (*decide)(Decider& decider, Chooser& chooser, const Stage& stage);
};

// A product has the first that fits.
constexpr TemplateFamily kFamilies[] = {
    {"convolution", fits_convolution, decide_convolution},
    {"grouped", fits_grouped, decide_grouped},
    {"depthwise", fits_depthwise, decide_depthwise},
    {"gemm", fits_gemm, decide_gemm},
};

// What the sketch is fixed to.
struct TemplatePlan {
  Task task;
  CostConstants costs = {};
  Reduced reduced = {};
  std::map<size_t, const TemplateFamily*> families = {};  // by stage

  Analysis analysis() const { return {task, reduced.dag, reduced.classified, costs}; }
};

std::unexpected<Error> nothing_fits(const Task& task, const std::string& what) {
  return fail(ErrorKind::unsupported,
              fmt::format("the space 'autotvm' has no template for {} of task '{}': there are templates for "
                          "matrix products and for convolutions, dense, grouped and depthwise",
                          what, task.name));
}

Result<TemplatePlan> plan_of(const Task& task) {
  if (!std::holds_alternative<CpuTarget>(task.target.kind))
    return fail(ErrorKind::unsupported,
                fmt::format("the space 'autotvm' has templates for processors, and target '{}' is none",
                            task.target.name));
  if (!task.algorithm.empty() && task.algorithm != kExactSpecials)
    return nothing_fits(task, fmt::format("the required algorithm '{}'", task.algorithm));
  TemplatePlan plan{.task = task};
  plan.reduced = take_out_inlined(task, task.dag, {}, {}, plan.costs);
  for (const Stage& stage : plan.reduced.classified.stages) {
    const Compute& compute = plan.reduced.dag.computes[stage.compute];
    if (compute.reduction == Reduction::none || stage.role == Role::prepared) continue;
    const auto fits = [&](const TemplateFamily& family) { return family.fits(plan.analysis(), stage); };
    const auto* family = std::ranges::find_if(kFamilies, fits);
    if (family == std::end(kFamilies))
      return nothing_fits(task, fmt::format("compute '{}'", compute.output->name));
    plan.families.emplace(stage.compute, family);
  }
  if (plan.families.empty())
    return nothing_fits(task, fmt::format("compute '{}'", task.dag.outputs.front()->name));
  return plan;
}

using TemplateStage = std::variant<Tiling, PointwiseDecision>;

// From the outputs to the inputs, so that a consumer decides where its operands lie. What is no template's
// asks a chooser of its own, which prefers.
Result<std::vector<TemplateStage>> decide_stages(const TemplatePlan& plan, Chooser& chooser) {
  Chooser preferring;
  Decider decider{plan.analysis(), preferring};
  const std::vector<Stage>& stages = plan.reduced.classified.stages;
  std::vector<bool> along(stages.size(), false);
  for (const auto& [stage, family] : plan.families) {
    if (stages[stage].epilogue) along[*stages[stage].epilogue] = true;
  }
  std::vector<TemplateStage> decided;
  for (size_t i = stages.size(); i-- > 0;) {
    const auto family = plan.families.find(i);
    if (family != plan.families.end())
      decided.emplace_back(family->second->decide(decider, chooser, stages[i]));
    else if (!along[i] && stages[i].role == Role::pointwise)
      decided.emplace_back(decide_pointwise(decider, stages[i]));
  }
  if (decider.violation) return std::unexpected(*decider.violation);
  return decided;
}

Result<Trace> write_templates(const TemplatePlan& plan, Chooser& chooser) {
  LATHE_TRY(const std::vector<TemplateStage> stages, decide_stages(plan, chooser));
  Writer writer{plan.analysis(), plan.reduced.steps};
  for (const TemplateStage& stage : stages) {
    if (const Tiling* tiling = std::get_if<Tiling>(&stage))
      write_tiling(writer, *tiling);
    else
      write_pointwise(writer, std::get<PointwiseDecision>(stage));
  }
  for (const Stage& stage : plan.reduced.classified.stages) {
    if (stage.role == Role::prepared) writer.add(PrepareStep{writer.compute(stage).output->name});
  }
  return std::move(writer.trace);
}

}  // namespace

Result<Space> derive_templates(const Task& task) {
  LATHE_TRY(const TemplatePlan plan, plan_of(task));
  std::string name;
  for (const auto& [stage, family] : plan.families) {
    name += fmt::format("{}{} {}", name.empty() ? "" : ", ", family->name,
                        plan.reduced.dag.computes[stage].output->name);
  }
  std::vector<Sketch> sketches = {
      declared_sketch(name, [plan](Chooser& chooser) { return write_templates(plan, chooser); })};
  sketches.front().operations = least_operations(plan.reduced.dag, plan.reduced.classified);
  return Space(std::move(sketches), {}, {});
}

}  // namespace lathe
