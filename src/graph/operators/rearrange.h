// Operators that take the elements of one operand to places found by whole numbers, whatever the element
// type: a copy, which element-wise work joins.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

// The operand side by side with itself, so many times along each axis.
struct TileOp {
  static constexpr const char* kName = "Tile";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr bool kMovesElements = true;
  Shape repeats;  // an entry an axis

  bool operator==(const TileOp&) const = default;
};

// The channels of [N, C, H, W] as blocks of places: [N, C / block^2, H * block, W * block].
struct DepthToSpaceOp {
  static constexpr const char* kName = "DepthToSpace";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr bool kHasChannels = true;
  static constexpr bool kMovesElements = true;
  int64_t block = 1;
  bool places_first = true;  // a channel's number: its place in the block, then the result's channel (ONNX's
                             // DCR), or the other way round (CRD)

  bool operator==(const DepthToSpaceOp&) const = default;
};

// Blocks of places of [N, C, H, W] as channels: [N, block^2 * C, H / block, W / block].
struct SpaceToDepthOp {
  static constexpr const char* kName = "SpaceToDepth";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr bool kHasChannels = true;
  static constexpr bool kMovesElements = true;
  int64_t block = 1;
  bool places_first = true;  // a channel's number, as of DepthToSpaceOp

  bool operator==(const SpaceToDepthOp&) const = default;
};

std::string attributes_of(const TileOp& op);
std::string attributes_of(const DepthToSpaceOp& op);
std::string attributes_of(const SpaceToDepthOp& op);
Result<TensorType> infer(const TileOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const DepthToSpaceOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const SpaceToDepthOp& op, std::span<const TensorType> inputs);
Values evaluate(const TileOp& op, std::span<const Values> inputs);
Values evaluate(const DepthToSpaceOp& op, std::span<const Values> inputs);
Values evaluate(const SpaceToDepthOp& op, std::span<const Values> inputs);
Tensor lower(const TileOp& op, DagBuilder& builder, std::span<const Tensor> operands);
Tensor lower(const DepthToSpaceOp& op, DagBuilder& builder, std::span<const Tensor> operands);
Tensor lower(const SpaceToDepthOp& op, DagBuilder& builder, std::span<const Tensor> operands);

// ONNX Tile with constant repeats, DepthToSpace, SpaceToDepth.
Result<TileOp> import_tile(OnnxNode& node);
Result<DepthToSpaceOp> import_depth_to_space(OnnxNode& node);
Result<SpaceToDepthOp> import_space_to_depth(OnnxNode& node);

}  // namespace lathe
