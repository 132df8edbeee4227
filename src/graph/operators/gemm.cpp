#include "graph/operators/gemm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/onnx/node.h"

namespace lathe {

std::string attributes_of(const GemmOp& op) {
  std::vector<std::string> attributes;
  if (op.transpose_a) attributes.emplace_back("A transposed");
  if (op.transpose_b) attributes.emplace_back("B transposed");
  if (op.alpha != 1) attributes.push_back(fmt::format("alpha {}", op.alpha));
  if (op.beta != 1) attributes.push_back(fmt::format("beta {}", op.beta));
  return fmt::format("{}", fmt::join(attributes, ", "));
}

Result<TensorType> infer(const GemmOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_reals(inputs));
  const Shape& a = inputs[0].shape;
  const Shape& b = inputs[1].shape;
  if (a.size() != 2 || b.size() != 2) {
    return fail(ErrorKind::unsupported,
                fmt::format("its operands have shapes {} and {}, and Lathe supports two matrices",
                            to_string(a), to_string(b)));
  }
  if (a[op.transpose_a ? 0 : 1] != b[op.transpose_b ? 1 : 0]) {
    return fail(ErrorKind::invalid_argument, fmt::format("{}{} and {}{} do not multiply", to_string(a),
                                                         op.transpose_a ? " transposed" : "", to_string(b),
                                                         op.transpose_b ? " transposed" : ""));
  }
  const Shape shape{a[op.transpose_a ? 1 : 0], b[op.transpose_b ? 0 : 1]};
  if (inputs.size() > 2) {
    const Result<Shape> joined = broadcast_shapes(inputs[2].shape, shape);
    if (!joined || *joined != shape) {
      return fail(ErrorKind::invalid_argument, fmt::format("the bias {} does not broadcast to {}",
                                                           to_string(inputs[2].shape), to_string(shape)));
    }
  }
  return TensorType{inputs[0].dtype, shape};
}

Values evaluate(const GemmOp& op, std::span<const Values> inputs) {
  const Values& a = inputs[0];
  const Values& b = inputs[1];
  const int64_t m = a.shape[op.transpose_a ? 1 : 0], k = a.shape[op.transpose_a ? 0 : 1];
  const int64_t n = b.shape[op.transpose_b ? 0 : 1];
  Values result{{m, n}, {}};
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t r = 0; r < k; ++r) {
        sum += a.data[static_cast<size_t>(op.transpose_a ? r * m + i : i * k + r)] *
               b.data[static_cast<size_t>(op.transpose_b ? j * k + r : r * n + j)];
      }
      sum *= op.alpha;
      if (inputs.size() > 2)
        sum += op.beta * inputs[2].data[static_cast<size_t>(broadcast_offset(inputs[2].shape, {i, j}))];
      result.data.push_back(sum);
    }
  }
  return result;
}

double steps_of(const GemmOp& op, std::span<const TensorType> inputs) {
  return static_cast<double>(elements_of(inputs[0].shape)) *
         static_cast<double>(inputs[1].shape[op.transpose_b ? 0 : 1]);
}

Tensor lower(const GemmOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const Tensor& a = operands[0];
  const Tensor& b = operands[1];
  const Axis i = spatial("i", a->shape[op.transpose_a ? 1 : 0]);
  const Axis j = spatial("j", b->shape[op.transpose_b ? 0 : 1]);
  const Axis r = reduce("r", a->shape[op.transpose_a ? 0 : 1]);
  const Expr left = op.transpose_a ? a(r, i) : a(i, r);
  const Expr right = op.transpose_b ? b(j, r) : b(r, j);
  return builder.compute("gemm", {i, j}, sum({r}, left * right));
}

bool needs_epilogue(const GemmOp& op, size_t operands) { return operands > 2 || op.alpha != 1; }

Expr epilogue(const GemmOp& op, const Expr& value, const PointOperands& point) {
  const auto scaled = [](const Expr& x, double factor) { return factor == 1 ? x : x * real(factor); };
  const Expr product = scaled(value, op.alpha);
  return point.count() > 2 ? product + scaled(point.at(2), op.beta) : product;
}

Result<GemmOp> import_gemm(OnnxNode& node) {
  GemmOp op;
  op.transpose_a = node.integer("transA", 0) != 0;
  op.transpose_b = node.integer("transB", 0) != 0;
  op.alpha = node.real("alpha", 1);
  op.beta = node.real("beta", 1);
  return op;
}

}  // namespace lathe
