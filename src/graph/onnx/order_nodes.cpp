#include "graph/onnx/order_nodes.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/onnx/bodies.h"
#include "graph/onnx/proto.h"

namespace lathe {

void order_nodes(onnx::GraphProto& graph) {
  const int count = graph.node_size();
  std::unordered_map<std::string, int> giver;
  for (int i = 0; i < count; ++i)
    for (const std::string& output : graph.node(i).output())
      if (!output.empty()) giver.emplace(output, i);
  std::vector<std::vector<int>> readers(static_cast<size_t>(count));
  std::vector<int> missing(static_cast<size_t>(count), 0);
  bool is_ordered = true;
  for (int i = 0; i < count; ++i) {
    for (const std::string& name : names_read(graph.node(i))) {
      const auto found = giver.find(name);
      if (found == giver.end() || found->second == i) continue;
      readers[static_cast<size_t>(found->second)].push_back(i);
      ++missing[static_cast<size_t>(i)];
      is_ordered = is_ordered && found->second < i;
    }
  }
  if (is_ordered) return;
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < count; ++i)
    if (missing[static_cast<size_t>(i)] == 0) ready.push(i);
  std::vector<int> order;
  while (!ready.empty()) {
    const int next = ready.top();
    ready.pop();
    order.push_back(next);
    for (const int reader : readers[static_cast<size_t>(next)])
      if (--missing[static_cast<size_t>(reader)] == 0) ready.push(reader);
  }
  if (order.size() < static_cast<size_t>(count)) return;
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  for (const int i : order) *nodes.Add() = std::move(*graph.mutable_node(i));
  graph.mutable_node()->Swap(&nodes);
}

}  // namespace lathe
