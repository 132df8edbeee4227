#include "space/domain.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

#include "base/check.h"
#include "base/hash.h"
#include "space/domain_split.h"

namespace lathe {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

template <class... Arms>
struct Overloaded : Arms... {
  using Arms::operator()...;
};

int64_t choices_of_list(const Parameter& parameter) {
  const auto* ordered = std::get_if<OrderedParameter>(&parameter.kind);
  return ordered ? static_cast<int64_t>(ordered->values.size())
                 : std::get<CategoricalParameter>(parameter.kind).count;
}

bool has_choice(const Parameter& parameter) {
  const auto* split = std::get_if<SplitParameter>(&parameter.kind);
  return split ? has_choice(*split) : choices_of_list(parameter) > 1;
}

int64_t count(const Parameter& parameter) {
  const auto* split = std::get_if<SplitParameter>(&parameter.kind);
  return split ? count_splits(*split) : choices_of_list(parameter);
}

Factors sample(const Parameter& parameter, Rng& rng) {
  if (const auto* split = std::get_if<SplitParameter>(&parameter.kind)) return sample_split(*split, rng);
  return {rng.between(0, choices_of_list(parameter) - 1)};
}

std::vector<Factors> all_values(const Parameter& parameter) {
  if (const auto* split = std::get_if<SplitParameter>(&parameter.kind)) return all_splits(*split);
  std::vector<Factors> all;
  for (int64_t i = 0; i < choices_of_list(parameter); ++i) all.push_back({i});
  return all;
}

std::vector<Factors> neighbours(const Parameter& parameter, const Factors& value) {
  std::vector<Factors> found;
  const auto step =
      Overloaded{[&](const OrderedParameter& ordered) {
                   if (value[0] > 0) found.push_back({value[0] - 1});
                   if (value[0] + 1 < static_cast<int64_t>(ordered.values.size()))
                     found.push_back({value[0] + 1});
                 },
                 [&](const CategoricalParameter& categorical) {
                   for (int64_t i = 0; i < categorical.count; ++i) {
                     if (i != value[0]) found.push_back({i});
                   }
                 },
                 [&](const SplitParameter& split) { found = neighbours_of_split(split, value); }};
  std::visit(step, parameter.kind);
  return found;
}

// The place of each parameter's integers within a point.
std::vector<size_t> offsets(const Domain& domain) {
  std::vector<size_t> result;
  size_t next = 0;
  for (const Parameter& parameter : domain.parameters) {
    result.push_back(next);
    next += parameter.slots();
  }
  return result;
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
  const auto* split = std::get_if<SplitParameter>(&kind);
  return split ? split->parts - 1 : 1;
}

int Domain::slots() const {
  int total = 0;
  for (const Parameter& parameter : parameters) total += parameter.slots();
  return total;
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
  if (free.empty()) return integers;
  const size_t chosen = free[rng.below(free.size())];
  const Parameter& parameter = domain.parameters[chosen];
  const size_t offset = offsets(domain)[chosen];
  const Factors old = value_at(integers, offset, parameter.slots());
  Factors value = old;
  while (value == old) value = sample(parameter, rng);
  return with_value(integers, offset, value);
}

std::vector<int64_t> random_neighbour(const Domain& domain, const std::vector<int64_t>& integers, Rng& rng) {
  std::vector<size_t> order(domain.parameters.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const std::vector<size_t> at = offsets(domain);
  // A parameter without neighbours is replaced by another one, so the choice stays uniform among the rest.
  while (!order.empty()) {
    const size_t pick = rng.below(order.size());
    const size_t chosen = order[pick];
    const Parameter& parameter = domain.parameters[chosen];
    const auto values = neighbours(parameter, value_at(integers, at[chosen], parameter.slots()));
    if (!values.empty()) return with_value(integers, at[chosen], values[rng.below(values.size())]);
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
  size_t offset = 0;
  for (const Parameter& parameter : domain.parameters) {
    const int slots = parameter.slots();
    for (const Factors& value : neighbours(parameter, value_at(integers, offset, slots))) {
      found.push_back(with_value(integers, offset, value));
    }
    offset += slots;
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
    if (const auto* split = std::get_if<SplitParameter>(&parameter.kind)) {
      if (auto fault = split_fault(*split, value))
        return fail(ErrorKind::invalid_argument, *fault, parameter.name);
    } else if (value[0] < 0 || value[0] >= choices_of_list(parameter)) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("choice must be in 0..{} and is {}", choices_of_list(parameter) - 1, value[0]),
                  parameter.name);
    }
  }
  return {};
}

}  // namespace lathe
