#include "graph/onnx/nodes/head_steps.h"

#include <fmt/format.h>

#include <utility>

namespace lathe {

size_t HeadSteps::transposed(size_t x, std::vector<size_t> order) {
  return steps_.add(TransposeOp{std::move(order)}, {x});
}

Result<Headed> HeadSteps::split(size_t x, int64_t heads, int64_t places, int64_t width) {
  if (width % heads != 0) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} numbers a place do not divide among {} heads", width, heads));
  }
  const int64_t size = width / heads;
  const size_t apart = steps_.add(ReshapeOp{{batch_, places, heads, size}}, {x});
  return Headed{transposed(apart, {0, 2, 1, 3}), heads, places, size};
}

size_t HeadSteps::join(const Headed& x) {
  return steps_.add(ReshapeOp{{batch_, x.places, x.heads * x.size}}, {transposed(x.step, {0, 2, 1, 3})});
}

void HeadSteps::put_before(Headed& x, size_t before, int64_t past) {
  x.step = steps_.add(ConcatOp{2}, {before, x.step});
  x.places += past;
}

// Heads that share keys and values stand side by side, so they are rows of one product.
size_t HeadSteps::grouped_product(const Headed& query, size_t rows, int64_t inner, int64_t key_heads,
                                  size_t columns, int64_t width) {
  const int64_t shared = query.heads / key_heads;
  const Shape grouped{batch_, key_heads, shared * query.places, inner};
  const size_t left = shared == 1 ? rows : steps_.add(ReshapeOp{grouped}, {rows});
  const size_t product = steps_.add(MatMulOp{}, {left, columns});
  if (shared == 1) return product;
  return steps_.add(ReshapeOp{{batch_, query.heads, query.places, width}}, {product});
}

size_t HeadSteps::products(const Headed& query, const Headed& key, double scale) {
  const size_t scaled = zip(ZipFunction::mul, query.step, steps_.real(scale));
  return grouped_product(query, scaled, query.size, key.heads, transposed(key.step, {0, 1, 3, 2}),
                         key.places);
}

size_t HeadSteps::weights(size_t products) {
  SoftmaxOp softmax;
  softmax.axes = {3};
  return steps_.add(softmax, {products});
}

Headed HeadSteps::mix(size_t weights, const Headed& query, const Headed& value) {
  const size_t mixed = grouped_product(query, weights, value.places, value.heads, value.step, value.size);
  return {mixed, query.heads, query.places, value.size};
}

std::vector<ImportedOutput> HeadSteps::outputs(std::span<const size_t> results) {
  std::vector<ImportedOutput> outputs;
  for (const size_t result : results) {
    steps_.add(IdentityOp{}, {result});
    outputs.emplace_back(steps_.finish());
  }
  return outputs;
}

}  // namespace lathe
