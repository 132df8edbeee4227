#include "graph/onnx/counted.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/overloaded.h"

namespace lathe {

namespace {

using Axes = std::optional<size_t>;

// Where the counted axis of one operand lies in the result of an operator; none where that is nowhere, or not
// all of it counts alike.
struct ResultAxis {
  size_t operand;      // its number
  size_t axis;         // the counted one
  const Shape& shape;  // of the operand
  const Shape& result;

  size_t from_end() const { return result.size() - (shape.size() - axis); }
  // Along other axes than these, which stay or go.
  Axes beside(const std::vector<size_t>& axes, bool keeps) const {
    if (std::ranges::find(axes, axis) != axes.end()) return std::nullopt;
    const auto before = std::ranges::count_if(axes, [&](size_t each) { return each < axis; });
    return keeps ? axis : axis - static_cast<size_t>(before);
  }
  Axes beside(size_t other) const { return beside({other}, true); }

  Axes of(const TransposeOp& op) const {
    return static_cast<size_t>(std::ranges::find(op.order, axis) - op.order.begin());
  }
  Axes of(const SliceOp& op) const {
    const bool is_whole = op.starts[axis] == 0 && op.steps[axis] == 1 && op.extents[axis] == shape[axis];
    return is_whole ? Axes(axis) : std::nullopt;
  }
  // An axis of as many places, with as many elements before it.
  Axes of(const ReshapeOp& op) const {
    const auto before = [](const Shape& extents, size_t until) {
      return elements_of(Shape(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(until)));
    };
    for (size_t d = 0; d < op.shape.size(); ++d)
      if (op.shape[d] == shape[axis] && before(op.shape, d) == before(shape, axis)) return d;
    return std::nullopt;
  }
  Axes of(const GatherOp& op) const { return behind(op.axis, op.places_shape.size()); }
  // An operand that says what is looked up has its axes where the one was that they are places of.
  Axes of(const GatherByOp& op, size_t places) const {
    return operand == 1 ? Axes(op.axis + axis) : behind(op.axis, places);
  }
  // Where one axis becomes so many.
  Axes behind(size_t other, size_t many) const {
    if (axis == other) return std::nullopt;
    return axis < other ? axis : axis - 1 + many;
  }
  // Rows of the left matrix, columns of the right one, or matrices of a stack.
  Axes of(const MatMulOp&) const {
    if (shape.size() < 2 || result.size() < shape.size()) return std::nullopt;
    const size_t summed = operand == 0 ? shape.size() - 1 : shape.size() - 2;
    return axis == summed ? std::nullopt : Axes(from_end());
  }
  Axes of(const GemmOp& op) const {
    if (operand > 1) return from_end();
    const size_t kept = operand == 0 ? (op.transpose_a ? 1 : 0) : (op.transpose_b ? 0 : 1);
    return axis == kept ? Axes(operand) : std::nullopt;
  }
};

// The rule of the operator; none where it has none.
Axes axis_in_result(const GraphNode& node, const ResultAxis& operand, size_t places) {
  const auto of = Overloaded{
      [&](const MapOp&) { return Axes(operand.axis); },
      [&](const CastOp&) { return Axes(operand.axis); },
      [&](const IdentityOp&) { return Axes(operand.axis); },
      [&](const ZipOp&) { return Axes(operand.from_end()); },
      [&](const PowOp&) { return Axes(operand.from_end()); },
      [&](const WhereOp&) { return Axes(operand.from_end()); },
      [&](const ExpandOp&) { return Axes(operand.from_end()); },
      [&](const TransposeOp& op) { return operand.of(op); },
      [&](const SliceOp& op) { return operand.of(op); },
      [&](const ReshapeOp& op) { return operand.of(op); },
      [&](const GatherOp& op) { return operand.of(op); },
      [&](const GatherByOp& op) { return operand.of(op, places); },
      [&](const ConcatOp& op) { return operand.beside(op.axis); },
      [&](const ReduceOp& op) { return operand.beside(op.axes, op.keeps_axes); },
      [&](const SoftmaxOp& op) { return operand.beside(op.axes, true); },
      [&](const ArgExtremumOp& op) { return operand.beside({op.axis}, op.keeps); },
      [&](const TopPlacesOp& op) { return operand.beside(op.axis); },
      [&](const CumSumOp& op) { return operand.beside(op.axis); },
      [&](const MatMulOp& op) { return operand.of(op); },
      [&](const GemmOp& op) { return operand.of(op); },
      [&](const auto&) { return Axes(); },
  };
  return std::visit(of, node.op);
}

// Whether an operand of which all counts has one place where the result's counted axis lies, or reads nothing
// along it.
bool is_the_same_along(const GraphNode& node, size_t operand, const Shape& shape, const Shape& result,
                       size_t axis) {
  const bool is_product =
      std::holds_alternative<MatMulOp>(node.op) || std::holds_alternative<GemmOp>(node.op);
  if (std::holds_alternative<GatherByOp>(node.op) || (is_product && operand < 2)) return true;
  const size_t back = result.size() - axis;
  return operand >= most_operands(node.op) || back > shape.size() || shape[shape.size() - back] == 1;
}

}  // namespace

std::optional<Counted> CountedTensors::find(TensorId id) const {
  const auto found = counted_.find(id);
  return found == counted_.end() ? std::nullopt : std::optional(found->second);
}

std::string CountedTensors::refusal(TensorId id) const {
  const size_t axis = counted_.at(id).axis;
  const GraphTensor& tensor = builder_.tensor(id);
  return fmt::format("'{}' has up to {} places along axis {}, and only a run tells how many", tensor.name,
                     tensor.type.shape[axis], axis);
}

Result<std::string> give_count(GraphBuilder& builder, const std::string& name, const Counted& counted) {
  std::string count = name + ".count";
  LATHE_TRY(const TensorId number, builder.node(count, IdentityOp{}, {counted.count}, count));
  LATHE_TRY_STATUS(builder.output(number));
  return count;
}

Result<GraphNode> cut_behind_count(GraphBuilder& builder, const std::string& name, TensorId all,
                                   const Counted& counted) {
  const TensorType type = builder.tensor(all).type;
  const auto constant = [&](const char* suffix, DType dtype, const Shape& shape,
                            const std::vector<double>& values) {
    return builder.constant(name + suffix, {dtype, shape}, to_bytes(dtype, values));
  };
  Shape line(type.shape.size(), 1);
  line[counted.axis] = type.shape[counted.axis];
  std::vector<double> places(static_cast<size_t>(line[counted.axis]));
  std::iota(places.begin(), places.end(), 0.0);
  LATHE_TRY(const TensorId numbers, constant("#places", DType::i64, line, places));
  LATHE_TRY(const TensorId zero, constant("#zero", type.dtype, {}, {0}));
  const std::string counts = name + "#counts";
  LATHE_TRY(const TensorId is_counted,
            builder.node(counts, ZipOp{ZipFunction::less}, {numbers, counted.count}, counts));
  return GraphNode{name, WhereOp{}, {is_counted, all, zero}, 0};
}

Result<std::optional<Counted>> CountedTensors::result_of(const GraphNode& node, const Shape& shape) const {
  std::optional<Counted> result;
  TensorId reason = 0;
  bool agree = true;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const std::optional<Counted> operand = find(node.inputs[i]);
    if (!operand) continue;
    reason = node.inputs[i];
    const size_t places =
        node.inputs.size() > 1 ? builder_.tensor(node.inputs[1]).type.shape.size() : size_t{0};
    const Axes axis =
        axis_in_result(node, {i, operand->axis, builder_.tensor(node.inputs[i]).type.shape, shape}, places);
    agree = agree && axis && (!result || *result == Counted{*axis, operand->count});
    if (axis) result = Counted{*axis, operand->count};
  }
  for (size_t i = 0; agree && result && i < node.inputs.size(); ++i)
    agree = find(node.inputs[i]) ||
            is_the_same_along(node, i, builder_.tensor(node.inputs[i]).type.shape, shape, result->axis);
  if (agree) return result;
  return fail(ErrorKind::unsupported, refusal(reason) + "; Lathe does not support that here");
}

}  // namespace lathe
