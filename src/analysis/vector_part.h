// What vectors may run along in a stage: an axis, or the quotients of an axis that is read divided. Pure
// functions of a compute; which layouts are still open is the writer's concern.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "expr/dag.h"
#include "task/layout.h"

namespace lathe {

// An index that is a variable, whole, its remainders by `divisor` (modulo) or its quotients (floor_div).
struct IndexPart {
  Var axis;
  AtomKind kind = AtomKind::variable;
  int64_t divisor = 1;
};
// Nothing for any other index.
std::optional<IndexPart> index_part(const Affine& index);

struct VectorPart {
  size_t axis = 0;
  int64_t divisor = 1;  // vectors run over the axis' quotients by it; it divides the axis' extent

  bool operator==(const VectorPart&) const = default;
};

// Where a read moves as vectors run along a part: by one of a dimension's quotients at each step.
struct VectorStep {
  std::optional<size_t> dim;  // none: it does not move
  int64_t divisor = 1;
};
// Nothing where it moves in several dimensions, or otherwise.
std::optional<VectorStep> vector_step(const Compute& compute, const Load& read, const VectorPart& part);

// The parts along which every read moves by steps, or not at all; in the order of the axes.
std::vector<VectorPart> vector_parts(const Compute& compute);

// The dimensions in their order, but the quotients of this one last.
Layout with_quotients_last(const Tensor& tensor, size_t dim, int64_t divisor);

}  // namespace lathe
