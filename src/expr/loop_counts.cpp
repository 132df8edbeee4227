#include "expr/loop_counts.h"

#include <algorithm>

#include "expr/walk.h"

namespace lathe {
namespace {

int distinct_inputs(const Compute& compute) {
  std::vector<Tensor> read;
  for (const Load* load : loads_of(compute.body)) {
    const bool counts = load->tensor->literal.empty() && std::ranges::find(read, load->tensor) == read.end();
    if (counts) read.push_back(load->tensor);
  }
  return static_cast<int>(read.size());
}

}  // namespace

DagAnalysis analyse(const Dag& dag) {
  DagAnalysis analysis;
  for (const Compute& compute : dag.computes) {
    NodeAnalysis node;
    node.name = compute.output->name;
    for (const Axis& axis : compute.axes) {
      node.order.push_back(axis.var.name());
      (axis.kind == AxisKind::spatial ? node.spatial_trip_counts : node.reduce_trip_counts)
          .push_back(axis.extent);
    }
    node.inputs = distinct_inputs(compute);
    node.consumers = static_cast<int>(dag.consumers(compute.output).size());
    analysis.spatial_loops += node.spatial_loops();
    analysis.reduce_loops += node.reduce_loops();
    analysis.nodes.push_back(std::move(node));
  }
  return analysis;
}

double points_of(const Compute& compute) {
  double points = 1;
  for (const Axis& axis : compute.axes) points *= static_cast<double>(axis.extent);
  return points;
}

}  // namespace lathe
