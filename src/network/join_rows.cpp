#include "network/join_rows.h"

#include <algorithm>
#include <optional>

namespace lathe {
namespace {

bool is_product(const GraphNode& node) {
  return std::holds_alternative<MatMulOp>(node.op) ||
         (std::holds_alternative<EinsumOp>(node.op) && node.inputs.size() == 2);
}

// Whether an element of the result depends on the operand's elements of the same row alone: those along the
// last axis.
bool combines_rows(const GraphOp& op, size_t rank) {
  const auto is_last = [&](const std::vector<size_t>& axes) {
    return axes.size() == 1 && axes.front() + 1 == rank;
  };
  if (const auto* softmax = std::get_if<SoftmaxOp>(&op)) return is_last(softmax->axes);
  if (const auto* norm = std::get_if<LayerNormOp>(&op)) return is_last({norm->axis});
  if (const auto* norm = std::get_if<LpNormOp>(&op)) return is_last({norm->axis});
  const auto* norm = std::get_if<MeanVarianceNormOp>(&op);
  return norm != nullptr && is_last(norm->axes);
}

class RowJoiner {
 public:
  RowJoiner(const Graph& graph, std::vector<FusedGroup> groups,
            const std::vector<std::optional<size_t>>& loops)
      : graph_(graph),
        loops_(loops),
        groups_(std::move(groups)),
        producers_(producers_of(graph)),
        consumers_(consumers_of(graph)),
        group_of_(graph.nodes.size()) {
    for (size_t g = 0; g < groups_.size(); ++g) {
      for (const size_t node : groups_[g].nodes) group_of_[node] = g;
    }
  }

  std::vector<FusedGroup> run() {
    for (size_t g = 0; g < groups_.size(); ++g) join_around(g);
    std::erase_if(groups_, [](const FusedGroup& group) { return group.nodes.empty(); });
    return std::move(groups_);
  }

 private:
  const GraphNode& anchor_of(const FusedGroup& group) const { return graph_.nodes[group.anchors.front()]; }

  // The group whose anchor alone reads what this one gives, if it is in floats and nobody else sees it.
  std::optional<size_t> only_reader(size_t group) const {
    const TensorId result = graph_.nodes[groups_[group].nodes.back()].output;
    const std::vector<size_t>& readers = consumers_[result];
    if (readers.size() != 1 || is_output(graph_, result) || !is_float(graph_.tensors[result].type.dtype))
      return std::nullopt;
    const GraphNode& reader = graph_.nodes[readers.front()];
    const bool is_operand = std::ranges::count(reader.inputs, result) == 1 && reader.inputs[0] == result;
    const std::optional<size_t> found = group_of_[readers.front()];
    const bool is_anchor = found && groups_[*found].anchors.front() == readers.front();
    const bool is_in_loop = loops_[groups_[group].anchors.front()] == loops_[readers.front()];
    return is_operand && is_anchor && is_in_loop ? found : std::nullopt;
  }

  // Its rows are those of its anchor's result.
  bool keeps_rows(const FusedGroup& group) const {
    return std::ranges::none_of(
        group.nodes, [&](size_t node) { return std::holds_alternative<TransposeOp>(graph_.nodes[node].op); });
  }

  // Joins the products before and behind this group, where there are both.
  void join_around(size_t middle) {
    if (groups_[middle].nodes.empty()) return;
    const GraphNode& combining = anchor_of(groups_[middle]);
    const size_t rank = graph_.tensors[combining.output].type.shape.size();
    const int producer = producers_[combining.inputs[0]];
    if (!combines_rows(combining.op, rank) || producer < 0) return;
    const std::optional<size_t> first = group_of_[static_cast<size_t>(producer)];
    const std::optional<size_t> last = only_reader(middle);
    if (!first || !last || only_reader(*first) != middle || groups_[*first].anchors.size() > 1) return;
    if (!is_product(anchor_of(groups_[*first])) || !is_product(anchor_of(groups_[*last]))) return;
    if (!keeps_rows(groups_[*first]) || !keeps_rows(groups_[middle])) return;
    join({*first, middle, *last});
  }

  void join(const std::vector<size_t>& parts) {
    FusedGroup joined;
    joined.begins.clear();
    for (const size_t part : parts) {
      FusedGroup& group = groups_[part];
      joined.begins.push_back(joined.nodes.size());
      joined.nodes.insert(joined.nodes.end(), group.nodes.begin(), group.nodes.end());
      joined.anchors.insert(joined.anchors.end(), group.anchors.begin(), group.anchors.end());
      for (const size_t node : group.nodes) group_of_[node] = parts.back();
      group = {};
    }
    groups_[parts.back()] = std::move(joined);
  }

  const Graph& graph_;
  const std::vector<std::optional<size_t>>& loops_;
  std::vector<FusedGroup> groups_;
  std::vector<int> producers_;
  std::vector<std::vector<size_t>> consumers_;
  std::vector<std::optional<size_t>> group_of_;  // of each node; a view belongs to none
};

}  // namespace

std::vector<FusedGroup> join_rows(const Graph& graph, std::vector<FusedGroup> groups,
                                  const std::vector<std::optional<size_t>>& loops) {
  return RowJoiner(graph, std::move(groups), loops).run();
}

}  // namespace lathe
