#include "space/lathe/gpu/each_thread.h"

#include <algorithm>

#include "space/rules/nest.h"
#include "space/rules/vectors.h"

namespace lathe {

std::string write_loops_of_threads(Writer& writer, const std::string& block, const LoopsOfThreads& loops) {
  std::string fused = loops.loops.front();
  for (size_t i = 1; i < loops.loops.size(); ++i) fused += "_" + loops.loops[i];
  if (loops.loops.size() > 1) writer.add(FuseStep{block, loops.loops});
  const auto bind = [&](const std::string& loop, LoopKind kind) {
    writer.add(AnnotateStep{block, loop, kind});
  };
  if (loops.each == 1) {
    writer.add(SplitStep{block, fused, {loops.threads}});
    bind(fused + ".0", LoopKind::block);
    bind(fused + ".1", LoopKind::thread);
    return fused + ".1";
  }
  writer.add(SplitStep{block, fused, {loops.each, loops.threads}});
  writer.add(ReorderStep{block, {fused + ".0", fused + ".2", fused + ".1"}});
  bind(fused + ".0", LoopKind::block);
  bind(fused + ".2", LoopKind::thread);
  return fused + ".1";
}

EachThreadDecision decide_each_thread(Decider& decider, const Stage& stage) {
  const Compute& compute = decider.compute(stage);
  const std::string& name = compute.output->name;
  EachThreadDecision decision{.compute = stage.compute};
  decision.results.loops = names_of(Nest(compute).spatial);
  if (decision.results.loops.empty()) return decision;
  const int64_t results = compute.output.elements();
  const int64_t most = std::min<int64_t>(decider.task.target.gpu().work_group_size, results);
  decision.results.threads =
      decider.choose.choose(name + ".threads", powers_of_two(most), whole(decider.costs.block_threads));
  decision.results.each = decider.choose.choose(
      name + ".each", powers_of_two(std::min(whole(decider.costs.thread_results), results)), 1);
  return decision;
}

// Where there is one result, one thread has it all.
void write_each_thread(Writer& writer, const EachThreadDecision& decision) {
  const Stage& stage = writer.stages.of(decision.compute);
  const Compute& compute = writer.compute(stage);
  const std::string& name = compute.output->name;
  if (decision.results.loops.empty()) return;
  const std::string innermost = write_loops_of_threads(writer, name, decision.results);
  if (compute.reduction == Reduction::none) return;
  if (stage.epilogue) {
    const Tensor& taken = writer.dag.computes[*stage.epilogue].output;
    writer.add(ReverseComputeAtStep{taken->name, name, innermost, Scope::registers});
  } else {
    writer.add(CacheWriteStep{name, name + ".acc", innermost, Scope::registers});
  }
}

}  // namespace lathe
