#include "network/mask_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace lathe {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An operand of a node of which places beyond the count take another value.
struct MaskedOperand {
  size_t operand = 0;
  size_t axis = 0;
  double fill = 0;
};

// What stands for nothing in a reduction; none where Lathe has no such value.
std::optional<double> neutral_value(ReduceFunction function, DType dtype) {
  switch (function) {
    case ReduceFunction::product: return 1;
    case ReduceFunction::max:
    case ReduceFunction::log_sum_exp: return is_float(dtype) ? std::optional(-kInfinity) : std::nullopt;
    case ReduceFunction::min: return is_float(dtype) ? std::optional(kInfinity) : std::nullopt;
    case ReduceFunction::mean: return is_float(dtype) ? std::optional(0.0) : std::nullopt;
    default: return 0;
  }
}

class CountMasker {
 public:
  CountMasker(const FollowedSize& followed, Graph graph, int64_t size, const std::string& count_name)
      : followed_(followed), graph_(std::move(graph)), size_(size), parts_(followed.parts) {
    nodes_ = std::move(graph_.nodes);
    graph_.nodes.clear();
    count_ = add({count_name, {DType::i64, {1}}, nullptr});
    graph_.inputs.push_back(count_);
  }

  Result<Graph> run() {
    for (const auto& [id, values] : followed_.numbers.values) take_number(id, values);
    const std::set<size_t> combining(followed_.combining.begin(), followed_.combining.end());
    const std::set<size_t> from_end(followed_.from_end.begin(), followed_.from_end.end());
    for (size_t n = 0; n < nodes_.size(); ++n) {
      if (combining.contains(n))
        LATHE_TRY_STATUS(mask(nodes_[n]));
      else if (from_end.contains(n))
        take_from_end(nodes_[n]);
      else
        graph_.nodes.push_back(nodes_[n]);
    }
    LATHE_TRY_STATUS(verify(graph_));
    return std::move(graph_);
  }

 private:
  const Shape& shape_of(TensorId id) const { return graph_.tensors[id].type.shape; }
  DType dtype_of(TensorId id) const { return graph_.tensors[id].type.dtype; }

  Status mask(GraphNode node) {
    const auto masked = masked_operands(node);
    if (!masked)
      return fail(ErrorKind::unsupported,
                  fmt::format("{}: it combines what stands along the free axis, and Lathe cannot leave out "
                              "there what lies beyond the size",
                              label_of(node)));
    for (const MaskedOperand& each : *masked) {
      if (each.fill == 0 && is_zero_behind_.contains({node.inputs[each.operand], each.axis})) continue;
      node.inputs[each.operand] = masked_tensor(node, each);
    }
    if (std::holds_alternative<SoftmaxOp>(node.op) && !std::get<SoftmaxOp>(node.op).logarithm) {
      for (const MaskedOperand& each : *masked) is_zero_behind_.insert({node.output, each.axis});
    }
    const auto* reduce = std::get_if<ReduceOp>(&node.op);
    const auto* extremum = std::get_if<ArgExtremumOp>(&node.op);
    if (reduce != nullptr && reduce->function == ReduceFunction::mean)
      push_mean(std::move(node), *masked);
    else if (extremum != nullptr && extremum->last)
      push_last(std::move(node));
    else
      graph_.nodes.push_back(std::move(node));
    return {};
  }

