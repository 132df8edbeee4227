#include "space/lathe/gpu/derive_gpu.h"

#include <fmt/format.h>

#include <variant>
#include <vector>

#include "expr/walk.h"
#include "space/estimate.h"
#include "space/lathe/arms.h"
#include "space/lathe/gpu/each_thread.h"
#include "space/lathe/gpu/staged_product.h"

namespace lathe {
namespace {

using KernelDecision = std::variant<EachThreadDecision, StagedProductDecision>;

KernelDecision decide_kernel(Decider& decider, const Stage& stage) {
  if (stage.role == Role::product) {
    if (const auto sides = sides_of_tile(decider.compute(stage), stage))
      return decide_staged_product(decider, stage, *sides);
  }
  return decide_each_thread(decider, stage);
}

void write_kernel(Writer& writer, const EachThreadDecision& decision) { write_each_thread(writer, decision); }
void write_kernel(Writer& writer, const StagedProductDecision& decision) {
  write_staged_product(writer, decision);
}

Result<Trace> write_kernels(const Plan& plan, Chooser& chooser) {
  const auto& [dag, steps, classified] = plan.reduced;
  Decider decider{{plan.task, dag, classified, plan.costs}, chooser};
  std::vector<bool> is_taken(classified.stages.size(), false);  // by the stage that it is the epilogue of
  for (const Stage& stage : classified.stages) {
    if (stage.epilogue && dag.computes[stage.compute].reduction != Reduction::none)
      is_taken[*stage.epilogue] = true;
  }
  Writer writer{{plan.task, dag, classified, plan.costs}, steps};
  for (size_t i = classified.stages.size(); i-- > 0;) {
    const Stage& stage = classified.stages[i];
    if (is_taken[i] || stage.role == Role::prepared) continue;
    const KernelDecision kernel = decide_kernel(decider, stage);
    std::visit([&](const auto& decided) { write_kernel(writer, decided); }, kernel);
  }
  for (const Stage& stage : classified.stages) {
    if (stage.role == Role::prepared) writer.add(PrepareStep{writer.compute(stage).output->name});
  }
  if (decider.violation) return std::unexpected(*decider.violation);
  return std::move(writer.trace);
}

}  // namespace

Result<Space> derive_gpu(const Task& task, const CostConstants& costs) {
  if (!task.algorithm.empty() && task.algorithm != kExactSpecials) {
    return fail(ErrorKind::unsupported,
                fmt::format("there are no programs by the algorithm '{}' for the target '{}'", task.algorithm,
                            task.target.name));
  }
  const Plan plan{"threads", task, costs, reduced_directly(task, costs), {}, {}};
  Sketch sketch = declared_sketch(
      plan.name(), [plan](Chooser& chooser) -> Result<Trace> { return write_kernels(plan, chooser); });
  sketch.operations = least_operations(plan.reduced.dag, plan.reduced.classified);
  std::vector<Point> first;
  Chooser preferring(sketch.domain, sketch.preferred);
  if (sketch.write(preferring)) first.push_back({0, sketch.preferred});
  std::vector<Sketch> sketches;
  sketches.push_back(std::move(sketch));
  return Space(std::move(sketches), std::move(first), {});
}

}  // namespace lathe
