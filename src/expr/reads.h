// What a scalar body reads, and how far each index reaches where it is read: conditions of the selects around
// a read narrow what ranges alone allow. `I.pad = select(y >= 1 && y < 57, I[y - 1], 0.0)` reads I at 0
// .. 55.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "expr/expr.h"

namespace lathe {

// One read, with affine forms that are >= 0 wherever it happens. `load` lives as long as the body.
struct Read {
  const Load* load = nullptr;
  std::vector<Affine> facts;
  bool is_conditional = false;  // in a branch of a select
};

// Every read of the body, outside in and left to right; those inside indices included.
std::vector<Read> reads_of(const Expr& body);

// Bounds of an index, each end only where something bounds it.
struct Reach {
  std::optional<int64_t> lo;
  std::optional<int64_t> hi;
};

// Of what is left after a division by a positive constant, of a value with such bounds.
Reach modulo_reach(const Reach& operand, int64_t divisor);

// What an indirect value, such as a load, reaches; null: nothing is known.
using ValueReach = std::function<Reach(const Expr& value)>;

// Sound, not always tight. An indirect index has no bounds unless the facts or `values` give them.
Reach reach_of(const Affine& index, const Ranges& ranges, std::span<const Affine> facts,
               const ValueReach& values = nullptr);

}  // namespace lathe
