#include "graph/operators/rearrange.h"

#include <fmt/format.h>

#include "graph/onnx/node.h"
#include "ops/axes.h"

namespace lathe {
namespace {

constexpr int64_t kLargestBlock = int64_t{1} << 15;  // keeps its square within what shapes hold

Shape tiled_shape(const TileOp& op, const Shape& shape) {
  Shape result = shape;
  for (size_t d = 0; d < shape.size(); ++d) result[d] *= op.repeats[d];
  return result;
}

Shape spread_shape(const DepthToSpaceOp& op, const Shape& shape) {
  return {shape[0], shape[1] / (op.block * op.block), shape[2] * op.block, shape[3] * op.block};
}

Shape gathered_shape(const SpaceToDepthOp& op, const Shape& shape) {
  return {shape[0], shape[1] * op.block * op.block, shape[2] / op.block, shape[3] / op.block};
}

std::string attributes_of_blocks(int64_t block, bool places_first) {
  return fmt::format("block {}, {} first", block, places_first ? "places" : "channels");
}

// Whether the place in a block comes before the channel in a number of both.
Result<bool> is_places_first(OnnxNode& node) {
  const std::string mode = node.text("mode", "DCR");
  if (mode == "DCR" || mode == "CRD") return mode == "DCR";
  return fail(ErrorKind::unsupported,
              fmt::format("attribute 'mode' is '{}', and Lathe supports DCR and CRD", mode));
}

Status check_blocks(int64_t block, const Shape& shape) {
  if (shape.size() != 4)
    return fail(ErrorKind::invalid_argument, fmt::format("{} is not [N, C, H, W]", to_string(shape)));
  if (block >= 1 && block <= kLargestBlock) return {};
  return fail(ErrorKind::invalid_argument,
              fmt::format("its block size is {}, and must be within 1 .. {}", block, kLargestBlock));
}

Result<int64_t> block_size(OnnxNode& node) {
  if (!node.has("blocksize")) return fail(ErrorKind::invalid_argument, "it lacks the attribute 'blocksize'");
  return node.integer("blocksize", 1);
}

}  // namespace

std::string attributes_of(const TileOp& op) { return to_string(op.repeats); }
std::string attributes_of(const DepthToSpaceOp& op) {
  return attributes_of_blocks(op.block, op.places_first);
}
std::string attributes_of(const SpaceToDepthOp& op) {
  return attributes_of_blocks(op.block, op.places_first);
}

Result<TensorType> infer(const TileOp& op, std::span<const TensorType> inputs) {
  constexpr int64_t kMostRepeats = int64_t{1} << 20;  // keeps a product with an extent within 64 bits
  const Shape& shape = inputs[0].shape;
  if (op.repeats.size() != shape.size()) {
    return fail(ErrorKind::invalid_argument, fmt::format("it has {} repeats for the {} axes of {}",
                                                         op.repeats.size(), shape.size(), to_string(shape)));
  }
  for (const int64_t repeats : op.repeats) {
    if (repeats >= 1 && repeats <= kMostRepeats) continue;
    return fail(ErrorKind::unsupported, fmt::format("repeats {} has an entry that is not within 1 .. {}",
                                                    to_string(op.repeats), kMostRepeats));
  }
  return TensorType{inputs[0].dtype, tiled_shape(op, shape)};
}

Result<TensorType> infer(const DepthToSpaceOp& op, std::span<const TensorType> inputs) {
  const Shape& shape = inputs[0].shape;
  LATHE_TRY_STATUS(check_blocks(op.block, shape));
  if (shape[1] % (op.block * op.block) == 0) return TensorType{inputs[0].dtype, spread_shape(op, shape)};
  return fail(ErrorKind::invalid_argument,
              fmt::format("the {} channels of {} are no whole blocks of {} by {}", shape[1], to_string(shape),
                          op.block, op.block));
}

Result<TensorType> infer(const SpaceToDepthOp& op, std::span<const TensorType> inputs) {
  const Shape& shape = inputs[0].shape;
  LATHE_TRY_STATUS(check_blocks(op.block, shape));
  if (shape[2] % op.block == 0 && shape[3] % op.block == 0)
    return TensorType{inputs[0].dtype, gathered_shape(op, shape)};
  return fail(ErrorKind::invalid_argument, fmt::format("the places of {} are no whole blocks of {} by {}",
                                                       to_string(shape), op.block, op.block));
}

Values evaluate(const TileOp& op, std::span<const Values> inputs) {
  const Shape& shape = inputs[0].shape;
  return moved(inputs[0], tiled_shape(op, shape), [&](Shape index) {
    for (size_t d = 0; d < shape.size(); ++d) index[d] %= shape[d];
    return index;
  });
}

Values evaluate(const DepthToSpaceOp& op, std::span<const Values> inputs) {
  const int64_t block = op.block;
  const Shape result = spread_shape(op, inputs[0].shape);
  return moved(inputs[0], result, [&](const Shape& at) {
    const int64_t place = at[2] % block * block + at[3] % block;
    const int64_t channel = op.places_first ? place * result[1] + at[1] : at[1] * block * block + place;
    return Shape{at[0], channel, at[2] / block, at[3] / block};
  });
}

Values evaluate(const SpaceToDepthOp& op, std::span<const Values> inputs) {
  const int64_t channels = inputs[0].shape[1];
  return moved(inputs[0], gathered_shape(op, inputs[0].shape), [&](const Shape& at) {
    const int64_t places = op.block * op.block;
    const int64_t place = op.places_first ? at[1] / channels : at[1] % places;
    const int64_t channel = op.places_first ? at[1] % channels : at[1] / places;
    return Shape{at[0], channel, at[2] * op.block + place / op.block, at[3] * op.block + place % op.block};
  });
}

Tensor lower(const TileOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const Shape& shape = operands[0]->shape;
  const std::vector<Axis> axes = axes_of(Tensor("tiled", tiled_shape(op, shape)));
  std::vector<Affine> index;
  for (size_t d = 0; d < axes.size(); ++d)
    index.push_back(op.repeats[d] == 1 ? Affine(axes[d].var) : modulo(axes[d].var, shape[d]));
  return builder.compute("tiled", axes, load(operands[0], index));
}

Tensor lower(const DepthToSpaceOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const Shape shape = spread_shape(op, operands[0]->shape);
  const std::vector<Axis> axes = axes_of(Tensor("spread", shape));
  const Affine c(axes[1].var), y(axes[2].var), x(axes[3].var);
  const Affine place = modulo(y, op.block) * op.block + modulo(x, op.block);
  const Affine channel = op.places_first ? place * shape[1] + c : c * (op.block * op.block) + place;
  return builder.compute(
      "spread", axes,
      load(operands[0], {Affine(axes[0].var), channel, floor_div(y, op.block), floor_div(x, op.block)}));
}

Tensor lower(const SpaceToDepthOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const int64_t channels = operands[0]->shape[1];
  const std::vector<Axis> axes = axes_of(Tensor("blocks", gathered_shape(op, operands[0]->shape)));
  const Affine c(axes[1].var), y(axes[2].var), x(axes[3].var);
  const int64_t places = op.block * op.block;
  const Affine channel = op.places_first ? modulo(c, channels) : floor_div(c, places);
  const Affine row =
      op.places_first ? floor_div(c, channels * op.block) : floor_div(modulo(c, places), op.block);
  const Affine column = modulo(op.places_first ? floor_div(c, channels) : c, op.block);
  return builder.compute(
      "blocks", axes,
      load(operands[0], {Affine(axes[0].var), channel, y * op.block + row, x * op.block + column}));
}

Result<TileOp> import_tile(OnnxNode& node) {
  LATHE_TRY(Shape repeats, node.constant_integers(1));
  return TileOp{std::move(repeats)};
}

Result<DepthToSpaceOp> import_depth_to_space(OnnxNode& node) {
  DepthToSpaceOp op;
  LATHE_TRY(op.block, block_size(node));
  LATHE_TRY(op.places_first, is_places_first(node));
  return op;
}

Result<SpaceToDepthOp> import_space_to_depth(OnnxNode& node) {
  SpaceToDepthOp op;
  LATHE_TRY(op.block, block_size(node));
  LATHE_TRY(op.places_first, is_places_first(node));
  return op;
}

}  // namespace lathe
