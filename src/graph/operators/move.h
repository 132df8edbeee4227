// Operators that put the elements of their operands into other places, whatever the element type: a copy,
// which element-wise work joins.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

struct TransposeOp {
  static constexpr const char* kName = "Transpose";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr bool kMovesElements = true;
  std::vector<size_t> order;  // the operand's axis for each of the result's

  bool operator==(const TransposeOp&) const = default;
};

// Every `step`-th place of each axis from `start` on, backwards where the step is negative.
struct SliceOp {
  static constexpr const char* kName = "Slice";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr bool kMovesElements = true;
  Shape starts;  // an entry an axis in each
  Shape steps;
  Shape extents;

  bool operator==(const SliceOp&) const = default;
};

// Operands side by side along an axis.
struct ConcatOp {
  static constexpr const char* kName = "Concat";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1024;
  static constexpr bool kMovesElements = true;
  size_t axis = 0;

  bool operator==(const ConcatOp&) const = default;
};

// The operand repeated along axes of one place, by NumPy's rule for broadcasting.
struct ExpandOp {
  static constexpr const char* kName = "Expand";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr bool kMovesElements = true;
  Shape shape;

  bool operator==(const ExpandOp&) const = default;
};

std::string attributes_of(const TransposeOp& op);
std::string attributes_of(const SliceOp& op);
std::string attributes_of(const ConcatOp& op);
std::string attributes_of(const ExpandOp& op);
Result<TensorType> infer(const TransposeOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const SliceOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const ConcatOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const ExpandOp& op, std::span<const TensorType> inputs);
Values evaluate(const TransposeOp& op, std::span<const Values> inputs);
Values evaluate(const SliceOp& op, std::span<const Values> inputs);
Values evaluate(const ConcatOp& op, std::span<const Values> inputs);
Values evaluate(const ExpandOp& op, std::span<const Values> inputs);
Tensor lower(const TransposeOp& op, DagBuilder& builder, std::span<const Tensor> operands);
Tensor lower(const SliceOp& op, DagBuilder& builder, std::span<const Tensor> operands);
Tensor lower(const ConcatOp& op, DagBuilder& builder, std::span<const Tensor> operands);
Tensor lower(const ExpandOp& op, DagBuilder& builder, std::span<const Tensor> operands);

// ONNX Transpose, Slice (its lists attributes before operator set 10, then constants), Concat, Expand.
Result<TransposeOp> import_transpose(OnnxNode& node);
Result<SliceOp> import_slice(OnnxNode& node);
Result<ConcatOp> import_concat(OnnxNode& node);
Result<ExpandOp> import_expand(OnnxNode& node);
// The parts of ONNX Split, in their order.
Result<std::vector<SliceOp>> import_split(OnnxNode& node);

}  // namespace lathe
