// Operators that give each element from the elements at the same place: they join the group of what produces
// their operand. Binary ones broadcast as NumPy does.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

struct ReluOp {
  static constexpr const char* kName = "Relu";
  static constexpr FusionRole kRole = FusionRole::elementwise;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;

  bool operator==(const ReluOp&) const = default;
};

struct AddOp {
  static constexpr const char* kName = "Add";
  static constexpr FusionRole kRole = FusionRole::elementwise;
  static constexpr size_t kLeastOperands = 2;
  static constexpr size_t kMostOperands = 2;

  bool operator==(const AddOp&) const = default;
};

std::string attributes_of(const ReluOp& op);
std::string attributes_of(const AddOp& op);
Result<TensorType> infer(const ReluOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const AddOp& op, std::span<const TensorType> inputs);
Values evaluate(const ReluOp& op, std::span<const Values> inputs);
Values evaluate(const AddOp& op, std::span<const Values> inputs);
Expr lower(const ReluOp& op, const PointOperands& point);
Expr lower(const AddOp& op, const PointOperands& point);

// ONNX Relu, Add.
Result<ReluOp> import_relu(OnnxNode& node);
Result<AddOp> import_add(OnnxNode& node);

}  // namespace lathe
