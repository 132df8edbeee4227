// How far right programs of a Dag may be apart: for each element its value, straight from the mathematics in
// double, and a bound on what roundings on the way make of it in the types of the Dag (check/approximate.h).
// Beside a pole, where terms cancel, behind a steep function or a step the bound is wide; it follows from the
// formula and the inputs alone, whatever the program.
//
// Elements of computes are kept, so a softmax' row is added up once. One element takes about 50 ns for each
// operation that it consists of. Not thread-safe.
#pragma once

#include <memory>
#include <span>

#include "base/result.h"
#include "base/watch.h"
#include "check/approximate.h"
#include "expr/dag.h"
#include "loop/host_tensor.h"

namespace lathe {

class ErrorBound {
 public:
  // The inputs are those of the Dag, in order, and outlive it; so does the Dag.
  ErrorBound(const Dag& dag, std::span<const HostTensor> inputs);
  ErrorBound(ErrorBound&&) noexcept;
  ErrorBound& operator=(ErrorBound&&) noexcept;
  ~ErrorBound();

  // One element of a tensor that the Dag computes, by its row-major position.
  Approximate at(const Tensor& tensor, int64_t position);
  // The same; an Error (timeout) where the watch is over before: one element may consist of all others.
  Result<Approximate> within(const Tensor& tensor, int64_t position, const Watch& watch);

 private:
  class Elements;
  std::unique_ptr<Elements> elements_;
};

// How many operations so many elements of each output consist of, at the most.
double operations_beneath(const Dag& dag, double elements);

// Whether roundings may change some element by more than a share of its terms: where the Dag divides, takes
// logarithms, roots or powers, or cuts floats off, and where integers or booleans follow from floats.
bool is_sensitive(const Dag& dag);

// Of the Dag's inputs those that have a part in what a divisor, a root's or a logarithm's operand is.
std::vector<bool> inputs_beneath_poles(const Dag& dag);

}  // namespace lathe
