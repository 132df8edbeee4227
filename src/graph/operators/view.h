// Operators that only give another shape to the same elements in the same order: no work, the result lies in
// the operand's storage.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

struct IdentityOp {
  static constexpr const char* kName = "Identity";
  static constexpr FusionRole kRole = FusionRole::view;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr bool kMovesElements = true;

  bool operator==(const IdentityOp&) const = default;
};

// Reshape, Flatten, Squeeze and Unsqueeze, with the shape that import found.
struct ReshapeOp {
  static constexpr const char* kName = "Reshape";
  static constexpr FusionRole kRole = FusionRole::view;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr bool kMovesElements = true;
  Shape shape;

  bool operator==(const ReshapeOp&) const = default;
};

std::string attributes_of(const IdentityOp& op);
std::string attributes_of(const ReshapeOp& op);
Result<TensorType> infer(const IdentityOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const ReshapeOp& op, std::span<const TensorType> inputs);
Values evaluate(const IdentityOp& op, std::span<const Values> inputs);
Values evaluate(const ReshapeOp& op, std::span<const Values> inputs);

// ONNX Identity, and Dropout in inference.
Result<IdentityOp> import_identity(OnnxNode& node);
Result<IdentityOp> import_dropout(OnnxNode& node);
// ONNX Reshape, Flatten, Squeeze, Unsqueeze.
Result<ReshapeOp> import_reshape(OnnxNode& node);
Result<ReshapeOp> import_flatten(OnnxNode& node);
Result<ReshapeOp> import_squeeze(OnnxNode& node);
Result<ReshapeOp> import_unsqueeze(OnnxNode& node);

}  // namespace lathe