  // None where the node has no rule, or one of its axes holds the dimension beside other factors.
  std::optional<std::vector<MaskedOperand>> masked_operands(const GraphNode& node) const {
    std::vector<MaskedOperand> masked;
    bool known = true;
    const auto add = [&](size_t operand, size_t axis, std::optional<double> fill) {
      const FreePart* part = part_of(parts_[node.inputs[operand]], axis);
      if (part == nullptr) return;
      known = known && part->is_whole_axis() && fill;
      masked.push_back({operand, axis, fill.value_or(0)});
    };
    const DType dtype = dtype_of(node.inputs[0]);
    if (const auto* softmax = std::get_if<SoftmaxOp>(&node.op)) {
      for (const size_t axis : softmax->axes) add(0, axis, -kInfinity);
    } else if (const auto* reduce = std::get_if<ReduceOp>(&node.op)) {
      for (const size_t axis : reduce->axes) add(0, axis, neutral_value(reduce->function, dtype));
    } else if (const auto* extremum = std::get_if<ArgExtremumOp>(&node.op)) {
      if (!is_float(dtype)) return std::nullopt;
      add(0, extremum->axis, extremum->largest ? -kInfinity : kInfinity);
    } else if (std::holds_alternative<MatMulOp>(node.op)) {
      const size_t left = shape_of(node.inputs[0]).size();
      const size_t right = shape_of(node.inputs[1]).size();
      add(0, left - 1, 0);
      add(1, right == 1 ? 0 : right - 2, 0);
    } else if (const auto* einsum = std::get_if<EinsumOp>(&node.op)) {
      for (size_t i = 0; i < einsum->operands.size(); ++i)
        for (size_t axis = 0; axis < einsum->operands[i].size(); ++axis)
          if (std::ranges::find(einsum->result, einsum->operands[i][axis]) == einsum->result.end())
            add(i, axis, 0);
    } else if (const auto* running = std::get_if<CumSumOp>(&node.op)) {
      // What lies behind a place is no part of its sum, unless that runs from the end.
      if (!running->reverse) return masked;
      add(0, running->axis, running->multiplies ? 1 : 0);
    } else {
      return std::nullopt;
    }
    if (!known || masked.empty()) return std::nullopt;
    return masked;
  }

  TensorId add(GraphTensor tensor) {
    graph_.tensors.push_back(std::move(tensor));
    parts_.emplace_back();
    return graph_.tensors.size() - 1;
  }

  TensorId add_node(const std::string& name, GraphOp op, std::vector<TensorId> inputs, TensorType type) {
    const TensorId id = add({name, std::move(type), nullptr});
    graph_.nodes.push_back({name, std::move(op), std::move(inputs), id});
    return id;
  }

  std::string fresh_name(const std::string& what) const {
    return fmt::format("{}#{}{}", graph_.tensors[count_].name, what, graph_.tensors.size());
  }

  TensorId constant(TensorType type, const std::vector<double>& values) {
    std::shared_ptr<const Bytes> data = to_bytes(type.dtype, values);
    return add({fresh_name("constant"), std::move(type), std::move(data)});
  }

  // Of each place whether it counts, in a shape that broadcasts to tensors of so many axes from that one on.
  TensorId counts(size_t axes_behind) {
    const auto [entry, is_new] = counts_.try_emplace(axes_behind, 0);
    if (!is_new) return entry->second;
    Shape line(axes_behind + 1, 1);
    line[0] = size_;
    std::vector<double> places(static_cast<size_t>(size_));
    std::iota(places.begin(), places.end(), 0.0);
    const TensorId numbers = constant({DType::i64, line}, places);
    entry->second =
        add_node(fresh_name("counts"), ZipOp{ZipFunction::less}, {numbers, count_}, {DType::boolean, line});
    return entry->second;
  }

  TensorId masked_tensor(const GraphNode& reader, const MaskedOperand& masked) {
    const TensorId id = reader.inputs[masked.operand];
    const auto [entry, is_new] = masked_.try_emplace({id, masked.axis, masked.fill}, 0);
    if (!is_new) return entry->second;
    const TensorType type = graph_.tensors[id].type;
    const TensorId fill = constant({type.dtype, {}}, {masked.fill});
    const TensorId is_counted = counts(type.shape.size() - masked.axis - 1);
    entry->second = add_node(fresh_name("counted"), WhereOp{}, {is_counted, id, fill}, type);
    parts_[entry->second] = parts_[id];
    return entry->second;
  }

  // The count, in a shape that broadcasts to that one.
  TensorId count_as(DType dtype, const Shape& shape) {
    TensorId number = count_;
    if (dtype != DType::i64) number = add_node(fresh_name("number"), CastOp{dtype}, {number}, {dtype, {1}});
    if (shape.empty()) number = add_node(fresh_name("number"), ReshapeOp{{}}, {number}, {dtype, {}});
    return number;
  }

  TensorId zip(ZipFunction function, TensorId left, TensorId right) {
    const TensorType type = graph_.tensors[left].type;
    return add_node(fresh_name("number"), ZipOp{function}, {left, right}, type);
  }

