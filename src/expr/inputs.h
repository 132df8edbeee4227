// Which inputs and outputs a list of computes implies: what a text that does not declare them means. Printing
// leaves out what reading would infer, so both ask here.
#pragma once

#include <optional>
#include <vector>

#include "expr/dag.h"

namespace lathe {

// The values that a compute's axes take.
Ranges ranges_of(const Compute& compute);

// A tensor that is read before any compute gives it, with the shape that the largest index implies. A
// dimension is empty where no bound is known, such as for an indirect index.
struct ImpliedInput {
  Tensor tensor;
  std::vector<std::optional<int64_t>> shape;
};
// In order of first use; tables known at compile time are no inputs.
std::vector<ImpliedInput> implied_inputs(const std::vector<Compute>& computes);
// The computes that no compute reads, in order.
std::vector<Tensor> implied_outputs(const std::vector<Compute>& computes);

bool inputs_are_implied(const Dag& dag);
bool outputs_are_implied(const Dag& dag);

}  // namespace lathe
