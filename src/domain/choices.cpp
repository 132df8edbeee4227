#include "domain/choices.h"

#include <algorithm>
#include <cmath>

#include "base/overloaded.h"
#include "domain/domain_split.h"

namespace lathe {
namespace {

// The integers that stand for a parameter's value in a point.
std::optional<std::vector<int64_t>> integers_of(const Parameter& parameter,
                                                const std::vector<int64_t>& values) {
  if (static_cast<int>(values.size()) != parameter.slots()) return std::nullopt;
  const auto* ordered = std::get_if<OrderedParameter>(&parameter.kind);
  if (ordered == nullptr) return values;
  const auto place = std::ranges::find(ordered->values, values[0]);
  if (place == ordered->values.end()) return std::nullopt;
  return std::vector<int64_t>{place - ordered->values.begin()};
}

// The same where the values are another domain's; nothing where none of the parameter's is like them.
std::optional<std::vector<int64_t>> integers_like(const Parameter& parameter,
                                                  const std::vector<int64_t>& values) {
  using Found = std::optional<std::vector<int64_t>>;
  if (static_cast<int>(values.size()) != parameter.slots()) return std::nullopt;
  return std::visit(
      Overloaded{[&](const OrderedParameter& ordered) {
                   const auto ratio = [&](int64_t value) { return ratio_of(value, values[0]); };
                   const auto nearest = std::ranges::min_element(ordered.values, {}, ratio);
                   return Found(std::vector<int64_t>{nearest - ordered.values.begin()});
                 },
                 [&](const SplitParameter& split) { return Found(nearest_split(split, values)); },
                 [&](const auto&) { return Found(values); }},
      parameter.kind);
}

}  // namespace

Choices choices_of(const Domain& domain, const std::vector<int64_t>& integers) {
  Choices choices;
  auto next = integers.begin();
  for (const Parameter& parameter : domain.parameters) {
    const auto end = next + parameter.slots();
    std::vector<int64_t>& values = choices[parameter.name];
    values.assign(next, end);
    if (const auto* ordered = std::get_if<OrderedParameter>(&parameter.kind))
      values[0] = ordered->values[static_cast<size_t>(values[0])];
    next = end;
  }
  return choices;
}

std::optional<std::vector<int64_t>> integers_of(const Domain& domain, const Choices& choices,
                                                const std::vector<int64_t>& otherwise) {
  std::vector<int64_t> integers = otherwise;
  auto place = integers.begin();
  for (const Parameter& parameter : domain.parameters) {
    if (const auto choice = choices.find(parameter.name); choice != choices.end()) {
      const auto chosen = integers_of(parameter, choice->second);
      if (!chosen) return std::nullopt;
      std::ranges::copy(*chosen, place);
    }
    place += parameter.slots();
  }
  if (!check(domain, integers)) return std::nullopt;
  return integers;
}

std::vector<int64_t> integers_like(const Domain& domain, const Choices& choices,
                                   const std::vector<int64_t>& otherwise) {
  std::vector<int64_t> integers = otherwise;
  auto place = integers.begin();
  for (const Parameter& parameter : domain.parameters) {
    const auto end = place + parameter.slots();
    const auto choice = choices.find(parameter.name);
    if (const auto found =
            choice != choices.end() ? integers_like(parameter, choice->second) : std::nullopt) {
      const std::vector<int64_t> before(place, end);
      std::ranges::copy(*found, place);
      // Categories and orders of items may be none of this domain's.
      if (!check(domain, integers)) std::ranges::copy(before, place);
    }
    place = end;
  }
  return integers;
}

}  // namespace lathe
