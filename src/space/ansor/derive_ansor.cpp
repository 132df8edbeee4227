#include "space/ansor/derive_ansor.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "space/ansor/sketch_writer.h"
#include "space/estimate.h"

namespace lathe {
namespace {

struct InlinedNodes {
  Dag dag;
  Trace steps;
};

// From the outputs to the inputs; what would make its readers grow too large stays at the root.
InlinedNodes inlined_by(const Outline& outline, const std::vector<NodeAnswers>& answers,
                        const CostConstants& costs) {
  InlinedNodes result{outline.dag, outline.steps};
  for (size_t i = answers.size(); i-- > 0;) {
    if (!answers[i].is_inlined || !may_be_inlined(result.dag, i, costs)) continue;
    result.dag = inline_compute(result.dag, i);
    result.steps.emplace_back(InlineStep{outline.nodes[i].node});
  }
  return result;
}

Result<Trace> write_outline(const Task& task, const Outline& outline, const CostConstants& costs,
                            Chooser& chooser) {
  const std::vector<NodeAnswers> answers = annotate(task, outline, costs, chooser);
  InlinedNodes inlined = inlined_by(outline, answers, costs);
  const Classified stages = classify(task, inlined.dag, {}, costs);
  Decider decider{{task, inlined.dag, stages, costs}, chooser};
  return SketchWriter(decider, outline, answers, std::move(inlined.steps)).write();
}

}  // namespace

Result<Space> derive_ansor(const Task& task, const CostConstants& costs) {
  if (!std::holds_alternative<CpuTarget>(task.target.kind)) {
    return fail(ErrorKind::unsupported,
                fmt::format("the space 'ansor' has programs for processors, and the target '{}' is none",
                            task.target.name));
  }
  if (!task.algorithm.empty() && task.algorithm != kExactSpecials) {
    return fail(ErrorKind::unsupported,
                fmt::format("the space 'ansor' has no programs by an algorithm, and the task is to be "
                            "computed by '{}'",
                            task.algorithm));
  }
  // Sketches outlive the task that they were derived from.
  const auto shared = std::make_shared<const Task>(task);
  const std::vector<Outline> outlines = outlines_of(task, costs);
  // All of them inline the same nodes.
  const Dag& dag = outlines.front().dag;
  const double operations = least_operations(dag, classify(task, dag, {}, costs));
  std::vector<Sketch> sketches;
  for (const Outline& outline : outlines) {
    std::string name = outline.name();
    const auto kept = std::make_shared<const Outline>(outline);
    sketches.push_back(declared_sketch(std::move(name), [shared, kept, costs](Chooser& chooser) {
      return write_outline(*shared, *kept, costs, chooser);
    }));
    sketches.back().operations = operations;
  }
  return Space(std::move(sketches), {}, {});
}

}  // namespace lathe
