#include "network/follow_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/check.h"
#include "network/follow_dag.h"
#include "network/group_to_dag.h"

namespace lathe {
namespace {

std::vector<TensorType> types_of(const Graph& graph, const std::vector<TensorId>& ids) {
  std::vector<TensorType> types;
  for (const TensorId id : ids) types.push_back(graph.tensors[id].type);
  return types;
}

class SizeFollower {
 public:
  SizeFollower(const Graph& graph, std::span<const FreeInput> inputs, int64_t size,
               std::span<const FreeParts> known, UnitPlaces units, const SizeNumbers& numbers)
      : before_(graph), inputs_(inputs), known_(known), size_(size), units_(units), numbers_(numbers) {
    const FreeInput& first = inputs_.front();
    from_ = before_.tensor(first.input).type.shape[first.axis];
  }

  // What a loop's body makes of a state shows behind its entry: all is followed anew, once a state, where it
  // has other parts there than it was taken to have.
  Result<FollowedSize> run() {
    do {
      is_other_state_ = false;
      begin();
      for (const GraphNode& node : before_.nodes) {
        Status followed = follow(node);
        if (!followed) return std::unexpected(std::move(followed.error()));
        if (is_other_state_) break;
      }
    } while (is_other_state_);
    return std::move(result_);
  }

 private:
  void begin() {
    result_ = {};
    result_.graph = before_;
    result_.graph.nodes.clear();
    result_.size = size_;
    result_.parts.resize(before_.tensors.size());
    for (const FreeInput& input : inputs_) mark({input.axis}, input.input);
    mark_constants();
    result_.numbers = numbers_;
    if (numbers_.values.empty()) return;
    result_.together =
        fmt::format("constant '{}' goes by the size", tensor(numbers_.values.begin()->first).name);
  }

  const Shape& shape_before(TensorId id) const { return before_.tensor(id).type.shape; }
  GraphTensor& tensor(TensorId id) { return result_.graph.tensors[id]; }

  void mark(FreePart part, TensorId id) {
    result_.parts[id].push_back(part);
    tensor(id).type.shape[part.axis] = part.extent_at(result_.size);
  }

  // Those that were computed of the size when the model was read.
  void mark_constants() {
    for (TensorId id = 0; id < known_.size(); ++id) {
      if (!before_.tensor(id).is_constant() || known_[id].empty()) continue;
      result_.parts[id] = known_[id];
      if (from_ == result_.size) continue;
      for (const FreePart& part : known_[id]) {
        tensor(id).data = more_places(tensor(id), part.axis, result_.size);
        tensor(id).type.shape[part.axis] = result_.size;
      }
    }
  }

  Status follow(GraphNode node) {
    LATHE_TRY_STATUS(fit_operands(node));
    if (role_of(node.op) == FusionRole::border) return follow_border(node);
    const TensorId id = node.output;
    const Shape& before = shape_before(id);
    LATHE_TRY(FreeParts given, given_parts(node));
    add_repeated(node, given);
    const Shape operand = node.inputs.empty() ? Shape{} : shape_of_operand(node);
    const bool gives_operand = is_view(node);
    if (from_ != result_.size)
      node.op = with_shapes(std::move(node.op), operand, before, shape_at(before, given, result_.size));
    result_.graph.nodes.push_back(node);
    Result<TensorType> type = infer_type(node, types_of(result_.graph, node.inputs));
    if (!type) return std::unexpected(std::move(type.error()));
    tensor(id).type = std::move(*type);
    if (gives_operand) {
      result_.parts[id] = given;
      return {};
    }
    if (const auto* running = std::get_if<CumSumOp>(&node.op)) return follow_running(node, running->axis);
    LATHE_TRY_STATUS(follow_computes(node));
    add_repeated(node, result_.parts[id]);
    return {};
  }

