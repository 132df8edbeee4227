#include "domain/thin.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "domain/choices.h"
#include "domain/domain_split.h"

namespace lathe {
namespace {

// The list that is halved; empty where the parameter has none.
std::vector<int64_t> values_of(const Parameter& parameter) {
  if (const auto* ordered = std::get_if<OrderedParameter>(&parameter.kind)) return ordered->values;
  if (const auto* category = std::get_if<CategoricalParameter>(&parameter.kind)) {
    std::vector<int64_t> numbers(static_cast<size_t>(category->count));
    std::iota(numbers.begin(), numbers.end(), int64_t{0});
    return numbers;
  }
  const auto* split = std::get_if<SplitParameter>(&parameter.kind);
  if (split == nullptr || split->parts < 2) return {};
  if (!split->allowed.empty()) return split->allowed;
  std::vector<int64_t> factors;
  for (int64_t factor = 1; factor <= split->extent; ++factor)
    if (split->imperfect || split->extent % factor == 0) factors.push_back(factor);
  return factors;
}

void set_values(Parameter& parameter, std::vector<int64_t> values) {
  if (auto* split = std::get_if<SplitParameter>(&parameter.kind)) {
    split->allowed = std::move(values);
  } else {
    parameter.kind = OrderedParameter{std::move(values)};
  }
}

// Every second value, and those that must stay.
std::vector<int64_t> halved(const std::vector<int64_t>& values, const std::set<int64_t>& kept) {
  std::vector<int64_t> half;
  for (size_t i = 0; i < values.size(); ++i)
    if (i % 2 == 0 || i + 1 == values.size() || kept.contains(values[i])) half.push_back(values[i]);
  return half;
}

}  // namespace

ThinnedDomain thin(Domain domain, const std::vector<int64_t>& preferred, int64_t limit) {
  const Choices choices = choices_of(domain, preferred);
  std::set<size_t> exhausted;
  while (domain.size() > limit) {
    size_t longest = domain.parameters.size();
    std::vector<int64_t> values;
    for (size_t i = 0; i < domain.parameters.size(); ++i) {
      if (exhausted.contains(i)) continue;
      std::vector<int64_t> own = values_of(domain.parameters[i]);
      if (own.size() <= values.size()) continue;
      longest = i;
      values = std::move(own);
    }
    if (longest == domain.parameters.size()) break;
    Parameter& parameter = domain.parameters[longest];
    const std::vector<int64_t>& chosen = choices.at(parameter.name);
    std::vector<int64_t> half = halved(values, {chosen.begin(), chosen.end()});
    if (half.size() == values.size()) {
      exhausted.insert(longest);
    } else {
      set_values(parameter, std::move(half));
    }
  }
  Choices fixed;
  while (domain.size() > limit && domain.parameters.size() > 1) {
    const auto smallest =
        std::ranges::min_element(domain.parameters.rbegin(), domain.parameters.rend(), {},
                                 [](const Parameter& parameter) { return Domain{{parameter}}.size(); });
    fixed[smallest->name] = choices.at(smallest->name);
    domain.parameters.erase(std::next(smallest).base());
  }
  std::vector<int64_t> moved = *integers_of(domain, choices, std::vector<int64_t>(domain.slots()));
  return {std::move(domain), std::move(moved), std::move(fixed)};
}

}  // namespace lathe
