#include "network/keeps_zeros.h"

#include <algorithm>
#include <optional>

namespace lathe {
namespace {

bool is_any_product(const GraphOp& op) {
  return std::holds_alternative<MatMulOp>(op) || std::holds_alternative<GemmOp>(op) ||
         std::holds_alternative<EinsumOp>(op) || std::holds_alternative<ConvOp>(op);
}

class ZeroKeeper {
 public:
  explicit ZeroKeeper(const Graph& graph)
      : graph_(graph),
        producers_(producers_of(graph)),
        keeps_(graph.nodes.size()),
        is_met_(graph.tensors.size()) {}

  std::vector<bool> run() {
    for (const GraphNode& node : graph_.nodes) {
      const auto* const reduce = std::get_if<ReduceOp>(&node.op);
      if (std::holds_alternative<LpNormOp>(node.op)) go_back(node.inputs[0]);
      if (reduce == nullptr) continue;
      const ReduceFunction function = reduce->function;
      if (function == ReduceFunction::l1 || function == ReduceFunction::l2 ||
          function == ReduceFunction::sum_square)
        go_back(node.inputs[0]);
      if (function == ReduceFunction::sum) go_back_from_squares(node.inputs[0]);
    }
    return std::move(keeps_);
  }

 private:
  const GraphNode* producer_of(TensorId id) const {
    return producers_[id] < 0 ? nullptr : &graph_.nodes[static_cast<size_t>(producers_[id])];
  }

  // The only one of a node's operands that is no constant, however often it reads it.
  std::optional<TensorId> only_operand(const GraphNode& node) const {
    std::optional<TensorId> only;
    for (const TensorId id : node.inputs) {
      if (graph_.tensor(id).is_constant()) continue;
      if (only && *only != id) return std::nullopt;
      only = id;
    }
    return only;
  }

  // Of a sum of squares or magnitudes as exporters spell them: x * x, a power, an absolute value.
  void go_back_from_squares(TensorId summed) {
    const GraphNode* const square = producer_of(summed);
    if (square == nullptr) return;
    const auto* const map = std::get_if<MapOp>(&square->op);
    const bool is_power =
        map != nullptr && (map->function == MapFunction::abs || map->function == MapFunction::power);
    if (!is_power && !scales(*square)) return;
    if (const std::optional<TensorId> operand = only_operand(*square)) go_back(*operand);
  }

  void go_back(TensorId id) {
    const GraphNode* const node = producer_of(id);
    if (node == nullptr || is_met_[id]) return;
    is_met_[id] = true;
    const FusionRole role = role_of(node->op);
    if (is_any_product(node->op)) {
      keeps_[static_cast<size_t>(producers_[id])] = true;
    } else if (role == FusionRole::view || moves_elements(node->op) || scales(*node)) {
      for (const TensorId operand : node->inputs) go_back(operand);
    } else if (role == FusionRole::elementwise) {
      if (const std::optional<TensorId> operand = only_operand(*node)) go_back(*operand);
    }
  }

  static bool scales(const GraphNode& node) {
    const auto* const zip = std::get_if<ZipOp>(&node.op);
    return zip != nullptr && (zip->function == ZipFunction::mul || zip->function == ZipFunction::div);
  }

  const Graph& graph_;
  std::vector<int> producers_;
  std::vector<bool> keeps_;
  std::vector<bool> is_met_;
};

}  // namespace

std::vector<bool> products_that_keep_zeros(const Graph& graph) { return ZeroKeeper(graph).run(); }

}  // namespace lathe
