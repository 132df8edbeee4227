#include "graph/operators/trilu.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/onnx/node.h"

namespace lathe {

std::string attributes_of(const TriluOp& op) {
  return fmt::format("{} from {}", op.upper ? "upper" : "lower", op.offset);
}

Result<TensorType> infer(const TriluOp&, std::span<const TensorType> inputs) {
  if (inputs[0].shape.size() >= 2) return inputs[0];
  return fail(ErrorKind::invalid_argument, fmt::format("{} is no matrix", to_string(inputs[0].shape)));
}

Values evaluate(const TriluOp& op, std::span<const Values> inputs) {
  Values result = inputs[0];
  const int64_t columns = result.shape.back();
  const int64_t rows = result.shape[result.shape.size() - 2];
  for (size_t i = 0; i < result.data.size(); ++i) {
    const int64_t column = static_cast<int64_t>(i) % columns;
    const int64_t diagonal = static_cast<int64_t>(i) / columns % rows + op.offset;
    if (op.upper ? column < diagonal : column > diagonal) result.data[i] = 0;
  }
  return result;
}

Expr lower(const TriluOp& op, const PointOperands& point) {
  const Expr x = point.at(0);
  const Expr column(point.axis_from_last(0).var);
  const Expr diagonal(Affine(point.axis_from_last(1).var) + Affine(op.offset));
  return select(op.upper ? column >= diagonal : column <= diagonal, x, literal(x.type(), 0));
}

Result<TriluOp> import_trilu(OnnxNode& node) {
  constexpr int64_t kLargestOffset = int64_t{1} << 40;  // no matrix has as many rows
  TriluOp op;
  op.upper = node.integer("upper", 1) != 0;
  if (!node.has_input(1)) return op;
  LATHE_TRY(const Shape offset, node.constant_integers(1));
  if (offset.size() != 1)
    return fail(ErrorKind::invalid_argument, fmt::format("its offset has {} values, not one", offset.size()));
  op.offset = std::clamp(offset[0], -kLargestOffset, kLargestOffset);
  return op;
}

}  // namespace lathe
