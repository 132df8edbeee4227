#include "ops/special.h"

#include <fmt/format.h>

#include "ops/window.h"

namespace lathe {
namespace {

Result<Operator> make_norm(const Parameters& p) {
  DagBuilder builder;
  frobenius_norm(builder, "o", builder.input("A", {p["batch"], p["m"], p["n"]}));
  return finish(builder);
}

Result<Operator> make_circulant(const Parameters& p) {
  if (p["block"] > p["rows"] || p["block"] > p["cols"]) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("a block of {} does not fit a {} x {} matrix", p["block"], p["rows"], p["cols"]));
  }
  DagBuilder builder;
  block_circulant_matrix(builder, "O", builder.input("A", {p["rows"], p["cols"]}), p["block"]);
  return finish(builder);
}

Result<Operator> make_shift(const Parameters& p) {
  DagBuilder builder;
  const Tensor input = builder.input("I", {p["batch"], p["height"], p["width"], p["channels"]});
  const Tensor s = builder.input("s", {p["channels"]}, DType::i32);
  shift_conv2d(builder, "O", input, s, p["kernel"], p["dilation"]);
  return finish(builder);
}

}  // namespace

Tensor frobenius_norm(DagBuilder& builder, const std::string& name, const Tensor& a) {
  const Axis b = spatial("b", a->shape.at(0));
  const Axis i = reduce("i", a->shape.at(1));
  const Axis j = reduce("j", a->shape.at(2));
  const Tensor squares = builder.compute(name + ".sum", {b}, sum({i, j}, a(b, i, j) * a(b, i, j)));
  return builder.compute(name, {b}, sqrt(squares(b)));
}

Tensor block_circulant_matrix(DagBuilder& builder, const std::string& name, const Tensor& a, int64_t block) {
  const int64_t rows = a->shape.at(0) / block;
  const int64_t columns = a->shape.at(1) / block * block;
  const Axis i = spatial("i", rows);
  const Axis j = spatial("j", columns);
  const Axis k = reduce("k", block);
  const Expr diagonal = a(i * block + k, j / block * block + (j + k) % block);
  const Tensor mean =
      builder.compute(name + ".mean", {i, j}, sum({k}, diagonal / static_cast<double>(block)));
  const Axis row = spatial("i", a->shape[0]);
  const Axis column = spatial("j", a->shape[1]);
  Expr value = mean(row / block, column / block * block + (column - row) % block);
  if (rows * block != row.extent) value = select(row < rows * block, value, 0.0);
  if (columns != column.extent) value = select(column < columns, value, 0.0);
  return builder.compute(name, {row, column}, value);
}

Tensor shift_conv2d(DagBuilder& builder, std::string name, const Tensor& input, const Tensor& s,
                    int64_t kernel, int64_t dilation) {
  const int64_t reach = dilation * (kernel - 1);
  const int64_t before = reach / 2;
  Window window;
  window.padding = {before, before};
  window.padding_after = {reach - before, reach - before};
  const Tensor padded = pad(builder, input, 1, 2, window);
  const Axis n = spatial("n", input->shape.at(0));
  const Axis h = spatial("h", input->shape.at(1));
  const Axis w = spatial("w", input->shape.at(2));
  const Axis c = spatial("c", input->shape.at(3));
  const Affine choice = to_affine(s(c));
  return builder.compute(
      std::move(name), {n, h, w, c},
      padded(n, h + floor_div(choice, kernel) * dilation, w + modulo(choice, kernel) * dilation, c));
}

std::vector<OperatorEntry> special_operators() {
  return {{"frobenius_norm", {{"batch"}, {"m"}, {"n"}}, make_norm},
          {"block_circulant_matrix", {{"rows"}, {"cols"}, {"block"}}, make_circulant},
          {"shift_conv2d",
           {{"batch"}, {"height"}, {"width"}, {"channels"}, {"kernel"}, {"dilation", 1, 1}},
           make_shift}};
}

}  // namespace lathe
