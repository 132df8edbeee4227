#include "network/plan_layouts.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <type_traits>

namespace lathe {
namespace {

using Axes = std::vector<size_t>;

constexpr size_t kChannelAxis = 1;

// Whether an operator works as fast whichever axis lies innermost: what is moved or padded, and reductions,
// whose vectors run along what is kept where that lies innermost.
template <class Op>
constexpr bool takes_any() {
  constexpr bool kIsEither = std::is_same_v<Op, PadOp> || std::is_same_v<Op, ReduceOp>;
  return Op::kRole != FusionRole::anchor || requires { Op::kMovesElements; } || kIsEither;
}

// The axis that an operator wants innermost of an operand or result of that rank; none where it takes any.
std::optional<size_t> wanted_axis(const GraphOp& op, size_t rank) {
  return std::visit(
      [&]<class Op>(const Op&) -> std::optional<size_t> {
        if (rank == 0) return std::nullopt;
        if constexpr (requires { Op::kHasChannels; }) {
          return std::min(kChannelAxis, rank - 1);
        } else if constexpr (takes_any<Op>()) {
          return std::nullopt;
        } else {
          return rank - 1;
        }
      },
      op);
}

Axes in_order(size_t rank) {
  Axes axes(rank);
  std::iota(axes.begin(), axes.end(), size_t{0});
  return axes;
}

// For each axis of the result of a node that only moves an operand of the same rank, the operand's axis.
Axes source_axes(const GraphNode& node, size_t rank) {
  if (const auto* transpose = std::get_if<TransposeOp>(&node.op)) return transpose->order;
  return in_order(rank);
}

// Whether a tensor's first elements, in the order of memory, are taken: such a part is where they lie.
bool is_first_part(const GraphNode& node) {
  const auto* slice = std::get_if<SliceOp>(&node.op);
  return slice != nullptr && slice->starts == Shape{0} && slice->steps == Shape{1};
}

// Tensors that lie in one storage, or would if one of them were written there: their axes are those of the
// first of them, in other orders.
struct Family {
  std::optional<Axes> order;     // of the first tensor's axes, outermost first, where it is given
  std::optional<size_t> wanted;  // the axis of the first tensor that is wanted innermost
};

class LayoutPlanner {
 public:
  explicit LayoutPlanner(const Graph& graph)
      : graph_(graph),
        producers_(producers_of(graph)),
        is_fixed_(graph.tensors.size()),
        holds_output_(graph.tensors.size()),
        moves_(graph.tensors.size()),
        wanted_(graph.tensors.size()) {
    plan_.storage.resize(graph.tensors.size());
    std::iota(plan_.storage.begin(), plan_.storage.end(), TensorId{0});
  }

  LayoutPlan run() {
    fix();
    vote();
    for (int pass = 0; pass < 2; ++pass) spread();
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
      const size_t rank = shape_of(id).size();
      families_.push_back({is_fixed_[id] ? std::optional(in_order(rank)) : std::nullopt, wanted_[id]});
      first_.push_back(id);
      axes_.push_back(in_order(rank));
    }
    for (const GraphNode& node : graph_.nodes) {
      if (role_of(node.op) == FusionRole::view || std::holds_alternative<TransposeOp>(node.op) ||
          is_first_part(node))
        share(node);
    }
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) plan_.layouts.push_back(layout_of(id));
    return std::move(plan_);
  }

 private:
  const Shape& shape_of(TensorId id) const { return graph_.tensors[id].type.shape; }

