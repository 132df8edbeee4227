// A pass of graph/simplify.h.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "graph/rewriting.h"
#include "graph/simplify.h"

namespace lathe {
namespace {

// How many neighbours an instruction multiplies.
constexpr int64_t kGroup = 4;
// Of fewer channels a rest of three terms, each by itself, takes as long as the full groups.
constexpr int64_t kMostFilled = 4 * kGroup;

bool is_narrow(DType dtype) { return dtype == DType::u8 || dtype == DType::i8; }

class IntegerConvolutions : Rewriting {
 public:
  explicit IntegerConvolutions(const Graph& graph) : Rewriting(graph), consumers_(consumers_of(graph)) {}

  Graph run() {
    for (const GraphNode& node : graph_.nodes) {
      const auto* conv = std::get_if<ConvOp>(&node.op);
      if (conv != nullptr && is_narrow_product(node)) {
        if (!add_in_f32(*conv, node) && !fill_groups(*conv, node)) result_.nodes.push_back(node);
        continue;
      }
      result_.nodes.push_back(node);
      if (node.inputs.empty() || !in_f32_.contains(node.inputs[0])) continue;
      result_.nodes.back().op = IdentityOp{};
      result_.nodes.back().inputs = {in_f32_.at(node.inputs[0])};
    }
    return std::move(result_);
  }

 private:
  bool is_narrow_product(const GraphNode& node) const {
    return is_narrow(type_of(node.inputs[0]).dtype) && is_narrow(type_of(node.inputs[1]).dtype);
  }

  // Sums that are read as numbers of f32 alone.
  bool add_in_f32(ConvOp conv, const GraphNode& node) {
    const Shape& weight = type_of(node.inputs[1]).shape;
    const auto is_real = [&](size_t reader) {
      const auto* cast = std::get_if<CastOp>(&graph_.nodes[reader].op);
      return cast != nullptr && cast->to == DType::f32;
    };
    if (weight[1] != 1 || is_output(graph_, node.output)) return false;
    if (!std::ranges::all_of(consumers_[node.output], is_real)) return false;
    std::vector<TensorId> reads{node.inputs[0], node.inputs[1]};
    std::vector<double> bias;
    if (node.inputs.size() > 2) {
      const GraphTensor& sums = graph_.tensors[node.inputs[2]];
      if (!sums.is_constant()) return false;
      bias = values_of(sums);
    }
    double most = 0;
    for (const double value : bias) most = std::max(most, std::abs(value));
    if (!fits_f32(elements_of(weight) / weight[0], most)) return false;
    if (!bias.empty()) reads.push_back(constant(node.name, DType::f32, {weight[0]}, bias));
    conv.sums_in_f32 = true;
    in_f32_[node.output] = add(node, conv, reads);
    return true;
  }

  bool fill_groups(const ConvOp& conv, const GraphNode& node) {
    const GraphTensor& weight = graph_.tensors[node.inputs[1]];
    const int64_t channels = weight.type.shape[1], rest = channels % kGroup;
    const bool is_short = 1 < channels && channels < kMostFilled && rest != 0;
    if (conv.groups != 1 || !is_short || !weight.is_constant()) return false;
    PadOp pad = pads_of(conv);
    pad.after[1] = kGroup - rest;
    Shape shape = weight.type.shape;
    shape[1] += kGroup - rest;
    const std::vector<double> values = values_of(weight);
    std::vector<double> filled(static_cast<size_t>(elements_of(shape)));
    const size_t of_map = values.size() / static_cast<size_t>(shape[0]);
    const size_t of_filled = filled.size() / static_cast<size_t>(shape[0]);
    for (size_t i = 0; i < values.size(); ++i) filled[i / of_map * of_filled + i % of_map] = values[i];
    std::vector<TensorId> reads = node.inputs;
    reads[0] = add(node, pad, {node.inputs[0]});
    reads[1] = constant(node.name, weight.type.dtype, shape, filled);
    add(node, unpadded(conv), reads);
    finish(node);
    return true;
  }

  std::vector<std::vector<size_t>> consumers_;
  std::map<TensorId, TensorId> in_f32_;  // of sums of i32 those of f32
};

}  // namespace

Graph integer_convolutions(const Graph& graph) { return IntegerConvolutions(graph).run(); }

}  // namespace lathe
