#include "graph/onnx/nodes/casts.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "graph/onnx/tensor.h"

namespace lathe {
namespace {

Result<PowerRounding> rounding_of(OnnxNode& node) {
  const std::string mode = node.text("round_mode", "up");
  if (mode == "up") return PowerRounding::up;
  if (mode == "down") return PowerRounding::down;
  if (mode == "nearest") return PowerRounding::nearest;
  return fail(ErrorKind::invalid_argument,
              fmt::format("attribute 'round_mode' is '{}', and must be up, down or nearest", mode));
}

// Floats become integers of a code by way of i32, whose lowest bits stay.
ImportedOutputs cast_to_code(OnnxNode& node, const RoundToCodeOp& op) {
  StepList steps(1);
  const DType held = held_in(op.code), given = node.type(0).dtype;
  size_t number = 0;
  if (is_float(given) && !is_float(held)) number = steps.add(CastOp{DType::i32}, {number});
  if (given != held) number = steps.add(CastOp{held}, {number});
  steps.add(op, {number});
  return std::vector<ImportedOutput>{steps.finish()};
}

// Nothing is left to do where the type stays.
ImportedOutputs cast_to_type(const OnnxNode& node, const CastOp& op) {
  const bool stays = op.to == node.type(0).dtype;
  return std::vector<ImportedOutput>{stays ? GraphOp(IdentityOp{}) : GraphOp(op)};
}

}  // namespace

ImportedOutputs import_cast_node(OnnxNode& node) {
  RoundToCodeOp op;
  op.saturates = node.integer("saturate", 1) != 0;
  LATHE_TRY(op.rounding, rounding_of(node));
  const std::optional<Code> code = code_of_onnx(node.integer("to", 0));
  if (!code) {
    LATHE_TRY(const CastOp cast, import_cast(node));
    return cast_to_type(node, cast);
  }
  op.code = *code;
  return cast_to_code(node, op);
}

ImportedOutputs import_cast_like(OnnxNode& node) {
  RoundToCodeOp op;
  op.saturates = node.integer("saturate", 1) != 0;
  LATHE_TRY(op.rounding, rounding_of(node));
  if (!node.code(1)) return cast_to_type(node, CastOp{node.declared(1)});
  op.code = *node.code(1);
  return cast_to_code(node, op);
}

}  // namespace lathe
