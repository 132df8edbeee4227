#include "graph/onnx/nodes/padding.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "graph/onnx/nodes/node_steps.h"

namespace lathe {
namespace {

constexpr size_t kPadValue = 2;

enum class FillMode : uint8_t { constant, edge, reflect, wrap };

Result<FillMode> read_fill_mode(OnnxNode& node) {
  const std::string mode = node.text("mode", "constant");
  if (mode == "constant") return FillMode::constant;
  if (mode == "edge") return FillMode::edge;
  if (mode == "reflect") return FillMode::reflect;
  if (mode == "wrap") return FillMode::wrap;
  return fail(
      ErrorKind::unsupported,
      fmt::format("attribute 'mode' is '{}', and Lathe supports constant, edge, reflect and wrap", mode));
}

// The place of an axis of that extent that place `at` beside it, or in it, shows.
int64_t shown_place(FillMode mode, int64_t at, int64_t extent) {
  if (mode == FillMode::edge || extent == 1) return std::clamp<int64_t>(at, 0, extent - 1);
  const int64_t period = mode == FillMode::wrap ? extent : 2 * (extent - 1);
  const int64_t rest = (at % period + period) % period;
  return rest < extent ? rest : period - rest;
}

// What PadOp does not take: pads that reach further than the axis, or that cut off beside ones that fill.
bool needs_places(const PadOp& op, FillMode mode, const Shape& shape) {
  if (mode == FillMode::constant) return false;
  const int64_t none = int64_t{1} << 30;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t most = mode == FillMode::reflect ? shape[d] - 1 : none;
    if (std::min(op.before[d], op.after[d]) < 0 || std::max(op.before[d], op.after[d]) > most) return true;
  }
  return mode == FillMode::wrap;
}

// Refuses pads before any list of places is made: each takes memory for all of an axis' places.
Status check_pads(const PadOp& op, const Shape& shape) {
  constexpr int64_t kMostPlaces = int64_t{1} << 22;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t before = op.before[d], after = op.after[d];
    const int64_t extent = shape[d] - std::max<int64_t>(0, -before) - std::max<int64_t>(0, -after);
    if (extent >= 1 && std::max(before, after) <= kMostPlaces) continue;
    return fail(ErrorKind::unsupported, fmt::format("the pads {} and {} of axis {} of {} are out of range",
                                                    before, after, d, to_string(shape)));
  }
  return {};
}

// Each padded axis by the places that it shows.
Result<size_t> add_places(const PadOp& op, FillMode mode, const Shape& shape, NodeSteps& steps) {
  LATHE_TRY_STATUS(check_pads(op, shape));
  size_t result = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t before = op.before[d], after = op.after[d];
    if (before == 0 && after == 0) continue;
    const int64_t first = std::max<int64_t>(0, -before);
    const int64_t extent = shape[d] - first - std::max<int64_t>(0, -after);
    Shape places;
    for (int64_t at = std::min<int64_t>(0, -before); at < extent + std::max<int64_t>(0, after); ++at)
      if (before >= 0 || at >= 0) places.push_back(first + shown_place(mode, at, extent));
    result = steps.gather(result, d, steps.integers({static_cast<int64_t>(places.size())}, places));
  }
  return result;
}

// A number of the operand's type that only a run tells, in every place beside the operand.
size_t add_filled(const PadOp& op, const Shape& shape, NodeSteps& steps) {
  const size_t padded = steps.add(op, {0}), value = steps.reshape(kPadValue, {});
  std::optional<size_t> is_inside;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (op.before[d] <= 0 && op.after[d] <= 0) continue;
    Shape line(shape.size(), 1);
    line[d] = shape[d] + op.before[d] + op.after[d];
    std::vector<double> flags;
    for (int64_t at = -op.before[d]; at < shape[d] + op.after[d]; ++at)
      flags.push_back(at >= 0 && at < shape[d] ? 1 : 0);
    const size_t along = steps.constant(DType::boolean, line, flags);
    is_inside = is_inside ? steps.zip(ZipFunction::logical_and, *is_inside, along) : along;
  }
  return is_inside ? steps.where(*is_inside, padded, value) : padded;
}

}  // namespace

ImportedOutputs import_pad(OnnxNode& node) {
  const Shape& shape = node.shape(0);
  LATHE_TRY(PadOp op, read_pads(node));
  LATHE_TRY(const FillMode mode, read_fill_mode(node));
  op.value = node.real("value", 0);
  NodeSteps steps(std::min<size_t>(node.input_count(), kPadValue + 1));
  const bool is_constant = !node.has_input(kPadValue) || node.is_constant(kPadValue);
  if (is_constant) {
    LATHE_TRY(op.value, node.constant_number(kPadValue, node.type(0).dtype, op.value));
  }
  if (needs_places(op, mode, shape)) {
    LATHE_TRY(const size_t result, add_places(op, mode, shape, steps));
    steps.give(result);
    return steps.outputs();
  }
  if (mode == FillMode::edge) op.mode = PadMode::edge;
  if (mode == FillMode::reflect) op.mode = PadMode::reflect;
  if (mode != FillMode::constant || is_constant) {
    steps.give(steps.add(op, {0}));
    return steps.outputs();
  }
  LATHE_TRY_STATUS(infer(op, std::vector<TensorType>{node.type(0)}));
  if (elements_of(node.shape(kPadValue)) != 1) {
    return fail(ErrorKind::invalid_argument, fmt::format("its value has shape {}, and must be one number",
                                                         to_string(node.shape(kPadValue))));
  }
  steps.give(add_filled(op, shape, steps));
  return steps.outputs();
}

}  // namespace lathe
