#include "domain/encoding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/overloaded.h"

namespace lathe {
namespace {

float share(int64_t place, size_t count) {
  return count > 1 ? static_cast<float>(place) / static_cast<float>(count - 1) : 0;
}

void encode(const Parameter& parameter, std::span<const int64_t> value, std::vector<float>& into) {
  std::visit(Overloaded{[&](const OrderedParameter& ordered) {
                          into.push_back(share(value[0], ordered.values.size()));
                        },
                        [&](const CategoricalParameter& category) {
                          for (int64_t i = 0; i < category.count; ++i)
                            into.push_back(i == value[0] ? 1.0F : 0.0F);
                        },
                        [&](const PermutationParameter& order) {
                          const size_t first = into.size();
                          into.resize(first + order.items.size());
                          for (size_t place = 0; place < value.size(); ++place)
                            into[first + static_cast<size_t>(value[place])] =
                                share(static_cast<int64_t>(place), value.size());
                        },
                        [&](const SplitParameter& split) {
                          int64_t outer = split.extent;
                          for (const int64_t factor : value) outer = (outer - 1) / factor + 1;
                          into.push_back(std::log2(static_cast<float>(outer)));
                          for (const int64_t factor : value)
                            into.push_back(std::log2(static_cast<float>(factor)));
                        }},
             parameter.kind);
}

}  // namespace

std::vector<std::string> encoding_names(const Domain& domain) {
  std::vector<std::string> names;
  for (const Parameter& parameter : domain.parameters) {
    const std::string& name = parameter.name;
    std::visit(Overloaded{[&](const OrderedParameter&) { names.push_back(name); },
                          [&](const CategoricalParameter& category) {
                            for (int64_t i = 0; i < category.count; ++i)
                              names.push_back(fmt::format("{}={}", name, i));
                          },
                          [&](const PermutationParameter& order) {
                            for (const std::string& item : order.items)
                              names.push_back(fmt::format("{}.{}", name, item));
                          },
                          [&](const SplitParameter& split) {
                            for (int i = 0; i < split.parts; ++i)
                              names.push_back(fmt::format("{}.{}", name, i));
                          }},
               parameter.kind);
  }
  return names;
}

size_t encoding_size(const Domain& domain) {
  size_t size = 0;
  for (const Parameter& parameter : domain.parameters) {
    size += std::visit(
        Overloaded{[](const OrderedParameter&) { return size_t{1}; },
                   [](const CategoricalParameter& category) { return static_cast<size_t>(category.count); },
                   [](const PermutationParameter& order) { return order.items.size(); },
                   [](const SplitParameter& split) { return static_cast<size_t>(split.parts); }},
        parameter.kind);
  }
  return size;
}

std::vector<float> encoded(const Domain& domain, const std::vector<int64_t>& integers) {
  std::vector<float> numbers;
  size_t slot = 0;
  for (const Parameter& parameter : domain.parameters) {
    const auto slots = static_cast<size_t>(parameter.slots());
    encode(parameter, std::span(integers).subspan(slot, slots), numbers);
    slot += slots;
  }
  return numbers;
}

void append_columns(const Domain& domain, const std::vector<int64_t>* integers, std::vector<float>& row) {
  row.push_back(integers != nullptr ? 1.0F : 0.0F);
  if (integers == nullptr) {
    row.resize(row.size() + encoding_size(domain), std::numeric_limits<float>::quiet_NaN());
    return;
  }
  const std::vector<float> numbers = encoded(domain, *integers);
  row.insert(row.end(), numbers.begin(), numbers.end());
}

}  // namespace lathe
