// The index of a read, solved for the axes of the block that reads: an index is a mixed-radix number whose
// digits are axes or their quotients and remainders (pixel y of tile y / m: y = m * (y / m) + y % m).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "expr/dag.h"

namespace lathe {

class IndexInverter {
 public:
  // `domains`: what the axes range over; must outlive this object.
  explicit IndexInverter(const Ranges& domains) : domains_(domains) {}

  // index == value; false: it cannot be inverted.
  bool equate(const Affine& index, const Affine& value);
  // The value of an axis in terms of what the indices were equated to, if it is one digit alone, or a
  // quotient and the remainders that go with it. More would be a condition on the places that are read.
  std::optional<Affine> axis(const Var& var) const;
  // Whether an index was equated that varies with the axis.
  bool constrains(const Var& var) const;

 private:
  struct Digit {
    Atom atom;
    Affine value;
  };
  const Ranges& domains_;
  std::vector<Digit> digits_;
};

// Whether a read at these indices tells each axis that it varies with: what `reverse_compute_at` can follow,
// wherever the values are written.
bool is_invertible(const std::vector<Affine>& index, std::span<const Axis> axes);

}  // namespace lathe
