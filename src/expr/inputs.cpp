#include "expr/inputs.h"

#include <algorithm>

#include "expr/reads.h"
#include "expr/walk.h"

namespace lathe {
namespace {

void widen(std::optional<int64_t>& extent, const Reach& reach) {
  if (!reach.hi) {
    extent.reset();
  } else if (extent) {
    extent = std::max(*extent, *reach.hi + 1);
  }
}

std::vector<Tensor> read_inside_indices(const Dag& dag) {
  std::vector<Tensor> tensors;
  for (const Compute& compute : dag.computes) {
    for (const Load* load : loads_of(compute.body)) {
      for (const Affine& index : load->index) {
        for (const Load* inner : loads_of(Expr(index))) tensors.push_back(inner->tensor);
      }
    }
  }
  return tensors;
}

}  // namespace

Ranges ranges_of(const Compute& compute) {
  Ranges ranges;
  for (const Axis& axis : compute.axes) ranges.set_extent(axis.var, axis.extent);
  return ranges;
}

std::vector<ImpliedInput> implied_inputs(const std::vector<Compute>& computes) {
  std::vector<ImpliedInput> inputs;
  std::vector<Tensor> produced;
  for (const Compute& compute : computes) {
    const Ranges ranges = ranges_of(compute);
    for (const Read& read : reads_of(compute.body)) {
      const Tensor& tensor = read.load->tensor;
      if (!tensor->literal.empty() || std::ranges::find(produced, tensor) != produced.end()) continue;
      auto input = std::ranges::find(inputs, tensor, &ImpliedInput::tensor);
      if (input == inputs.end()) {
        input = inputs.insert(inputs.end(), {tensor, {}});
        input->shape.assign(read.load->index.size(), 0);
      }
      const size_t rank = std::min(input->shape.size(), read.load->index.size());
      for (size_t d = 0; d < rank; ++d) {
        widen(input->shape[d], reach_of(read.load->index[d], ranges, read.facts));
      }
    }
    produced.push_back(compute.output);
  }
  return inputs;
}

std::vector<Tensor> implied_outputs(const std::vector<Compute>& computes) {
  std::vector<Tensor> read;
  for (const Compute& compute : computes) {
    for (const Load* load : loads_of(compute.body)) read.push_back(load->tensor);
  }
  std::vector<Tensor> outputs;
  for (const Compute& compute : computes) {
    if (std::ranges::find(read, compute.output) == read.end()) outputs.push_back(compute.output);
  }
  return outputs;
}

bool inputs_are_implied(const Dag& dag) {
  const std::vector<ImpliedInput> implied = implied_inputs(dag.computes);
  const std::vector<Tensor> indices = read_inside_indices(dag);
  return std::ranges::equal(dag.inputs, implied, [&](const Tensor& input, const ImpliedInput& guess) {
    const auto same = [](int64_t extent, std::optional<int64_t> inferred) { return inferred == extent; };
    // What is first met inside an index is taken for i32.
    const bool is_index = std::ranges::find(indices, input) != indices.end();
    return input == guess.tensor && input->dtype == DType::f32 && !is_index &&
           std::ranges::equal(input->shape, guess.shape, same);
  });
}

bool outputs_are_implied(const Dag& dag) { return dag.outputs == implied_outputs(dag.computes); }

}  // namespace lathe
