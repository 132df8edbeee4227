#include "graph/operators/matmul.h"

#include <fmt/format.h>

#include "graph/onnx/node.h"
#include "ops/axes.h"
#include "ops/matmul.h"

namespace lathe {
namespace {

// What both operands' axes mean. An operand of one axis has no rows or no columns.
struct Product {
  Shape batch;  // of the result
  int64_t rows = 1;
  int64_t inner = 1;
  int64_t columns = 1;
  bool has_rows = true;
  bool has_columns = true;

  Shape shape() const {
    Shape result = batch;
    if (has_rows) result.push_back(rows);
    if (has_columns) result.push_back(columns);
    return result;
  }
};

Shape leading(const Shape& shape) {
  return shape.size() <= 2 ? Shape() : Shape(shape.begin(), shape.end() - 2);
}

Result<Product> product_of(const Shape& a, const Shape& b) {
  const auto refuse = [&] {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} and {} do not multiply", to_string(a), to_string(b)));
  };
  if (a.empty() || b.empty()) return refuse();
  Product product;
  product.has_rows = a.size() > 1;
  product.has_columns = b.size() > 1;
  product.inner = a.back();
  if (product.has_rows) product.rows = a[a.size() - 2];
  if (product.has_columns) product.columns = b.back();
  if (b[product.has_columns ? b.size() - 2 : 0] != product.inner) return refuse();
  LATHE_TRY(product.batch, broadcast_shapes(leading(a), leading(b)));
  return product;
}

// The leading index of an operand whose leading shape broadcasts to `batch`.
std::vector<Affine> leading_index(const Shape& shape, const std::vector<Axis>& batch) {
  std::vector<Affine> index;
  const Shape own = leading(shape);
  for (size_t d = 0; d < own.size(); ++d) {
    const Axis& axis = batch[batch.size() - own.size() + d];
    index.push_back(own[d] == axis.extent ? Affine(axis.var) : Affine(0));
  }
  return index;
}

}  // namespace

std::string attributes_of(const MatMulOp&) { return {}; }

Result<TensorType> infer(const MatMulOp&, std::span<const TensorType> inputs) {
  LATHE_TRY(const DType dtype, product_type(inputs));
  LATHE_TRY(const Product product, product_of(inputs[0].shape, inputs[1].shape));
  return TensorType{dtype, product.shape()};
}

Values evaluate(const MatMulOp&, std::span<const Values> inputs) {
  const std::vector<double>& a = inputs[0].data;
  const std::vector<double>& b = inputs[1].data;
  const Product product = *product_of(inputs[0].shape, inputs[1].shape);
  Values result{product.shape(), {}};
  Shape batch(product.batch.size(), 0);
  do {
    const int64_t a_at = broadcast_offset(leading(inputs[0].shape), batch) * product.rows * product.inner;
    const int64_t b_at = broadcast_offset(leading(inputs[1].shape), batch) * product.inner * product.columns;
    for (int64_t i = 0; i < product.rows; ++i) {
      std::vector<ProductSum> row(static_cast<size_t>(product.columns), ProductSum(inputs[0].dtype));
      for (int64_t r = 0; r < product.inner; ++r) {
        const double factor = a[static_cast<size_t>(a_at + i * product.inner + r)];
        const double* const from = b.data() + b_at + r * product.columns;
        for (size_t j = 0; j < row.size(); ++j) row[j].add(factor, from[j]);
      }
      for (const ProductSum& sum : row) result.data.push_back(sum.value());
    }
  } while (next_index(batch, product.batch));
  return result;
}

double steps_of(const MatMulOp&, std::span<const TensorType> inputs) {
  const Product product = *product_of(inputs[0].shape, inputs[1].shape);
  return static_cast<double>(elements_of(product.shape())) * static_cast<double>(product.inner);
}

Tensor lower(const MatMulOp&, DagBuilder& builder, std::span<const Tensor> operands) {
  const Product product = *product_of(operands[0]->shape, operands[1]->shape);
  std::vector<Axis> axes;
  for (size_t d = 0; d < product.batch.size(); ++d)
    axes.push_back(spatial(fmt::format("b{}", d), product.batch[d]));
  std::vector<Affine> left = leading_index(operands[0]->shape, axes);
  std::vector<Affine> right = leading_index(operands[1]->shape, axes);
  const Axis r = reduce("r", product.inner);
  if (product.has_rows) {
    axes.push_back(spatial("i", product.rows));
    left.emplace_back(axes.back().var);
  }
  left.emplace_back(r.var);
  right.emplace_back(r.var);
  if (product.has_columns) {
    axes.push_back(spatial("j", product.columns));
    right.emplace_back(axes.back().var);
  }
  return builder.compute(builder.fresh_name("product"), axes,
                         sum({r}, widened_product(load(operands[0], left), load(operands[1], right))));
}

Result<MatMulOp> import_matmul(OnnxNode&) { return MatMulOp{}; }

}  // namespace lathe
