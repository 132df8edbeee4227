// Index arithmetic in a canonical form: a constant plus coefficients times atoms, where an atom is a
// variable, a floor division or a modulo of another affine form by a constant, or an opaque integer value (an
// indirect index). Two equal sums of terms are one value, so equality, substitution and bounds are structural
// and cheap. Values are immutable; copying shares the atoms. Divisors are positive; division rounds down.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lathe {

class Expr;
class Affine;
class Ranges;
struct AtomNode;
using Atom = std::shared_ptr<const AtomNode>;

// A loop variable or block axis: identity by object, not by name.
class Var {
 public:
  Var() = default;
  explicit Var(std::string name);
  explicit Var(Atom atom) : atom_(std::move(atom)) {}

  const std::string& name() const;
  const Atom& atom() const { return atom_; }
  bool defined() const { return atom_ != nullptr; }
  bool operator==(const Var& other) const { return atom_ == other.atom_; }

 private:
  Atom atom_;
};

// An inclusive range of integers.
struct Interval {
  int64_t lo = 0;
  int64_t hi = 0;

  bool operator==(const Interval&) const = default;
};

// Variable -> value, for substitution.
using Substitution = std::vector<std::pair<Var, Affine>>;

class Affine {
 public:
  struct Term {
    Atom atom;
    int64_t coefficient;
    bool operator==(const Term& other) const;
  };

  Affine(int64_t constant = 0) : constant_(constant) {}  // NOLINT: an integer is an affine form
  Affine(const Var& var) : Affine(var.atom()) {}         // NOLINT: and so is a variable
  explicit Affine(Atom atom, int64_t coefficient = 1);

  int64_t constant() const { return constant_; }
  std::span<const Term> terms() const { return terms_; }
  bool is_constant() const { return terms_.empty(); }
  bool is(int64_t value) const { return terms_.empty() && constant_ == value; }
  // The variable, if this form is exactly one variable with coefficient 1.
  std::optional<Var> as_var() const;
  // The coefficient with which `var` stands directly in the sum (not inside a div, mod or opaque atom).
  int64_t coefficient(const Var& var) const;
  // Whether `var` occurs anywhere, inside atoms too.
  bool uses(const Var& var) const;
  // Whether `var` occurs inside a div, mod or opaque atom.
  bool uses_inside_atom(const Var& var) const;

  Affine& operator+=(const Affine& other);
  Affine& operator*=(int64_t factor);
  friend Affine operator+(Affine a, const Affine& b) { return a += b; }
  friend Affine operator-(Affine a, const Affine& b);
  friend Affine operator*(Affine a, int64_t factor) { return a *= factor; }
  bool operator==(const Affine& other) const;

 private:
  friend Affine substitute(const Affine&, const Substitution&);
  friend Affine simplify(const Affine&, const Ranges&);
  int64_t constant_ = 0;
  std::vector<Term> terms_;  // sorted by `compare(atom)`, no zero coefficients, no equal atoms
};

// What is known of variables: the values that each may take, and what sums of them stay below. Small,
// searched linearly.
class Ranges {
 public:
  void set(const Var& var, Interval range);
  // The variable takes 0 .. extent - 1.
  void set_extent(const Var& var, int64_t extent) { set(var, {0, extent - 1}); }
  const Interval* find(const AtomNode* var) const;
  // As if it had never been set.
  void forget(const Var& var);

  // That sum, and so the same with another constant, is known to be `limit` at most.
  void set_limit(const Affine& sum, int64_t limit);
  bool has_limits() const { return !limits_.empty(); }
  // What is known of the whole sum in that way; INT64_MAX where nothing is.
  int64_t limit_of(const Affine& sum) const;

 private:
  struct Limit {
    Affine terms;  // without a constant
    int64_t limit;
  };
  std::vector<std::pair<Var, Interval>> entries_;
  std::vector<Limit> limits_;
};

enum class AtomKind : uint8_t { variable, floor_div, modulo, opaque };

struct AtomNode {
  AtomKind kind = AtomKind::variable;
  uint64_t id = 0;                     // variable: order of creation, for a stable order of terms
  std::string name;                    // variable
  Affine operand;                      // floor_div, modulo
  int64_t divisor = 1;                 // floor_div, modulo
  std::shared_ptr<const Expr> opaque;  // opaque: an integer-valued scalar expression
};

// Floor division and modulo by a positive constant, simplified by structure and, where given, by ranges.
Affine floor_div(const Affine& a, int64_t divisor, const Ranges& ranges = {});
Affine modulo(const Affine& a, int64_t divisor, const Ranges& ranges = {});
// An integer value that is no affine form, such as a load.
Affine opaque(const Expr& value);

// The least and largest value, or nothing where a variable without range or an opaque value occurs.
std::optional<Interval> bounds(const Affine& a, const Ranges& ranges);
// Replaces variables (inside atoms too) and renormalises.
Affine substitute(const Affine& a, const Substitution& substitution);
// Drops divisions and modulos that the ranges settle; joins c*(a div c) + a mod c to a, with (a div c) mod k
// in place of a div c to a mod c*k, also where a div c has become one with a division inside a.
Affine simplify(const Affine& a, const Ranges& ranges);
// All distinct variables, in order of first occurrence.
void collect_vars(const Affine& a, std::vector<Var>& vars);
// "2*i + j/3 + k%4 - 1".
std::string to_string(const Affine& a);

// A total order: equal structure compares equal. Used for the order of terms.
int compare(const Affine& a, const Affine& b);

}  // namespace lathe