  // The mean over all places, times all places over those that count. It stays a mean, over which another
  // dimension may be counted too.
  void push_mean(GraphNode node, const std::vector<MaskedOperand>& masked) {
    const TensorType type = graph_.tensors[node.output].type;
    const TensorId number = count_as(type.dtype, type.shape);
    TensorId counted = number;
    for (size_t i = 1; i < masked.size(); ++i) counted = zip(ZipFunction::mul, counted, number);
    const double all = std::pow(static_cast<double>(size_), static_cast<double>(masked.size()));
    const TensorId factor = zip(ZipFunction::div, constant(graph_.tensors[number].type, {all}), counted);
    const TensorId mean = add({fresh_name("mean"), type, nullptr});
    parts_[mean] = parts_[node.output];
    graph_.nodes.push_back({node.name, std::move(node.op), std::move(node.inputs), mean});
    graph_.nodes.push_back({fresh_name("share"), ZipOp{ZipFunction::mul}, {mean, factor}, node.output});
  }

  // Where all that counts is what stands for nothing, the last place of these is one that does not count.
  void push_last(GraphNode node) {
    const TensorType type = graph_.tensors[node.output].type;
    const TensorId number = count_as(type.dtype, type.shape);
    const TensorId last = zip(ZipFunction::sub, number, constant(graph_.tensors[number].type, {1}));
    const TensorId found = add({fresh_name("found"), type, nullptr});
    parts_[found] = parts_[node.output];
    graph_.nodes.push_back({node.name, std::move(node.op), std::move(node.inputs), found});
    graph_.nodes.push_back({fresh_name("least"), ZipOp{ZipFunction::min}, {found, last}, node.output});
  }

  // In place of a constant that goes by the size the one of so many places, of a table of all.
  void take_number(TensorId id, const std::vector<std::shared_ptr<const Bytes>>& values) {
    const TensorType type = graph_.tensors[id].type;
    Bytes all;
    for (const auto& value : values) all.insert(all.end(), value->begin(), value->end());
    Shape shape = type.shape;
    shape.insert(shape.begin(), std::ssize(values));
    const TensorId table =
        add({fresh_name("table"), {type.dtype, shape}, std::make_shared<const Bytes>(std::move(all))});
    const TensorId least = constant({DType::i64, {}}, {static_cast<double>(-followed_.numbers.least)});
    const TensorId place = zip(ZipFunction::add, least, count_as(DType::i64, {}));
    const TensorId number = add_node(fresh_name("number"), GatherByOp{0}, {table, place}, type);
    for (GraphNode& node : nodes_) std::ranges::replace(node.inputs, id, number);
    graph_.tensors[id].name = fresh_name("largest");  // an output that copies it may have its name
  }

  // Places that are counted from the last one that counts.
  void take_from_end(GraphNode node) {
    if (auto* gather = std::get_if<GatherOp>(&node.op)) {
      const TensorId places = places_from_end(gather->places_shape, gather->first, gather->step);
      node.inputs.push_back(places);
      node.op = GatherByOp{gather->axis};
      return graph_.nodes.push_back(std::move(node));
    }
    auto& slice = std::get<SliceOp>(node.op);
    for (const size_t axis : fixed_axes(followed_, node)) {
      TensorType type = graph_.tensors[node.inputs[0]].type;
      type.shape[axis] = slice.extents[axis];
      const TensorId places = places_from_end({slice.extents[axis]}, slice.starts[axis], slice.steps[axis]);
      slice.starts[axis] = 0;
      slice.steps[axis] = 1;
      node.inputs[0] =
          add_node(fresh_name("last"), GatherByOp{axis}, {node.inputs[0], places}, std::move(type));
    }
    graph_.nodes.push_back(std::move(node));
  }

  // Such places where all of the axis counts, as the count makes them.
  TensorId places_from_end(const Shape& shape, int64_t first, int64_t step) {
    std::vector<double> places;
    for (int64_t i = 0; i < elements_of(shape); ++i)
      places.push_back(static_cast<double>(first + i * step - size_));
    const TensorId behind = constant({DType::i64, shape}, places);
    return zip(ZipFunction::add, behind, count_as(DType::i64, shape));
  }

  const FollowedSize& followed_;
  Graph graph_;
  int64_t size_;
  std::vector<GraphNode> nodes_;
  std::vector<FreeParts> parts_;
  TensorId count_ = 0;
  std::map<size_t, TensorId> counts_;
  std::map<std::tuple<TensorId, size_t, double>, TensorId> masked_;
  std::set<std::pair<TensorId, size_t>> is_zero_behind_;
};

}  // namespace

Result<Graph> with_count(const FollowedSize& followed, int64_t size, const std::string& count_name) {
  LATHE_TRY(Graph graph, at_size(followed, size));
  return CountMasker(followed, std::move(graph), size, count_name).run();
}

}  // namespace lathe
