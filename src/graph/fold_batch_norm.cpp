// A pass of graph/simplify.h.
#include <algorithm>
#include <cmath>

#include "graph/simplify.h"

namespace lathe {

namespace {

std::vector<double> read(const Graph& graph, TensorId id) { return values_of(graph.tensors[id]); }

bool all_constant(const Graph& graph, const GraphNode& node) {
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                     [&](TensorId id) { return graph.tensors[id].is_constant(); });
}

// A constant beside those that are there; the base of its name is unique as `like` is.
TensorId add_constant(Graph& graph, const std::string& like, TensorType type,
                      const std::vector<double>& values) {
  std::string name = like + ".folded";
  const auto taken = [&](const GraphTensor& tensor) { return tensor.name == name; };
  while (std::any_of(graph.tensors.begin(), graph.tensors.end(), taken)) name += "'";
  auto data = to_bytes(type.dtype, values);
  graph.tensors.push_back({name, std::move(type), std::move(data)});
  return graph.tensors.size() - 1;
}

bool is_convolution(const GraphNode& node) {
  return std::holds_alternative<ConvOp>(node.op) || std::holds_alternative<ConvTransposeOp>(node.op);
}

// The map of a weight by its place, row-major: the maps are the weight's first dimension; or, of a transposed
// convolution, those of the channel's group the second.
struct MapOfWeight {
  int64_t row = 1;       // weights of one map side by side
  int64_t maps = 1;      // of a group
  int64_t channels = 1;  // of a group

  MapOfWeight(const GraphNode& conv, const Shape& weight) {
    const auto* transposed = std::get_if<ConvTransposeOp>(&conv.op);
    maps = weight[transposed == nullptr ? 0 : 1];
    if (transposed != nullptr) channels = weight[0] / transposed->groups;
    row = elements_of(weight) / weight[0] / (transposed == nullptr ? 1 : maps);
  }
  size_t operator()(size_t place) const {
    const int64_t at = static_cast<int64_t>(place) / row;
    return static_cast<size_t>(at / maps / channels * maps + at % maps);
  }
};

// conv: w * x + b; after normalising: w * s * x + (b - mean) * s + bias, with s = scale / sqrt(variance +
// epsilon).
void fold_into(Graph& graph, GraphNode& conv, const GraphNode& norm) {
  const std::vector<double> scale = read(graph, norm.inputs[1]), bias = read(graph, norm.inputs[2]);
  const std::vector<double> mean = read(graph, norm.inputs[3]), variance = read(graph, norm.inputs[4]);
  const double epsilon = std::get<BatchNormOp>(norm.op).epsilon;
  std::vector<double> weights = read(graph, conv.inputs[1]);
  std::vector<double> biases(scale.size(), 0);
  if (conv.inputs.size() > 2) biases = read(graph, conv.inputs[2]);
  std::vector<double> factors;
  for (size_t m = 0; m < scale.size(); ++m) {
    factors.push_back(scale[m] / std::sqrt(variance[m] + epsilon));
    biases[m] = (biases[m] - mean[m]) * factors[m] + bias[m];
  }
  const MapOfWeight map_of(conv, graph.tensors[conv.inputs[1]].type.shape);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] *= factors[map_of(i)];
  const GraphTensor weight = graph.tensors[conv.inputs[1]];
  const GraphTensor shift = graph.tensors[norm.inputs[2]];
  conv.inputs.resize(2);
  conv.inputs[1] = add_constant(graph, weight.name, weight.type, weights);
  conv.inputs.push_back(add_constant(graph, shift.name, shift.type, biases));
  conv.output = norm.output;
}

}  // namespace

Graph fold_batch_norms(const Graph& graph) {
  Graph result = graph;
  const std::vector<std::vector<size_t>> consumers = consumers_of(graph);
  std::vector<int> producers = producers_of(graph);
  std::vector<bool> folded(graph.nodes.size(), false);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const GraphNode& norm = graph.nodes[n];
    if (!std::holds_alternative<BatchNormOp>(norm.op)) continue;
    const int before = producers[norm.inputs[0]];
    if (before < 0 || !is_convolution(graph.nodes[static_cast<size_t>(before)])) continue;
    if (consumers[norm.inputs[0]].size() > 1 || is_output(graph, norm.inputs[0])) continue;
    GraphNode& conv = result.nodes[static_cast<size_t>(before)];
    if (!all_constant(graph, norm) || !all_constant(result, conv)) continue;
    fold_into(result, conv, norm);
    producers[norm.output] = before;  // so that a second one behind it is folded too
    folded[n] = true;
  }
  size_t n = 0;
  std::erase_if(result.nodes, [&](const GraphNode&) { return folded[n++]; });
  return result;
}

}  // namespace lathe