  // Into a loop and out of it: each step is the same for all places.
  Status follow_border(GraphNode node) {
    if (std::holds_alternative<StepStateOp>(node.op)) LATHE_TRY_STATUS(widen_state(node));
    FreeParts parts = result_.parts[node.inputs[0]];
    if (const auto* last = std::get_if<LastStateOp>(&node.op)) {
      const TensorId state = state_of(*last);
      if (result_.parts[state] != parts) {
        is_other_state_ = state_parts_.emplace(state, parts).second;
        if (is_other_state_) return {};
        return fail(ErrorKind::unsupported,
                    fmt::format("{}: the free size does not stand in each step's state", label_of(node)));
      }
    }
    const auto* stack = std::get_if<StackStepsOp>(&node.op);
    const bool takes = std::holds_alternative<TakeStepOp>(node.op);
    if (takes && part_of(parts, 0) != nullptr)
      return fail(ErrorKind::unsupported, fmt::format("{}: its steps are the free size", label_of(node)));
    const bool is_end = std::holds_alternative<StepsWhileOp>(node.op);
    const bool ends_by_place =
        is_end && std::ranges::any_of(node.inputs, [&](TensorId id) { return !result_.parts[id].empty(); });
    if (ends_by_place || (stack != nullptr && stack->slot != 0 && !parts.empty()))
      return fail(
          ErrorKind::unsupported,
          fmt::format("{}: places of the free size would end or lie otherwise in the loop", label_of(node)));
    for (FreePart& part : parts) part.axis = takes ? part.axis - 1 : part.axis + (stack != nullptr ? 1 : 0);
    result_.graph.nodes.push_back(node);
    LATHE_TRY(tensor(node.output).type, infer_type(node, types_of(result_.graph, node.inputs)));
    result_.parts[node.output] = std::move(parts);
    return {};
  }

  // The state that this is the last value of.
  TensorId state_of(const LastStateOp& last) const {
    const auto found = std::ranges::find_if(result_.graph.nodes, [&](const GraphNode& node) {
      const auto* state = std::get_if<StepStateOp>(&node.op);
      return state != nullptr && state->loop.name == last.loop.name && state->number == last.number;
    });
    LATHE_CHECK(found != result_.graph.nodes.end());
    return found->output;
  }

  // The parts of a state: those that the last step showed, else those that it begins with, else its first
  // axis of the dimension's size.
  FreeParts parts_of_state(const GraphNode& node) const {
    const auto known = state_parts_.find(node.output);
    if (known != state_parts_.end()) return known->second;
    const FreeParts& parts = result_.parts[node.inputs[0]];
    const Shape& shape = shape_before(node.output);
    const auto axis = std::ranges::find(shape, from_);
    if (!parts.empty() || axis == shape.end()) return parts;
    return {{static_cast<size_t>(axis - shape.begin())}};
  }

  // What all places of a state begin with, a constant as a rule, is each one's.
  Status widen_state(GraphNode& node) {
    const FreeParts wanted = parts_of_state(node);
    const TensorId id = node.inputs[0];
    if (result_.parts[id] == wanted) return {};
    FreeParts missing;
    for (const FreePart& part : wanted)
      if (part_of(result_.parts[id], part.axis) == nullptr) missing.push_back(part);
    const Shape& shape = tensor(id).type.shape;
    const auto has_extent = [&](int64_t extent) {
      return std::ranges::all_of(
          missing, [&](const FreePart& part) { return part.is_whole_axis() && shape[part.axis] == extent; });
    };
    const auto has_none_else = [&] {
      return std::ranges::all_of(result_.parts[id],
                                 [&](const FreePart& part) { return part_of(wanted, part.axis) != nullptr; });
    };
    const bool has_places =
        tensor(id).is_constant() && has_extent(from_) && is_same_along(tensor(id), missing, from_);
    if (has_places && from_ == result_.size && has_none_else()) {
      result_.parts[id] = wanted;
      return {};
    }
    const TensorId one = has_places ? one_place(id, missing) : id;
    if ((!has_places && !has_extent(1)) || !has_none_else())
      return fail(ErrorKind::unsupported,
                  fmt::format("{}: what it begins with is not the same for each place", label_of(node)));
    LATHE_TRY(node.inputs[0], repeated(node, one, wanted));
    return {};
  }

