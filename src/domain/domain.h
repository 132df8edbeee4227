// The integers of a schedule space, and nothing else of it: all that a search strategy sees.
// A sketch has a Domain (a list of parameters); a Point names a sketch and gives each parameter's integers.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/rng.h"

namespace lathe {

// One of a list of increasing values, such as a tile size: neighbours are the values beside it.
struct OrderedParameter {
  std::vector<int64_t> values;  // strictly increasing, not empty
};

// One of `count` unrelated choices, such as a loop order.
struct CategoricalParameter {
  int64_t count = 1;
};

// `parts - 1` inner factors of an extent, outermost first; the outer part is the ceiling of what is left.
// Where `imperfect` is false the product of the factors divides the extent; where it is true each factor is
// any integer up to the ceiling of what the factors inside it leave, so that no part is larger than it can
// use. The innermost factor is at most `largest_innermost`, which is at least 1.
struct SplitParameter {
  int64_t extent = 1;
  int parts = 2;
  bool imperfect = false;
  int64_t largest_innermost = 64;
  // Where it is not empty every inner factor is one of these: increasing, the first of them 1.
  std::vector<int64_t> allowed = {};
};

// An order of items, such as that of loops, outermost first.
struct PermutationParameter {
  std::vector<std::string> items;
};

struct Parameter {
  std::string name;  // unique within its sketch
  std::variant<OrderedParameter, CategoricalParameter, SplitParameter, PermutationParameter> kind;

  // How many integers of a Point this parameter takes: parts - 1 for a split, one an item for a permutation,
  // else 1.
  int slots() const;
};

struct Domain {
  std::vector<Parameter> parameters;

  int slots() const;
  // The place of a parameter's first integer within a point's.
  int first_slot(size_t parameter) const;
  // The number of points; saturates at 2^63 - 1.
  int64_t size() const;
};

// A candidate: a sketch of the space, whichever arm it is of, and that sketch's integers. An ordered or
// categorical parameter's integer is the index of its choice; a split's integers are its inner factors
// themselves, a permutation's the items' numbers in their order.
struct Point {
  int sketch = 0;
  std::vector<int64_t> integers;

  auto operator<=>(const Point&) const = default;
};

uint64_t hash_of(const Point& point);

// A choice of every parameter: uniform for ordered and categorical ones, for permutations and over the
// factorisations of a perfect split. The factors of an imperfect split are uniform in their logarithm, half
// of them rounded down to the least factor of as many tiles (little padding); every legal factor can come.
std::vector<int64_t> sample(const Domain& domain, Rng& rng);
// Redraws one parameter, among those with a choice, so that it takes another value; unchanged if there is
// none.
std::vector<int64_t> mutate(const Domain& domain, const std::vector<int64_t>& integers, Rng& rng);
// Redraws this parameter so that it takes another value; unchanged where it has no other.
std::vector<int64_t> redraw(const Domain& domain, const std::vector<int64_t>& integers, size_t parameter,
                            Rng& rng);
// One of the neighbours of one parameter, among those that have neighbours; unchanged if there is none.
std::vector<int64_t> random_neighbour(const Domain& domain, const std::vector<int64_t>& integers, Rng& rng);
// Each parameter taken whole from either parent.
std::vector<int64_t> crossover(const Domain& domain, const std::vector<int64_t>& a,
                               const std::vector<int64_t>& b, Rng& rng);
// All points that differ in one parameter by one step (domain_direction.h), each once, in a fixed order: next
// or previous value, another category, two neighbours of a permutation in each other's place, or a part of a
// split raised to the next divisor of its product with another part. A factor of an imperfect split also goes
// up or down by one, by a factor of two, and to one tile more or fewer.
std::vector<std::vector<int64_t>> neighbours(const Domain& domain, const std::vector<int64_t>& integers);
// Every point, each once, in a fixed order. Takes memory for size() points: for small domains.
std::vector<std::vector<int64_t>> all_points(const Domain& domain);
// An error that names the parameter whose integers are out of its domain.
Status check(const Domain& domain, const std::vector<int64_t>& integers);

}  // namespace lathe
