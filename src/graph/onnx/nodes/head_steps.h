// Heads among the steps of an import, as every kind of attention has them: split from a width, put behind a
// past, multiplied, mixed and joined again.
#pragma once

#include <span>
#include <vector>

#include "graph/onnx/steps.h"

namespace lathe {

// Added to a product of f32 it leaves nothing of it, and is still a number.
constexpr double kUnseen = -3e38;

// A tensor [N, heads, places, size] among the steps.
struct Headed {
  size_t step = 0;
  int64_t heads = 0, places = 0, size = 0;
};

class HeadSteps {
 public:
  // `operands`: how many operands of the graph's nodes the ONNX node has; N is `batch` in all tensors.
  HeadSteps(size_t operands, int64_t batch) : steps_(operands), batch_(batch) {}

  StepList& steps() { return steps_; }
  size_t zip(ZipFunction function, size_t a, size_t b) { return steps_.add(ZipOp{function}, {a, b}); }

  // Of x [N, places, width]. An Error where the width does not divide among the heads.
  Result<Headed> split(size_t x, int64_t heads, int64_t places, int64_t width);
  // [N, places, heads x size].
  size_t join(const Headed& x);
  // Puts what was before, a step of [N, heads, past, size], before it.
  void put_before(Headed& x, size_t before, int64_t past);

  // [N, the queries' heads, queries, keys]: each query, times `scale`, by each key. There may be fewer heads
  // of keys, each of as many neighbouring heads of queries.
  size_t products(const Headed& query, const Headed& key, double scale);
  // The Softmax of each query's products.
  size_t weights(size_t products);
  // What the queries find in the values by their weights [N, the queries' heads, queries, keys].
  Headed mix(size_t weights, const Headed& query, const Headed& value);

  // A constant of f32 [queries, keys]: f(query, key).
  template <class Function>
  size_t by_places(int64_t queries, int64_t keys, Function f) {
    std::vector<double> numbers;
    for (int64_t query = 0; query < queries; ++query)
      for (int64_t key = 0; key < keys; ++key) numbers.push_back(f(query, key));
    return steps_.constant(DType::f32, {queries, keys}, numbers);
  }

  // These as the node's outputs.
  std::vector<ImportedOutput> outputs(std::span<const size_t> results);

 private:
  size_t transposed(size_t x, std::vector<size_t> order);
  size_t grouped_product(const Headed& query, size_t rows, int64_t inner, int64_t key_heads, size_t columns,
                         int64_t width);

  StepList steps_;
  int64_t batch_;
};

}  // namespace lathe