  // The first place of a constant that is the same at each, as a constant of its own.
  TensorId one_place(TensorId id, const FreeParts& parts) {
    GraphTensor one = tensor(id);
    one.data = first_places(one, parts, from_, 1);
    one.type.shape = shape_at(one.type.shape, parts, 1);
    one.name += "#one";
    result_.graph.tensors.push_back(std::move(one));
    result_.parts.emplace_back();
    return result_.graph.tensors.size() - 1;
  }

  // Sums up to each place, whose computes tell the places apart by their numbers alone.
  Status follow_running(const GraphNode& node, size_t axis) {
    const FreeParts& parts = result_.parts[node.inputs[0]];
    const FreePart* const along = part_of(parts, axis);
    if (along != nullptr && !along->is_whole_axis())
      return fail(ErrorKind::unsupported,
                  fmt::format("{}: it runs along an axis in which the size stands beside other factors",
                              label_of(node)));
    tell_constant(node, node.inputs[0]);
    result_.parts[node.output] = parts;
    if (along != nullptr) tell_combining(node);
    return {};
  }

  void tell_combining(const GraphNode& node) {
    result_.combining.push_back(result_.graph.nodes.size() - 1);
    tell(node, "it combines what stands along the free axis");
  }

  const Shape& shape_of_operand(const GraphNode& node) const {
    static const Shape none;
    return node.inputs[0] < before_.tensors.size() ? shape_before(node.inputs[0]) : none;
  }

  // Whether a node's result is its operand in another shape, as the graph was read: where it takes all places
  // of the dimension's axis in turn too, which looked at one by one are those of others.
  bool is_view(const GraphNode& node) const {
    const auto* gather = std::get_if<GatherOp>(&node.op);
    if (gather == nullptr) return role_of(node.op) == FusionRole::view;
    return gather->first == 0 && gather->step == 1 &&
           elements_of(gather->places_shape) == shape_of_operand(node)[gather->axis] &&
           part_of(result_.parts[node.inputs[0]], gather->axis) != nullptr;
  }

  // The parts of a result whose shape the node spells.
  Result<FreeParts> given_parts(const GraphNode& node) const {
    if (node.inputs.empty()) return FreeParts{};
    const FreeParts& parts = result_.parts[node.inputs[0]];
    const Shape& before = shape_before(node.output);
    if (std::holds_alternative<IdentityOp>(node.op)) return parts;
    const bool is_gather = std::holds_alternative<GatherOp>(node.op);
    if (std::holds_alternative<ReshapeOp>(node.op) || (is_gather && is_view(node))) {
      auto found = reshaped(parts, shape_of_operand(node), before, from_, units_);
      if (found) return *std::move(found);
      return fail(ErrorKind::unsupported,
                  fmt::format("{}: places of the free size do not stay side by side in {}", label_of(node),
                              to_string(before)));
    }
    FreeParts given;
    const bool spells = std::holds_alternative<SliceOp>(node.op) ||
                        std::holds_alternative<ResizeOp>(node.op) ||
                        std::holds_alternative<ExpandOp>(node.op) || std::holds_alternative<TileOp>(node.op);
    const size_t added = spells ? before.size() - shape_of_operand(node).size() : 0;
    for (FreePart part : parts) {
      const size_t own = part.axis;
      part.axis += added;
      if (spells && before[part.axis] == shape_of_operand(node)[own]) given.push_back(part);
    }
    return given;
  }

  // Where sizes change: constants, and what has one place for all, beside operands that have the new size.
  Status fit_operands(GraphNode& node) {
    if (from_ == result_.size) return {};
    const auto* concat = std::get_if<ConcatOp>(&node.op);
    const auto* threshold = std::get_if<TopThresholdOp>(&node.op);
    if (concat == nullptr && threshold == nullptr) return {};
    const size_t along = concat != nullptr ? concat->axis : threshold->axis;
    FreeParts wanted;
    for (const TensorId id : node.inputs) {
      for (const FreePart& part : result_.parts[id])
        if (part_of(wanted, part.axis) == nullptr && part.axis != along) wanted.push_back(part);
    }
    for (TensorId& id : node.inputs) {
      const size_t axes = tensor(id).type.shape.size();  // the bit of a threshold has none
      if (wanted.empty() || !result_.parts[id].empty() || axes == 0) continue;
      if (std::ranges::any_of(wanted,
                              [&](const FreePart& part) { return tensor(id).type.shape[part.axis] != 1; }))
        continue;
      LATHE_TRY(id, repeated(node, id, wanted));
    }
    return {};
  }

