#include "space/ansor/node_facts.h"

#include <algorithm>
#include <limits>

#include "expr/walk.h"
#include "loop/region.h"

namespace lathe {
namespace {

int64_t times(int64_t a, int64_t b) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return a > kMost / b ? kMost : a * b;
}

// How many spatial axes the read leaves out.
int64_t axes_left_out(const Compute& compute, const Load& load) {
  int64_t count = 0;
  for (size_t a = 0; a < compute.spatial_count(); ++a) {
    const Axis& axis = compute.axes[a];
    const bool is_used =
        std::ranges::any_of(load.index, [&](const Affine& index) { return index.uses(axis.var); });
    if (axis.extent > 1 && !is_used) ++count;
  }
  return count;
}

// Each dimension is one of the axes, a constant apart, or always the same, and the axes come in their order.
bool keeps_order(const Compute& compute, const Load& load) {
  size_t next = 0;
  for (const Affine& index : load.index) {
    if (index.is_constant()) continue;
    while (next < compute.axes.size() && !(index - Affine(compute.axes[next].var)).is_constant()) ++next;
    if (next++ == compute.axes.size()) return false;
  }
  return true;
}

bool is_cheap_and_straight(const Expr& body) {
  bool result = true;
  for_each(body, [&](const Expr& e) {
    const Unary* unary = e.as<Unary>();
    const Binary* binary = e.as<Binary>();
    const bool is_cheap_unary = unary == nullptr || unary->op == UnaryOp::negate ||
                                unary->op == UnaryOp::abs || unary->op == UnaryOp::floor ||
                                unary->op == UnaryOp::ceil || unary->op == UnaryOp::round ||
                                unary->op == UnaryOp::truncate || unary->op == UnaryOp::logical_not;
    const bool is_power = binary != nullptr && binary->op == BinaryOp::pow;
    if (!is_cheap_unary || is_power || e.as<Select>() != nullptr) result = false;
  });
  return result;
}

bool reads_point_for_point(const Compute& consumer, const Tensor& tensor) {
  if (consumer.output->shape != tensor->shape) return false;
  return std::ranges::all_of(loads_of(consumer.body), [&](const Load* load) {
    if (load->tensor != tensor) return true;
    for (size_t d = 0; d < load->index.size(); ++d) {
      if (load->index[d] != Affine(consumer.axes[d].var)) return false;
    }
    return true;
  });
}

bool all_is_made_before(const Dag& dag, const Compute& consumer, size_t node) {
  return std::ranges::all_of(loads_of(consumer.body), [&](const Load* load) {
    const auto producer = std::ranges::find(dag.computes, load->tensor, &Compute::output);
    return producer == dag.computes.end() || static_cast<size_t>(producer - dag.computes.begin()) <= node;
  });
}

}  // namespace

IterationCounts iteration_counts(const Compute& compute) {
  IterationCounts counts;
  for (const Axis& axis : compute.axes) {
    int64_t& count = axis.kind == AxisKind::spatial ? counts.spatial : counts.reduce;
    count = times(count, axis.extent);
  }
  return counts;
}

bool needs_tiling(const Compute& compute) {
  const bool reduces = compute.reduction != Reduction::none;
  bool leaves_out = false;
  for (const Load* load : loads_of(compute.body)) {
    if (!load->tensor->literal.empty()) continue;
    const int64_t count = axes_left_out(compute, *load);
    if (!reduces && count == 0) return false;
    leaves_out = leaves_out || count >= (reduces ? 1 : 2);
  }
  return leaves_out;
}

bool may_be_inlined(const Dag& dag, size_t node, const CostConstants& costs) {
  const Compute& compute = dag.computes[node];
  if (compute.reduction != Reduction::none || dag.is_output(compute.output)) return false;
  for (const size_t consumer : dag.consumers(compute.output)) {
    size_t reads = 0;
    for (const Load* load : loads_of(dag.computes[consumer].body)) {
      if (load->tensor != compute.output) continue;
      ++reads;
      if (std::ranges::any_of(load->index, depends_on_values)) return false;
    }
    if (reads > 1 && static_cast<int64_t>(reads * size_of(compute.body)) > whole(costs.largest_inlined))
      return false;
  }
  return true;
}

bool is_strictly_inlinable(const Dag& dag, size_t node, const CostConstants& costs) {
  const Compute& compute = dag.computes[node];
  return may_be_inlined(dag, node, costs) && is_cheap_and_straight(compute.body) &&
         std::ranges::all_of(loads_of(compute.body),
                             [&](const Load* load) { return keeps_order(compute, *load); });
}

std::optional<size_t> elementwise_consumer(const Dag& dag, size_t node) {
  const Tensor& output = dag.computes[node].output;
  const std::vector<size_t> consumers = dag.consumers(output);
  if (consumers.size() != 1 || dag.is_output(output)) return std::nullopt;
  const Compute& consumer = dag.computes[consumers[0]];
  if (consumer.reduction != Reduction::none || !reads_point_for_point(consumer, output) ||
      !all_is_made_before(dag, consumer, node))
    return std::nullopt;
  return consumers[0];
}

bool has_parts_for_cores(const Compute& compute, int64_t cores) {
  if (compute.reduction == Reduction::none) return false;
  const auto [spatial, reduce] = iteration_counts(compute);
  return needs_tiling(compute) ? spatial <= reduce && spatial <= 16 * cores : reduce > cores;
}

}  // namespace lathe
