#include "space/rules/transform.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/walk.h"
#include "schedule/apply.h"
#include "space/rules/layouts.h"
#include "space/rules/parallel.h"
#include "space/rules/vectors.h"

namespace lathe {
namespace {

// The axis that memory has innermost already; else the one that fills the most lanes.
size_t preferred_vector_axis(const Decider& decider, const std::vector<size_t>& candidates,
                             const Compute& last, std::optional<size_t> group_axis) {
  const auto decided = decider.layouts.find(last.output->name);
  std::optional<size_t> best;
  for (size_t a : candidates) {
    if (group_axis && a == *group_axis) continue;
    if (decided != decider.layouts.end() && decided->second.dims.back().dim == static_cast<int>(a)) return a;
    const auto filled = [&](size_t axis) {
      return std::min<int64_t>(last.axes[axis].extent, decider.lanes());
    };
    if (!best || filled(a) >= filled(*best)) best = a;
  }
  return *best;
}

class ChainWriter {
 public:
  ChainWriter(Writer& writer, const ChainDecision& decision)
      : w_(writer),
        decision_(decision),
        chain_(decision.chain),
        axes_(axes_of_chain(writer.dag, writer.stages, chain_)) {}

  void write();

 private:
  const Stage& stage(size_t k) const { return w_.stages.of(chain_[k]); }
  const Compute& compute(size_t k) const { return w_.compute(stage(k)); }
  const std::string& block(size_t k) const { return compute(k).output->name; }
  std::string axis_name(size_t k, size_t a) const { return compute(k).axes[a].var.name(); }
  std::string write_outer_loops();
  std::vector<size_t> long_carried(size_t k) const;
  bool is_kept_in_registers(size_t k) const;
  std::string round_of(size_t k, const std::string& outer) const;
  std::string write_place(size_t k, const std::string& innermost, const std::string& next_round);
  void write_table_loops(size_t k, const std::string& vector_loop, const std::string& round);
  void write_results(size_t k, const std::string& at);
  void write_epilogue(const std::string& at);