  // A node that repeats a tensor of one place along these parts.
  Result<TensorId> repeated(const GraphNode& reader, TensorId id, const FreeParts& parts) {
    const TensorType type{tensor(id).type.dtype, shape_at(tensor(id).type.shape, parts, result_.size)};
    const TensorId made = result_.graph.tensors.size();
    const std::string name = fmt::format("{}#repeated{}", reader.name, made);
    result_.graph.nodes.push_back({name, ExpandOp{type.shape}, {id}, made});
    result_.graph.tensors.push_back({name, type, nullptr});
    result_.parts.push_back(parts);
    return made;
  }

  Status follow_computes(const GraphNode& node) {
    const bool concerns =
        std::ranges::any_of(node.inputs, [&](TensorId id) { return !result_.parts[id].empty(); });
    if (!concerns) return {};
    const size_t number = result_.graph.nodes.size() - 1;
    FusedGroup group{{number}, {number}, {}, {}, {node.output}};
    for (const TensorId id : node.inputs) {
      std::vector<TensorId>& list = tensor(id).is_constant() ? group.constants : group.inputs;
      if (std::ranges::find(list, id) == list.end()) list.push_back(id);
    }
    LATHE_TRY(const GroupDag lowered, group_to_dag(result_.graph, group));
    std::map<const TensorNode*, FreeParts> parts;
    std::map<const TensorNode*, bool> is_constant;
    for (size_t i = 0; i < lowered.dag.inputs.size(); ++i) {
      const TensorNode* const input = lowered.dag.inputs[i].get();
      parts[input] = result_.parts[lowered.arguments[i]];
      is_constant[input] = tensor(lowered.arguments[i]).is_constant();
    }
    Result<DagFollowing> following = follow_dag(lowered.dag, parts, is_constant, result_.size);
    if (!following)
      return fail(ErrorKind::unsupported, fmt::format("{}: {}", label_of(node), following.error().message));
    for (size_t i = 0; i < lowered.dag.inputs.size(); ++i) {
      const TensorId argument = lowered.arguments[i];
      const auto along = following->constants.find(lowered.dag.inputs[i].get());
      if (along != following->constants.end()) {
        if (following->combines && result_.parts[argument].empty())
          LATHE_TRY_STATUS(check_summed_constant(node, argument, along->second));
        result_.parts[argument] = along->second;
      }
      tell_constant(node, argument);
    }
    result_.parts[node.output] = std::move(following->result);
    if (following->combines) tell_combining(node);
    if (following->tells_places_apart) tell(node, *following->tells_places_apart);
    if (following->is_from_end) {
      if (!takes_fixed_places(node))
        return fail(ErrorKind::unsupported,
                    fmt::format("{}: it reads places of the free axis that are counted from its end",
                                label_of(node)));
      result_.from_end.push_back(number);
    }
    if (following->least_size > result_.least_size) {
      result_.least_size = following->least_size;
      result_.least_reader = label_of(node);
    }
    return {};
  }

  // A constant that was not computed of the size: with fewer of its places it would be another sum.
  Status check_summed_constant(const GraphNode& node, TensorId id, const FreeParts& parts) {
    if (is_same_along(tensor(id), parts, result_.size)) return {};
    return fail(ErrorKind::unsupported,
                fmt::format("{}: it sums over the {} places of constant '{}', which has no others",
                            label_of(node), result_.size, tensor(id).name));
  }

  static bool takes_fixed_places(const GraphNode& node) {
    return std::holds_alternative<GatherOp>(node.op) || std::holds_alternative<SliceOp>(node.op);
  }

  void tell_constant(const GraphNode& node, TensorId id) {
    const FreeParts& parts = result_.parts[id];
    if (!tensor(id).is_constant() || parts.empty() || is_same_along(tensor(id), parts, result_.size)) return;
    tell(node, fmt::format("constant '{}' has other values for each place", tensor(id).name));
  }

