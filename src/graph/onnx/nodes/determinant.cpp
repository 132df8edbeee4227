#include "graph/onnx/nodes/determinant.h"

#include <fmt/format.h>

#include <optional>

#include "graph/onnx/nodes/node_steps.h"

namespace lathe {
namespace {

constexpr int64_t kMostRows = 32;

// One column and one row less of [batch, rows, rows], and what its determinant is a multiple by.
struct Eliminated {
  size_t rest = 0;
  size_t factor = 0;
};

Eliminated eliminate(NodeSteps& steps, size_t x, int64_t batch, int64_t rows) {
  const Shape shape{batch, rows, rows}, below{batch, rows - 1, rows - 1};
  const size_t column = steps.part(x, shape, 2, 0, 1);
  const size_t at = steps.add(ArgExtremumOp{true, 1}, {steps.map(MapFunction::abs, column)});
  GatherElementsOp take;
  take.axis = 1;
  const size_t pivot_row = steps.add(take, {x, steps.expand(at, {batch, 1, rows})});
  const size_t pivot = steps.part(pivot_row, {batch, 1, rows}, 2, 0, 1);
  // The first row takes the place of the one that goes.
  const size_t number = steps.integers({1, rows - 1, 1}, [&] {
    Shape numbers;
    for (int64_t row = 1; row < rows; ++row) numbers.push_back(row);
    return numbers;
  }());
  const size_t none = steps.whole(0);
  const size_t sources = steps.where(steps.zip(ZipFunction::equal, number, at), none, number);
  const size_t others = steps.add(take, {x, steps.expand(sources, {batch, rows - 1, rows})});
  const Shape others_shape{batch, rows - 1, rows};
  const size_t is_nothing = steps.zip(ZipFunction::equal, pivot, steps.real(0));
  const size_t divisor = steps.where(is_nothing, steps.real(1), pivot);
  const size_t share = steps.zip(ZipFunction::div, steps.part(others, others_shape, 2, 0, 1), divisor);
  const size_t subtracted = steps.times(share, steps.part(pivot_row, {batch, 1, rows}, 2, 1, rows - 1));
  const size_t rest = steps.minus(steps.part(others, others_shape, 2, 1, rows - 1), subtracted);
  const size_t stays = steps.zip(ZipFunction::equal, at, none);
  return {rest, steps.where(stays, pivot, steps.map(MapFunction::negate, pivot))};
}

}  // namespace

ImportedOutputs import_det(OnnxNode& node) {
  const Shape& shape = node.shape(0);
  const size_t rank = shape.size();
  if (rank < 2 || shape[rank - 1] != shape[rank - 2]) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("its operand {} does not hold square matrices", to_string(shape)));
  }
  int64_t rows = shape.back();
  if (rows > kMostRows) {
    return fail(ErrorKind::unsupported,
                fmt::format("its matrices have {} rows, and Lathe supports {}", rows, kMostRows));
  }
  const int64_t batch = elements_between(shape, 0, rank - 2);
  NodeSteps steps(node.input_count());
  size_t rest = steps.reshape(0, {batch, rows, rows});
  std::optional<size_t> product;
  for (; rows > 1; --rows) {
    const Eliminated next = eliminate(steps, rest, batch, rows);
    product = product ? steps.times(*product, next.factor) : next.factor;
    rest = next.rest;
  }
  const size_t result = product ? steps.times(*product, rest) : rest;
  steps.give(steps.reshape(result, Shape(shape.begin(), shape.end() - 2)));
  return steps.outputs();
}

}  // namespace lathe
