#include "ops/matmul.h"

#include "base/check.h"

namespace lathe {
namespace {

Result<Operator> make_matmul(const Parameters& p) {
  DagBuilder builder;
  const int64_t batch = p["batch"];
  const auto shape = [&](int64_t rows, int64_t columns) {
    return batch == 1 ? std::vector<int64_t>{rows, columns} : std::vector<int64_t>{batch, rows, columns};
  };
  const Tensor a = builder.input("A", shape(p["m"], p["k"]));
  const Tensor b = builder.input("B", shape(p["k"], p["n"]));
  matmul(builder, "C", a, b);
  std::vector<std::string> constants;
  if (batch == 1) constants.emplace_back("B");
  return finish(builder, std::move(constants), multiply_adds({batch, p["m"], p["n"], p["k"]}));
}

Result<Operator> make_gemv(const Parameters& p) {
  DagBuilder builder;
  const Tensor a = builder.input("A", {p["m"], p["k"]});
  const Tensor x = builder.input("x", {p["k"]});
  gemv(builder, "y", a, x);
  return finish(builder, {"A"}, multiply_adds({p["m"], p["k"]}));
}

Result<Operator> make_bilinear(const Parameters& p) {
  DagBuilder builder;
  const Tensor x = builder.input("X", {p["batch"], p["in1_features"]});
  const Tensor w = builder.input("W", {p["out_features"], p["in1_features"], p["in2_features"]});
  const Tensor y = builder.input("Y", {p["batch"], p["in2_features"]});
  bilinear(builder, "O", x, w, y);
  return finish(builder, {"W"},
                multiply_adds({p["batch"], p["out_features"], p["in1_features"], p["in2_features"]}));
}

}  // namespace

Expr widened_product(const Expr& a, const Expr& b, DType sums) {
  const auto widened = [sums](const Expr& element) {
    const DType dtype = element.type().dtype;
    const bool is_narrow = dtype == DType::i8 || dtype == DType::u8;
    return is_narrow ? cast({sums, element.type().lanes}, element) : element;
  };
  return widened(a) * widened(b);
}

Tensor matmul(DagBuilder& builder, std::string name, const Tensor& a, const Tensor& b) {
  const size_t rank = a->shape.size();
  LATHE_CHECK(b->shape.size() == rank && (rank == 2 || rank == 3));
  const Axis i = spatial("i", a->shape[rank - 2]);
  const Axis j = spatial("j", b->shape[rank - 1]);
  const Axis r = reduce("r", a->shape[rank - 1]);
  if (rank == 2) return builder.compute(std::move(name), {i, j}, sum({r}, widened_product(a(i, r), b(r, j))));
  const Axis batch = spatial("b", a->shape[0]);
  return builder.compute(std::move(name), {batch, i, j},
                         sum({r}, widened_product(a(batch, i, r), b(batch, r, j))));
}

Tensor gemv(DagBuilder& builder, std::string name, const Tensor& a, const Tensor& x) {
  const Axis i = spatial("i", a->shape.at(0));
  const Axis r = reduce("r", a->shape.at(1));
  return builder.compute(std::move(name), {i}, sum({r}, a(i, r) * x(r)));
}

Tensor bilinear(DagBuilder& builder, std::string name, const Tensor& x, const Tensor& w, const Tensor& y) {
  const Axis b = spatial("b", x->shape.at(0));
  const Axis f = spatial("f", w->shape.at(0));
  const Axis r = reduce("r", w->shape.at(1));
  const Axis s = reduce("s", w->shape.at(2));
  return builder.compute(std::move(name), {b, f}, sum({r, s}, x(b, r) * w(f, r, s) * y(b, s)));
}

std::vector<OperatorEntry> matmul_operators() {
  return {{"matmul", {{"batch", 1, 1}, {"m"}, {"n"}, {"k"}}, make_matmul},
          {"gemv", {{"m"}, {"k"}}, make_gemv},
          {"bilinear", {{"batch"}, {"out_features"}, {"in1_features"}, {"in2_features"}}, make_bilinear}};
}

}  // namespace lathe
