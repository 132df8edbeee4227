// Single elements of a Dag's tensors, straight from the mathematics: what a measured program's outputs are
// checked against without computing all of a large reference.
//
// Inputs are rounded to their types, everything else is computed and summed in double (casts round, integers
// wrap). Intermediate reductions are kept, so a softmax' row is summed once; other intermediates are computed
// where they are read. Reads outside of a tensor, which a verified Dag makes only on the side of a select
// that is not taken, give NaN. Deterministic. Not thread-safe: give each thread an evaluator of its own.
// Speed: 0.2 .. 1 G multiply-adds a second where the longest reduce axis has hundreds of elements.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/watch.h"
#include "expr/dag.h"
#include "loop/host_tensor.h"

namespace lathe {

namespace evaluator {
class DagEvaluator;
}

// Whether something that was computed may come out otherwise in a program, which rounds each value to its
// type: an operation whose operands did not go so far went beyond it.
struct Excess {
  bool of_floats = false;    // beyond magnitudes whose square the type still holds
  bool of_integers = false;  // beyond those that a double holds exactly
  // Floats that became integers, those of them that became the least or largest of a type that ends before
  // them, and the sum of how far beyond its largest these lay, in powers of two.
  int64_t converted = 0;
  int64_t saturated = 0;
  double powers_beyond = 0;
};

class ElementEvaluator {
 public:
  // `inputs` are those of the Dag, in order, and outlive the evaluator. An Error (invalid_argument) names an
  // input of another type or shape.
  static Result<ElementEvaluator> create(const Dag& dag, std::span<const HostTensor> inputs);
  ElementEvaluator(ElementEvaluator&&) noexcept;
  ElementEvaluator& operator=(ElementEvaluator&&) noexcept;
  ~ElementEvaluator();

  // One element of a compute's output; the index lies within its shape.
  double at(const Tensor& tensor, std::span<const int64_t> index);
  // The same by its row-major position.
  double at(const Tensor& tensor, int64_t position);
  // Likewise; an Error (timeout) where the watch is over before: one element may consist of all others.
  Result<double> within(const Tensor& tensor, int64_t position, const Watch& watch);
  // All of a compute's output, within the watch's time likewise.
  Result<HostTensor> all(const Tensor& tensor, const Watch& watch = {});
  // Of all that was computed so far, the sides of a select that are not taken among it.
  Excess excess() const;

 private:
  explicit ElementEvaluator(std::unique_ptr<evaluator::DagEvaluator> impl);
  std::unique_ptr<evaluator::DagEvaluator> impl_;
};

// All outputs of a Dag, within the watch's time likewise.
Result<std::vector<HostTensor>> evaluate(const Dag& dag, std::span<const HostTensor> inputs,
                                         const Watch& watch = {});

}  // namespace lathe
