#include "space/chooser.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "domain/domain_split.h"

namespace lathe {
namespace {

// The place of the nearest value at or below the wanted one; that of the first where all are above.
size_t place_below(const std::vector<int64_t>& values, int64_t wanted) {
  const auto above = std::ranges::upper_bound(values, wanted);
  return above == values.begin() ? 0 : static_cast<size_t>(above - values.begin()) - 1;
}

}  // namespace

// Questions mostly come in the order in which they were declared.
std::optional<Chooser::Answer> Chooser::answer(const std::string& name) {
  if (answered_ == nullptr) return std::nullopt;
  const std::vector<Parameter>& parameters = answered_->parameters;
  for (size_t tried = 0; tried < parameters.size(); ++tried) {
    if (next_ == parameters.size()) next_ = next_slot_ = 0;
    const Parameter& parameter = parameters[next_++];
    const auto slots = static_cast<size_t>(parameter.slots());
    const Answer found{&parameter, integers_.subspan(next_slot_, slots)};
    next_slot_ += slots;
    if (parameter.name == name) return found;
  }
  return std::nullopt;
}

void Chooser::declare(Parameter parameter, const std::vector<int64_t>& preferred) {
  if (answered_ != nullptr) return;
  LATHE_CHECK(std::ranges::find(domain_.parameters, parameter.name, &Parameter::name) ==
              domain_.parameters.end());
  domain_.parameters.push_back(std::move(parameter));
  preferred_.insert(preferred_.end(), preferred.begin(), preferred.end());
}

int64_t Chooser::choose(std::string name, std::vector<int64_t> values, int64_t preferred) {
  LATHE_CHECK(!values.empty());
  if (const auto given = answer(name)) {
    const auto* ordered = std::get_if<OrderedParameter>(&given->parameter->kind);
    if (ordered != nullptr) preferred = ordered->values[static_cast<size_t>(given->integers[0])];
  }
  const size_t place = place_below(values, preferred);
  const int64_t value = values[place];
  declare({std::move(name), OrderedParameter{std::move(values)}}, {static_cast<int64_t>(place)});
  return value;
}

int64_t Chooser::choose_kind(std::string name, int64_t count, int64_t preferred) {
  if (const auto given = answer(name)) {
    const bool is_one =
        std::holds_alternative<CategoricalParameter>(given->parameter->kind) && given->integers[0] < count;
    if (is_one) return given->integers[0];
  }
  declare({std::move(name), CategoricalParameter{count}}, {preferred});
  return preferred;
}

std::vector<int64_t> Chooser::choose_split(std::string name, const SplitParameter& split,
                                           std::vector<int64_t> preferred) {
  LATHE_CHECK(std::ssize(preferred) == split.parts - 1 && !split_fault(split, preferred));
  if (const auto given = answer(name)) {
    std::vector<int64_t> factors(given->integers.begin(), given->integers.end());
    const bool is_one = std::holds_alternative<SplitParameter>(given->parameter->kind) &&
                        factors.size() == preferred.size() && !split_fault(split, factors);
    if (is_one) return factors;
  }
  declare({std::move(name), split}, preferred);
  return preferred;
}

std::vector<std::string> Chooser::choose_order(std::string name, std::vector<std::string> items) {
  if (const auto given = answer(name)) {
    const auto* order = std::get_if<PermutationParameter>(&given->parameter->kind);
    if (order != nullptr && order->items == items) {
      std::vector<std::string> chosen;
      for (const int64_t item : given->integers) chosen.push_back(items[static_cast<size_t>(item)]);
      return chosen;
    }
  }
  std::vector<int64_t> preferred(items.size());
  std::iota(preferred.begin(), preferred.end(), 0);
  declare({std::move(name), PermutationParameter{items}}, preferred);
  return items;
}

}  // namespace lathe