  Writer& w_;
  const ChainDecision& decision_;
  const Chain& chain_;
  ChainAxes axes_;
};

// The loops outside of one vector of the last stage; gives the innermost of them.
std::string ChainWriter::write_outer_loops() {
  const size_t end = chain_.size() - 1;
  const std::string vector = axis_name(end, decision_.vector_axes[end]);
  const int64_t extent = compute(end).axes[decision_.vector_axes[end]].extent;
  OuterLoops loops;
  const auto add_loop = [&](size_t a) { loops.emplace_back(axis_name(end, a), compute(end).axes[a].extent); };
  if (decision_.group_axis) add_loop(*decision_.group_axis);
  for (size_t a : axes_.common[end]) {
    if (a != decision_.vector_axes[end] && a != decision_.group_axis) add_loop(a);
  }
  w_.add(SplitStep{block(end), vector, {w_.lanes()}});
  loops.emplace_back(vector + ".0", ceil_div(extent, w_.lanes()));
  ReorderStep order{block(end), {}};
  for (const auto& [name, count] : loops) order.loops.push_back(name);
  for (size_t a : axes_.carried[end]) order.loops.push_back(axis_name(end, a));
  order.loops.push_back(axis_name(end, axes_.table[end]));
  order.loops.push_back(compute(end).axes.back().var.name());
  order.loops.push_back(vector + ".1");
  w_.add(order);
  if (decision_.group_axis) return loops.back().first;
  const SharedLoops outer = share_loops(w_, loops);
  write_shared(w_, block(end), outer);
  return outer.names.back();
}

// Accumulators for every place of the table's axis, in each round, unless the next stage reads them there.
void ChainWriter::write_table_loops(size_t k, const std::string& vector_loop, const std::string& round) {
  const std::string table = axis_name(k, axes_.table[k]);
  const std::string reduced = compute(k).axes.back().var.name();
  if (!is_kept_in_registers(k)) write_results(k, round);
  w_.add(AnnotateStep{block(k), table, LoopKind::unrolled});
  w_.add(AnnotateStep{block(k), reduced, LoopKind::unrolled});
  w_.add(AnnotateStep{block(k), vector_loop, LoopKind::vectorized});
  w_.add(TailStep{block(k), axis_name(k, decision_.vector_axes[k]), Tail::mask});
}

void ChainWriter::write_results(size_t k, const std::string& at) {
  if (k + 1 == chain_.size() && stage(k).epilogue) {
    write_epilogue(at);
    return;
  }
  const std::string copy = block(k) + ".acc";
  const std::string table = axis_name(k, axes_.table[k]);
  const std::string vector = axis_name(k, decision_.vector_axes[k]);
  w_.add(CacheWriteStep{block(k), copy, at, Scope::registers});
  const std::string out = copy + ".out";
  w_.add(ReorderStep{out, {table, vector}});
  w_.add(AnnotateStep{out, table, LoopKind::unrolled});
  w_.add(AnnotateStep{out, vector, LoopKind::vectorized});
  w_.add(TailStep{out, vector, Tail::mask});
}

// The element-wise consumer takes the accumulators.
void ChainWriter::write_epilogue(const std::string& at) {
  const size_t end = chain_.size() - 1;
  const Compute& epilogue = w_.dag.computes[*stage(end).epilogue];
  const std::string& consumer = epilogue.output->name;
  w_.add(ReverseComputeAtStep{consumer, block(end), at, Scope::registers});
  for (const Load* load : loads_of(epilogue.body)) {
    if (load->tensor != compute(end).output) continue;
    const std::vector<std::string> loops = side_loop_names(load->index);
    w_.add(ReorderStep{consumer, {loops[axes_.table[end]], loops[decision_.vector_axes[end]]}});
    w_.add(AnnotateStep{consumer, loops[axes_.table[end]], LoopKind::unrolled});
    w_.add(AnnotateStep{consumer, loops[decision_.vector_axes[end]], LoopKind::vectorized});
    std::vector<Var> vars;
    collect_vars(load->index[decision_.vector_axes[end]], vars);
    w_.add(TailStep{consumer, vars.front().name(), Tail::mask});
    return;
  }
}

// The carried axes of more than one place.
std::vector<size_t> ChainWriter::long_carried(size_t k) const {
  std::vector<size_t> axes = axes_.carried[k];
  std::erase_if(axes, [&](size_t a) { return compute(k).axes[a].extent == 1; });
  return axes;
}

// Whether the next stage reads all that this one gives in one round of its loops, so that it needs no memory.
bool ChainWriter::is_kept_in_registers(size_t k) const {
  if (k + 1 == chain_.size()) return false;
  const std::vector<size_t> here = long_carried(k);
  const std::vector<size_t> next = long_carried(k + 1);
  return here.size() == next.size() && std::ranges::all_of(next, [&](size_t a) {
           const auto producer = axis_of_producer(w_.dag, stage(k + 1), a, chain_[k]);
           return producer && std::ranges::find(here, *producer) != here.end();
         });
}

// The loop in which a stage's results for one round of its table are made.
std::string ChainWriter::round_of(size_t k, const std::string& outer) const {
  return axes_.carried[k].empty() ? outer : axis_name(k, axes_.carried[k].back());
}

// Puts a stage below the loops of the last one; gives the loop of its rounds.
std::string ChainWriter::write_place(size_t k, const std::string& innermost, const std::string& next_round) {
  if (is_kept_in_registers(k)) {
    w_.add(ComputeAtStep{block(k), block(k + 1), next_round, Scope::registers});
  } else {
    w_.add(ComputeAtStep{block(k), block(chain_.size() - 1), innermost, Scope::thread});
  }
  ReorderStep order{block(k), {}};
  for (size_t a : axes_.common[k]) {
    if (a != decision_.vector_axes[k]) order.loops.push_back(axis_name(k, a));
  }
  const std::string outer = order.loops.empty() ? innermost : order.loops.back();
  for (size_t a : axes_.carried[k]) order.loops.push_back(axis_name(k, a));
  order.loops.push_back(axis_name(k, axes_.table[k]));
  order.loops.push_back(compute(k).axes.back().var.name());
  order.loops.push_back(axis_name(k, decision_.vector_axes[k]));
  w_.add(order);
  return round_of(k, outer);
}

void ChainWriter::write() {
  const size_t end = chain_.size() - 1;
  write_places(w_, decision_.places);
  const std::string innermost = write_outer_loops();
  std::vector<std::string> rounds(chain_.size());
  rounds[end] = round_of(end, innermost);
  for (size_t k = end; k-- > 0;) rounds[k] = write_place(k, innermost, rounds[k + 1]);
  for (size_t k = 0; k < end; ++k) write_table_loops(k, axis_name(k, decision_.vector_axes[k]), rounds[k]);
  write_table_loops(end, axis_name(end, decision_.vector_axes[end]) + ".1", rounds[end]);
}

}  // namespace

// What the stages read and write has the vector axis last.
ChainDecision decide_chain(Decider& decider, const Chain& chain, std::optional<size_t> group_axis) {
  ChainDecision decision{.chain = chain, .group_axis = group_axis};
  const std::vector<size_t> candidates = vector_axes(decider.dag, decider.stages, chain);
  if (candidates.empty()) {
    for (size_t k = chain.size(); k-- > 0;)
      decision.reductions.push_back(decide_reduction(decider, decider.stages.of(chain[k])));
    return decision;
  }
  const auto output = [&](size_t k) { return decider.dag.computes[chain[k]].output; };
  const size_t end = chain.size() - 1;
  std::vector<size_t>& axes = decision.vector_axes;
  axes.assign(chain.size(), 0);
  axes[end] = preferred_vector_axis(decider, candidates, decider.dag.computes[chain[end]], group_axis);
  for (size_t k = end; k-- > 0;)
    axes[k] = *axis_of_producer(decider.dag, decider.stages.of(chain[k + 1]), axes[k + 1], chain[k]);
  decide_vector_layouts(decider, decider.stages.of(chain[end]), axes[end]);
  for (size_t k = end; k-- > 0;) decider.set_layout(output(k), with_last(output(k), axes[k]));
  const Operand& source = decider.stages.of(chain[0]).operands[0];
  decider.set_layout(source.load->tensor,
                     with_last(source.load->tensor, static_cast<size_t>(source.digit_dim[axes[0]])));
  decision.places = decider.take_places();
  return decision;
}

void write_chain(Writer& writer, const ChainDecision& decision) {
  for (const ReductionDecision& reduction : decision.reductions) write_reduction(writer, reduction);
  if (decision.reductions.empty()) ChainWriter(writer, decision).write();
}

}  // namespace lathe
