// Expressions over one vectorised loop's variable as vectors (vectorize_loops.h).
#pragma once

#include <optional>

#include "lower/blocks/known.h"
#include "lower/buffers/storage_sizes.h"

namespace lathe {

// The variable of a vectorised loop and its number of iterations.
struct Lanes {
  Var var;
  int count = 1;

  // base + stride * lane.
  struct Offset {
    Affine base;
    int64_t stride = 0;
  };
  // Empty where the variable occurs inside a division, modulo or opaque value.
  std::optional<Offset> split(const Affine& a) const;
  // The lanes for which value < bound, a mask; empty as for `split`.
  std::optional<Expr> below(const Affine& value, int64_t bound) const;
  // A scalar in every lane; a vector as it is.
  Expr widen(const Expr& e) const { return e.type().lanes == count ? e : broadcast(e, count); }
};

class ExprVectorizer {
 public:
  ExprVectorizer(const Lanes& lanes, const StorageSizes& storage, const Known& known)
      : lanes_(lanes), storage_(storage), known_(known) {}

  // The value in all lanes, or a scalar where the lanes agree. `mask` (may be undefined): the lanes that
  // count. Empty where it cannot be vectorised.
  std::optional<Expr> visit(const Expr& e, const Expr& mask);

  // Whether a scalar load was met that might leave its buffer where no lane counts.
  bool has_unsafe_scalar() const { return has_unsafe_scalar_; }

 private:
  std::optional<Expr> visit_load(const Load& load, Type type, const Expr& mask);
  std::optional<Expr> visit_binary(const Binary& node, const Expr& mask);
  std::optional<Expr> visit_select(const Select& node, const Expr& mask);
  std::optional<Expr> visit_call(const Call& node, const Expr& mask);
  // A vector of a group of elements, as the groups of all lanes side by side, or one where the lanes agree.
  std::optional<Expr> visit_group(const Expr& e, const Expr& mask);
  std::optional<Expr> visit_group(const Load& load, Type type, const Expr& mask);

  const Lanes& lanes_;
  const StorageSizes& storage_;
  const Known& known_;
  bool below_select_ = false;  // the mask comes from a select's lanes, too
  bool has_unsafe_scalar_ = false;
};

}  // namespace lathe