  // The tensors that must be row-major.
  void fix() {
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) is_fixed_[id] = graph_.tensors[id].is_constant();
    for (const TensorId id : graph_.inputs) is_fixed_[id] = true;
    for (const TensorId id : graph_.outputs) is_fixed_[id] = holds_output_[id] = true;
    for (const GraphNode& node : graph_.nodes) {
      const bool is_reshaped =
          role_of(node.op) == FusionRole::view && shape_of(node.inputs[0]) != shape_of(node.output);
      if (!is_reshaped && loop_of(node.op) == nullptr && !is_first_part(node)) continue;
      is_fixed_[node.inputs[0]] = is_fixed_[node.output] = true;
      if (loop_of(node.op) != nullptr && !std::holds_alternative<StackStepsOp>(node.op))
        moves_[node.output] = true;
    }
  }

  // What most of the operators that give or read a tensor want; of as many, the first.
  void vote() {
    std::vector<std::vector<size_t>> votes(graph_.tensors.size());
    for (const GraphNode& node : graph_.nodes) {
      const auto add = [&](TensorId id) {
        if (const auto axis = wanted_axis(node.op, shape_of(id).size())) votes[id].push_back(*axis);
      };
      add(node.output);
      for (const TensorId id : node.inputs) add(id);
    }
    for (TensorId id = 0; id < votes.size(); ++id) {
      const auto count = [&](size_t axis) { return std::ranges::count(votes[id], axis); };
      if (votes[id].empty()) continue;
      wanted_[id] = *std::ranges::max_element(votes[id], {}, count);
    }
  }

  // Hands wishes on through operators that have none, to what they give and then to what they read.
  void spread() {
    for (const GraphNode& node : graph_.nodes) {
      for (const TensorId id : node.inputs) spread(node, id, true);
    }
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      for (const TensorId id : node->inputs) spread(*node, id, false);
    }
  }

  void spread(const GraphNode& node, TensorId operand, bool forwards) {
    const size_t rank = shape_of(node.output).size();
    if (graph_.tensors[operand].is_constant() || shape_of(operand).size() != rank) return;
    if (role_of(node.op) == FusionRole::view || role_of(node.op) == FusionRole::border ||
        wanted_axis(node.op, rank))
      return;
    const Axes sources = source_axes(node, rank);
    if (forwards && wanted_[operand] && !wanted_[node.output]) {
      wanted_[node.output] = std::ranges::find(sources, *wanted_[operand]) - sources.begin();
    } else if (!forwards && wanted_[node.output] && !wanted_[operand]) {
      wanted_[operand] = sources[*wanted_[node.output]];
    }
  }

  // Puts the node's result into its operand's storage if nothing speaks against it.
  void share(const GraphNode& node) {
    const TensorId operand = node.inputs[0];
    const TensorId root = plan_.storage[operand];
    const bool is_free =
        producers_[root] >= 0 && !holds_output_[root] && !moves_[root] && !is_first_part(node);
    if (is_output(graph_, node.output) && !is_free) return;
    const bool moves_axes =
        shape_of(operand).size() == shape_of(node.output).size() &&
        (std::holds_alternative<TransposeOp>(node.op) || shape_of(operand) == shape_of(node.output));
    if (moves_axes && !join(node)) return;
    if (is_output(graph_, node.output)) holds_output_[root] = true;
    plan_.storage[node.output] = root;
  }

  // Makes the result one family with the operand; false where they must or want to lie otherwise.
  bool join(const GraphNode& node) {
    const TensorId first = first_[node.inputs[0]];
    Axes axes;
    for (const size_t source : source_axes(node, shape_of(node.output).size()))
      axes.push_back(axes_[node.inputs[0]][source]);
    Family& family = families_[first];
    const Family& own = families_[node.output];
    const std::optional<Axes> order = own.order ? std::optional(axes) : std::nullopt;
    if (family.order && order && without_single(first, *family.order) != without_single(first, *order))
      return false;
    const auto wanted = own.wanted ? std::optional(axes[*own.wanted]) : std::nullopt;
    const auto operand_wants = innermost(first, family.order, family.wanted);
    const auto result_wants = innermost(first, order, wanted);
    const bool is_moved = std::holds_alternative<TransposeOp>(node.op);
    if (is_moved && operand_wants && result_wants && *operand_wants != *result_wants) return false;
    if (!family.order) family.order = order;
    if (!family.wanted) family.wanted = wanted;
    first_[node.output] = first;
    axes_[node.output] = std::move(axes);
    return true;
  }

  // Axes of one place lie anywhere.
  Axes without_single(TensorId id, Axes order) const {
    std::erase_if(order, [&](size_t axis) { return shape_of(id)[axis] == 1; });
    return order;
  }

  std::optional<size_t> innermost(TensorId id, const std::optional<Axes>& order,
                                  std::optional<size_t> wanted) const {
    if (!order) return wanted;
    const Axes places = without_single(id, *order);
    return places.empty() ? std::nullopt : std::optional(places.back());
  }

  Layout layout_of(TensorId id) const {
    const Family& family = families_[first_[id]];
    Axes order = in_order(axes_[id].size());
    if (family.order) {
      order = *family.order;
    } else if (family.wanted) {
      order.erase(order.begin() + static_cast<std::ptrdiff_t>(*family.wanted));
      order.push_back(*family.wanted);
    }
    std::vector<int> own;
    for (const size_t axis : order)
      own.push_back(static_cast<int>(std::ranges::find(axes_[id], axis) - axes_[id].begin()));
    const Layout layout = Layout::permuted(own);
    return is_row_major(layout, shape_of(id)) ? Layout::row_major(own.size()) : layout;
  }

  const Graph& graph_;
  std::vector<int> producers_;
  std::vector<bool> is_fixed_;  // row-major, whatever is wanted
  std::vector<bool> holds_output_;
  std::vector<bool> moves_;                    // lies elsewhere in each step of a loop
  std::vector<std::optional<size_t>> wanted_;  // the axis that is wanted innermost
  std::vector<Family> families_;               // of the first tensors
  std::vector<TensorId> first_;                // of each tensor's family
  std::vector<Axes> axes_;                     // for each axis of each tensor the first one's
  LayoutPlan plan_;
};

}  // namespace

LayoutPlan plan_layouts(const Graph& graph) { return LayoutPlanner(graph).run(); }

}  // namespace lathe
