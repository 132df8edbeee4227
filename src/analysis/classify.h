// What each compute of a Dag is to a schedule, by its loops and accesses alone.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/cost_constants.h"
#include "task/task.h"

namespace lathe {

enum class Role : uint8_t {
  inlined,    // a change of view, or element-wise before an element-wise consumer: goes into its consumers
  prepared,   // reads constants only: computed once at load time
  pointwise,  // no reduction, kept as a stage of its own (padding, transposes, outputs)
  reduction,  // reduces without reuse of operands: softmax's sums, pooling, norms
  transform,  // adds up a few elements, each times an entry of a table of literals: a step of Winograd's way
  product,    // reduces over products whose operands are reused: matmul, convolution
};

// How a load varies with the axes of its compute; axes of one place count as if they were not there.
struct Operand {
  const Load* load = nullptr;
  bool is_constant = false;  // an argument that may be transformed beforehand
  bool is_prepared = false;  // computed of constants alone at load time, in whatever layout
  std::vector<bool> uses;    // per axis
  // Per axis, the only dimension that it moves in or -1: one indexed by it alone; one where it moves an
  // element a step; one in whose index it is the lowest digit (index mod its extent), with or without more.
  std::vector<int> dim_of_axis;
  std::vector<int> step_dim;
  std::vector<int> digit_dim;
};

struct Stage {
  size_t compute = 0;  // index into the Dag's computes
  Role role = Role::pointwise;
  int lanes = 1;                   // elements of the widest type that it computes in, in a vector
  std::vector<Operand> operands;   // of tensors with elements (no literal tables)
  std::optional<size_t> epilogue;  // the stage that takes this one's result point by point (an element-wise
                                   // consumer, the only one), if fusing it is possible
};

struct Classified {
  std::vector<Stage> stages;  // one a compute, same order
  int lanes = 1;  // the least of any: of the vectors of programs that have several stages in a loop

  const Stage& of(size_t compute) const { return stages[compute]; }
};

// `stored`: names of computes that are to be stages of their own even where they only move elements.
Classified classify(const Task& task, const Dag& dag, const std::set<std::string>& stored = {},
                    const CostConstants& costs = {});

// The first compute whose role is `inlined`, if any.
std::optional<size_t> first_inlined(const Task& task, const Dag& dag,
                                    const std::set<std::string>& stored = {},
                                    const CostConstants& costs = {});

// The Dag with one compute's body put into its consumers, as the step `inline` does it on the loops.
Dag inline_compute(const Dag& dag, size_t compute);

// The operands of a compute's body.
std::vector<Operand> operands_of(const Task& task, const Compute& compute);

}  // namespace lathe