  void tell(const GraphNode& node, const std::string& why) {
    if (!result_.together) result_.together = fmt::format("{}: {}", label_of(node), why);
  }

  // Axes along which one place is repeated, or places of a table are taken in turn from its first one or by
  // their numbers, as often as the dimension is large.
  void add_repeated(const GraphNode& node, FreeParts& parts) {
    const auto* gather = std::get_if<GatherOp>(&node.op);
    const auto* slice = std::get_if<SliceOp>(&node.op);
    const bool repeats = std::holds_alternative<ExpandOp>(node.op) || gather != nullptr || slice != nullptr;
    if (!repeats || node.output >= known_.size()) return;
    for (const FreePart& part : known_[node.output]) {
      if (part_of(parts, part.axis) != nullptr) continue;
      if (slice != nullptr && slice->starts[part.axis] != 0) continue;
      parts.push_back(part);
      if (slice != nullptr || (gather != nullptr && gather->step != 0))
        tell(node, "its result goes by the number of the place");
    }
    std::ranges::sort(parts, {}, &FreePart::axis);
  }

  const Graph& before_;
  std::span<const FreeInput> inputs_;
  std::span<const FreeParts> known_;
  int64_t size_ = 0;
  UnitPlaces units_;
  const SizeNumbers& numbers_;
  int64_t from_ = 0;
  FollowedSize result_;
  std::map<TensorId, FreeParts> state_parts_;  // that a loop's last step has shown
  bool is_other_state_ = false;                // this pass took a state to have other ones
};

// A node that takes places counted from the end, where the end lies so much further.
void move_places(const FollowedSize& followed, int64_t by, GraphNode& node) {
  for (const size_t axis : fixed_axes(followed, node)) {
    if (auto* gather = std::get_if<GatherOp>(&node.op)) gather->first += by;
    if (auto* slice = std::get_if<SliceOp>(&node.op)) slice->starts[axis] += by;
  }
}

}  // namespace

Result<FollowedSize> follow_size(const Graph& graph, std::span<const FreeInput> inputs, int64_t size,
                                 std::span<const FreeParts> known, UnitPlaces units,
                                 const SizeNumbers& numbers) {
  LATHE_CHECK(size >= 2 && !inputs.empty());
  return SizeFollower(graph, inputs, size, known, units, numbers).run();
}

std::vector<size_t> fixed_axes(const FollowedSize& followed, const GraphNode& node) {
  if (const auto* gather = std::get_if<GatherOp>(&node.op)) return {gather->axis};
  std::vector<size_t> axes;
  for (const FreePart& part : followed.parts[node.inputs[0]])
    if (part_of(followed.parts[node.output], part.axis) == nullptr) axes.push_back(part.axis);
  return axes;
}

Result<Graph> at_size(const FollowedSize& followed, int64_t size) {
  const Graph& before = followed.graph;
  Graph graph = before;
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    GraphTensor& tensor = graph.tensors[id];
    const FreeParts& parts = followed.parts[id];
    if (tensor.is_constant()) tensor.data = first_places(tensor, parts, followed.size, size);
    tensor.type.shape = shape_at(tensor.type.shape, parts, size);
  }
  for (const auto& [id, values] : followed.numbers.values)
    graph.tensors[id].data = values[static_cast<size_t>(size - followed.numbers.least)];
  for (const size_t n : followed.from_end) move_places(followed, size - followed.size, graph.nodes[n]);
  for (GraphNode& node : graph.nodes) {
    const Shape& operand = node.inputs.empty() ? Shape() : before.tensor(node.inputs[0]).type.shape;
    node.op = with_shapes(std::move(node.op), operand, before.tensor(node.output).type.shape,
                          graph.tensor(node.output).type.shape);
    LATHE_TRY(const TensorType type, infer_type(node, types_of(graph, node.inputs)));
    if (type == graph.tensor(node.output).type) continue;
    return fail(ErrorKind::unsupported,
                fmt::format("{}: at size {} it gives {} in place of {}", label_of(node), size,
                            to_string(type), to_string(graph.tensor(node.output).type)));
  }
  return graph;
}

}  // namespace lathe
