// A network as distinct tasks and their uses: what is tuned once, how often it counts, and which tensors of
// the graph each run of it reads and writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "expr/dag.h"
#include "graph/graph.h"
#include "network/place_steps.h"
#include "task/layout.h"

namespace lathe {

struct NetworkTask {
  std::string name;  // the anchor of the first group that it stands for; for people
  Dag dag;
  std::vector<std::string>
      constants;       // inputs of the Dag that may be transformed beforehand: for `make_task`
  int64_t weight = 0;  // how often it runs: its uses, each as often as the loops around it have steps
};

// One kernel call of the network.
struct TaskUse {
  size_t task = 0;   // index into Partition::tasks
  std::string name;  // the anchor's node
  // The tensors whose storage is bound to the Dag's inputs, then to its outputs. A view's storage is its
  // operand's, so the tensor may have another shape, and more elements where it is a part of it.
  std::vector<TensorId> arguments;
  std::vector<Layout> layouts;              // in which the Dag's inputs and outputs lie there
  std::vector<std::string> operators = {};  // of the nodes that it computes, in their order: "Conv", "Relu"
  std::optional<size_t> loop = {};          // the innermost one that it stands in, of Partition::loops
  bool keeps_zeros = false;                 // by network/keeps_zeros.h
};

struct Partition {
  std::vector<NetworkTask> tasks;  // no two with equal structure and roles, whatever their names
  std::vector<TaskUse> uses;       // in an order in which they can run
  std::vector<TensorId> outputs;   // the storage of each graph output, in their order; no two are the same
  std::vector<LoopOfUses> loops = {};
};

// Plans the layouts of the graph (simplify it first), fuses and lowers it. An Error names the node that does
// not become a Dag, or the loop that is not settled.
Result<Partition> partition(const Graph& graph);

// How often a use runs: the steps of the loops around it. One that the run itself ends is taken to have one.
int64_t runs_of(const Partition& partition, const TaskUse& use);

// Where the tensors between the uses lie: those that are neither the caller's (inputs, outputs) nor
// constants.
struct ActivationPlan {
  std::vector<int64_t>
      offsets;        // for each tensor of the graph, bytes from the arena's start; -1: not in the arena
  int64_t bytes = 0;  // the arena's size, a multiple of 64
};

// Shares the arena by liveness; step n is use n, and what a loop needs from outside, or from step to step,
// lives as long as all its uses. A tensor that moves with the steps of a loop lies in what it moves through.
// Row-major storage without padding.
ActivationPlan plan_activations(const Graph& graph, const Partition& partition);

}  // namespace lathe
