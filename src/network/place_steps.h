// The loops of a network among its uses, and where the tensors at their borders lie: in which memory, at
// which step. What a loop takes apart or stacks lies in the whole, further on by a row with each step. A
// state that is stacked as well is read where the step before put it; any other alternates between two
// buffers. So nothing is copied, and the first step reads what a state begins with where that is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/loops.h"
#include "network/plan_layouts.h"

namespace lathe {

// In the storage of a tensor that many bytes on, in step n by n strides more.
struct StepPlace {
  TensorId base = 0;
  int64_t offset = 0;
  int64_t stride = 0;

  bool operator==(const StepPlace&) const = default;
};

// A tensor whose storage moves with the steps of a loop: `first` in step 0, then in even and odd ones.
struct MovingTensor {
  TensorId tensor = 0;
  StepPlace first;
  StepPlace even;
  StepPlace odd;

  const StepPlace& at(int64_t step) const { return step == 0 ? first : step % 2 == 0 ? even : odd; }
};

struct LoopOfUses {
  std::string name;
  int64_t steps = 1;             // at most
  std::optional<size_t> parent;  // among the loops
  size_t first_use = 0;          // of its body, inner loops' included
  size_t use_count = 0;
  std::vector<MovingTensor>
      moving;                      // set before each step; storages of tensors that loops around it may move
  std::vector<MovingTensor> last;  // set behind the last step n, as for a step n
  std::vector<TensorId> kept;      // storages that hold something from step to step
  struct Condition {
    TensorId begins = 0;   // one bool: whether there is a step at all
    TensorId goes_on = 0;  // one bool, read behind each step
  };
  std::optional<Condition> condition = {};
};

// Whether the storage holds something from step to step of the loop. Any other that the loop's tensors move
// through may itself move with the steps of a loop around it.
bool keeps(const LoopOfUses& loop, TensorId storage);

// Without places among the uses. An Error unless the graph's loops are settled (graph/simplify.h).
Result<std::vector<LoopOfUses>> place_steps(const Graph& graph, const LoopNest& nest, const LayoutPlan& plan);

}  // namespace lathe
