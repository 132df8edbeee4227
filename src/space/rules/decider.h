// What the rules work on. A rule is two functions: `decide` asks the chooser for what is open of a stage and
// gives all that the stage is to be as a value; `write` appends the steps of such a value, and asks nothing.
// Stages are decided from the outputs to the inputs, so that a consumer decides the layout in which it wants
// its operands before their producers are decided. Rules speak of loops and operands only; none knows an
// operator's name. Which rule has a stage follows from its role: on processors
// space/lathe/sketch_decision.cpp, on GPUs space/lathe/gpu/derive_gpu.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/classify.h"
#include "schedule/trace.h"
#include "space/chooser.h"

namespace lathe {

// What is known of a sketch before anything is decided.
struct Analysis {
  const Task& task;
  const Dag& dag;  // after rewrites and inlining
  const Classified& stages;
  const CostConstants& costs;

  const Compute& compute(const Stage& stage) const { return dag.computes[stage.compute]; }
  int lanes() const { return stages.lanes; }
  bool is_intermediate(const Tensor& tensor) const;
};

// The loop of a stage in which each iteration takes one block of rows through all that is done there.
struct RowLoop {
  std::string loop;
  bool reads_beyond = false;  // rows beyond the last, for which only what the program itself makes has room
  bool adds_groups = false;   // of terms, by an intrinsic: they have to lie side by side in what it reads
};

// What a rule decides of where tensors lie: LayoutSteps, and CacheReadSteps for copies that one block reads.
using Places = Trace;

// A sketch while it is decided.
struct Decider : Analysis {
  Chooser& choose;
  std::map<std::string, Layout> layouts = {};      // of tensors whose layout a rule has decided
  std::map<std::string, std::string> copies = {};  // of tensors, by the copies' names
  // Of products that stand alone, and of stages that choose what they read at run time: what they read may be
  // made there.
  std::map<std::string, RowLoop> row_loops = {};
  Places places = {};  // those that no stage's decision has taken yet
  // Why the answers do not go together. Deciding goes on, since a declaring run must meet every question.
  std::optional<Error> violation = {};

  // Whether a tensor's layout may be decided: an intermediate's, or that of an argument whose layout is free,
  // and no layout is decided yet.
  bool is_open(const Tensor& tensor) const;
  // Decides a tensor's layout where it is open.
  void set_layout(const Tensor& tensor, const Layout& layout);
  // The layout of a tensor as decided so far.
  Layout layout_of(const Tensor& tensor) const;
  // A copy of a constant, made at load time, or of another tensor, made in every call; gives its name: blocks
  // that read the same tensor pack it each for itself. The copy may have another type.
  std::string set_copy(const Tensor& tensor, bool is_constant, const std::string& block, const Layout& layout,
                       std::optional<DType> type = {});
  // The name of a new copy of that tensor, which the block reads.
  std::string name_copy(const Tensor& tensor, const std::string& block);
  // The places that were decided since they were last taken.
  Places take_places() { return std::exchange(places, {}); }
};

// A sketch's trace in the making.
struct Writer : Analysis {
  Trace trace = {};

  template <class Step>
  void add(Step step) {
    trace.emplace_back(std::move(step));
  }
};

// Copies that are made in every call are shared out among the cores.
void write_places(Writer& writer, const Places& places);

}  // namespace lathe
