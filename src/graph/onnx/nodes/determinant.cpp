#include "graph/onnx/nodes/determinant.h"

#include <fmt/format.h>

#include "graph/onnx/nodes/node_steps.h"

namespace lathe {
namespace {

constexpr int64_t kMostRows = 128;

// Matrices [batch, rows, rows] while they are eliminated. Each step is the same operators of the same shapes
// over all rows, with its number as an operand: one kernel serves all steps.
class Elimination : public NodeSteps {
 public:
  Elimination(int64_t batch, int64_t rows) : NodeSteps(1), batch_(batch), rows_(rows) {
    matrix_ = reshape(0, {batch, rows, rows});
    numbers_ = counted({rows});
  }

  // Takes a multiple of the row with the largest element of column k off all others, and the row out: those
  // up to k are not looked at again. Gives the element, with the sign of the exchange of two rows.
  size_t eliminate(int64_t k) {
    const size_t number = whole(k);
    const size_t column = gather(matrix_, 2, number), first = gather(matrix_, 1, number);
    const size_t is_left = zip(ZipFunction::less_equal, number, numbers_);
    const size_t sizes = where(is_left, map(MapFunction::abs, column), real(-1));
    const size_t at = add(ArgExtremumOp{true, 1}, {sizes});
    GatherElementsOp take;
    take.axis = 1;
    const size_t pivot = add(take, {column, at});
    const size_t row = add(take, {matrix_, expand(reshape(at, {batch_, 1, 1}), {batch_, 1, rows_})});
    // Row k takes the place of the one that goes.
    const size_t goes = zip(ZipFunction::equal, numbers_, at);
    const size_t others =
        where(reshape(goes, {batch_, rows_, 1}), reshape(first, {batch_, 1, rows_}), matrix_);
    const size_t own = where(goes, gather(first, 1, reshape(number, {1})), column);
    const size_t is_nothing = zip(ZipFunction::equal, pivot, real(0));
    const size_t share = zip(ZipFunction::div, own, where(is_nothing, real(1), pivot));
    matrix_ = minus(others, times(reshape(share, {batch_, rows_, 1}), row));
    const size_t stays = zip(ZipFunction::equal, at, number);
    return where(stays, pivot, map(MapFunction::negate, pivot));
  }

 private:
  int64_t batch_, rows_;
  size_t matrix_ = 0;
  size_t numbers_ = 0;  // of the rows
};

}  // namespace

ImportedOutputs import_det(OnnxNode& node) {
  const Shape& shape = node.shape(0);
  const size_t rank = shape.size();
  if (rank < 2 || shape[rank - 1] != shape[rank - 2]) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("its operand {} does not hold square matrices", to_string(shape)));
  }
  const int64_t rows = shape.back();
  if (rows > kMostRows) {
    return fail(ErrorKind::unsupported,
                fmt::format("its matrices have {} rows, and Lathe supports {}", rows, kMostRows));
  }
  Elimination steps(elements_between(shape, 0, rank - 2), rows);
  size_t product = steps.eliminate(0);
  for (int64_t k = 1; k < rows; ++k) product = steps.times(product, steps.eliminate(k));
  steps.give(steps.reshape(product, Shape(shape.begin(), shape.end() - 2)));
  return steps.outputs();
}

}  // namespace lathe
