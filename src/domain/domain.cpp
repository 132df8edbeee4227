#include "domain/domain.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include "base/check.h"
#include "base/hash.h"
#include "base/overloaded.h"
#include "domain/domain_direction.h"
#include "domain/domain_split.h"

namespace lathe {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

constexpr int64_t kLongestFactorial = 20;  // the last whose factorial 63 bits hold

int64_t factorial(size_t items) {
  if (items > kLongestFactorial) return kMost;
  int64_t orders = 1;
  for (size_t i = 2; i <= items; ++i) orders *= static_cast<int64_t>(i);
  return orders;
}

Factors in_order(size_t items) {
  Factors order(items);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

bool has_choice(const Parameter& parameter) {
  return std::visit(Overloaded{[](const OrderedParameter& ordered) { return ordered.values.size() > 1; },
                               [](const CategoricalParameter& kind) { return kind.count > 1; },
                               [](const PermutationParameter& order) { return order.items.size() > 1; },
                               [](const SplitParameter& split) { return lathe::has_choice(split); }},
                    parameter.kind);
}

int64_t count(const Parameter& parameter) {
  return std::visit(
      Overloaded{[](const OrderedParameter& ordered) { return static_cast<int64_t>(ordered.values.size()); },
                 [](const CategoricalParameter& kind) { return kind.count; },
                 [](const PermutationParameter& order) { return factorial(order.items.size()); },
                 [](const SplitParameter& split) { return count_splits(split); }},
      parameter.kind);
}

Factors shuffled(size_t items, Rng& rng) {
  Factors order = in_order(items);
  for (size_t i = items; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

Factors sample(const Parameter& parameter, Rng& rng) {
  if (const auto* split = std::get_if<SplitParameter>(&parameter.kind)) return sample_split(*split, rng);
  if (const auto* order = std::get_if<PermutationParameter>(&parameter.kind))
    return shuffled(order->items.size(), rng);
  return {rng.between(0, count(parameter) - 1)};
}

std::vector<Factors> all_values(const Parameter& parameter) {
  if (const auto* split = std::get_if<SplitParameter>(&parameter.kind)) return all_splits(*split);
  std::vector<Factors> all;
  if (const auto* order = std::get_if<PermutationParameter>(&parameter.kind)) {
    Factors next = in_order(order->items.size());
    do all.push_back(next);
    while (std::ranges::next_permutation(next).found);
    return all;
  }
  for (int64_t i = 0; i < count(parameter); ++i) all.push_back({i});
  return all;
}

// Why this is none of the parameter's values, or nothing.
std::optional<std::string> fault(const Parameter& parameter, const Factors& value) {
  if (const auto* split = std::get_if<SplitParameter>(&parameter.kind)) return split_fault(*split, value);
  if (const auto* order = std::get_if<PermutationParameter>(&parameter.kind)) {
    if (std::ranges::is_permutation(value, in_order(order->items.size()))) return std::nullopt;
    return fmt::format("an order must hold each of 0..{} once",
                       static_cast<int64_t>(order->items.size()) - 1);
  }
  const int64_t last = count(parameter) - 1;
  if (value[0] >= 0 && value[0] <= last) return std::nullopt;
  return fmt::format("choice must be in 0..{} and is {}", last, value[0]);
}

// The points that differ in one parameter by one step.
std::vector<std::vector<int64_t>> neighbours_in(const Domain& domain, size_t parameter,
                                                const std::vector<int64_t>& integers) {
  std::vector<std::vector<int64_t>> found;
  for (const Direction& direction : directions(domain, parameter)) {
    auto next = step(domain, integers, direction);
    if (next && std::ranges::find(found, *next) == found.end()) found.push_back(std::move(*next));
  }
  return found;
}

Factors value_at(const std::vector<int64_t>& integers, size_t offset, int slots) {
  return Factors(integers.begin() + offset, integers.begin() + offset + slots);
}

std::vector<int64_t> with_value(std::vector<int64_t> integers, size_t offset, const Factors& value) {
  std::copy(value.begin(), value.end(), integers.begin() + offset);
  return integers;
}

}  // namespace

int Parameter::slots() const {
  if (const auto* split = std::get_if<SplitParameter>(&kind)) return split->parts - 1;
  const auto* order = std::get_if<PermutationParameter>(&kind);
  return order ? static_cast<int>(order->items.size()) : 1;
}

int Domain::slots() const { return first_slot(parameters.size()); }

int Domain::first_slot(size_t parameter) const {
  int slot = 0;
  for (size_t i = 0; i < parameter; ++i) slot += parameters[i].slots();
  return slot;
}

int64_t Domain::size() const {
  int64_t total = 1;
  for (const Parameter& parameter : parameters) {
    const int64_t choices = count(parameter);
    if (choices == 0) return 0;
    total = total > kMost / choices ? kMost : total * choices;
  }
  return total;
}

uint64_t hash_of(const Point& point) {
  Hasher hasher;
  hasher.add(point.sketch);
  for (int64_t integer : point.integers) hasher.add(integer);
  return hasher.finish();
}

std::vector<int64_t> sample(const Domain& domain, Rng& rng) {
  std::vector<int64_t> integers;
  integers.reserve(domain.slots());
  for (const Parameter& parameter : domain.parameters) {
    const Factors value = sample(parameter, rng);
    integers.insert(integers.end(), value.begin(), value.end());
  }
  return integers;
}

std::vector<int64_t> mutate(const Domain& domain, const std::vector<int64_t>& integers, Rng& rng) {
  std::vector<size_t> free;
  for (size_t i = 0; i < domain.parameters.size(); ++i) {
    if (has_choice(domain.parameters[i])) free.push_back(i);
  }
  return free.empty() ? integers : redraw(domain, integers, free[rng.below(free.size())], rng);
}

std::vector<int64_t> redraw(const Domain& domain, const std::vector<int64_t>& integers, size_t parameter,
                            Rng& rng) {
  const Parameter& redrawn = domain.parameters[parameter];
  if (!has_choice(redrawn)) return integers;
  const auto offset = static_cast<size_t>(domain.first_slot(parameter));
  const Factors old = value_at(integers, offset, redrawn.slots());
  Factors value = old;
  while (value == old) value = sample(redrawn, rng);
  return with_value(integers, offset, value);
}

std::vector<int64_t> random_neighbour(const Domain& domain, const std::vector<int64_t>& integers, Rng& rng) {
  std::vector<size_t> order(domain.parameters.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  // A parameter without neighbours is replaced by another one, so the choice stays uniform among the rest.
  while (!order.empty()) {
    const size_t pick = rng.below(order.size());
    const auto found = neighbours_in(domain, order[pick], integers);
    if (!found.empty()) return found[rng.below(found.size())];
    order.erase(order.begin() + pick);
  }
  return integers;
}

std::vector<int64_t> crossover(const Domain& domain, const std::vector<int64_t>& a,
                               const std::vector<int64_t>& b, Rng& rng) {
  std::vector<int64_t> child = a;
  size_t offset = 0;
  for (const Parameter& parameter : domain.parameters) {
    const size_t slots = parameter.slots();
    if (rng.chance(0.5)) std::copy_n(b.begin() + offset, slots, child.begin() + offset);
    offset += slots;
  }
  return child;
}

std::vector<std::vector<int64_t>> neighbours(const Domain& domain, const std::vector<int64_t>& integers) {
  std::vector<std::vector<int64_t>> found;
  for (size_t parameter = 0; parameter < domain.parameters.size(); ++parameter) {
    for (auto& next : neighbours_in(domain, parameter, integers)) found.push_back(std::move(next));
  }
  return found;
}

std::vector<std::vector<int64_t>> all_points(const Domain& domain) {
  std::vector<std::vector<int64_t>> points{{}};
  for (const Parameter& parameter : domain.parameters) {
    const std::vector<Factors> values = all_values(parameter);
    std::vector<std::vector<int64_t>> longer;
    longer.reserve(points.size() * values.size());
    for (const auto& point : points) {
      for (const Factors& value : values) {
        longer.push_back(point);
        longer.back().insert(longer.back().end(), value.begin(), value.end());
      }
    }
    points = std::move(longer);
  }
  return points;
}

Status check(const Domain& domain, const std::vector<int64_t>& integers) {
  if (static_cast<int>(integers.size()) != domain.slots()) {
    return fail(ErrorKind::invalid_argument, fmt::format("a point of this sketch has {} integers, not {}",
                                                         domain.slots(), integers.size()));
  }
  size_t offset = 0;
  for (const Parameter& parameter : domain.parameters) {
    const Factors value = value_at(integers, offset, parameter.slots());
    offset += value.size();
    if (const auto wrong = fault(parameter, value))
      return fail(ErrorKind::invalid_argument, *wrong, parameter.name);
  }
  return {};
}

}  // namespace lathe
