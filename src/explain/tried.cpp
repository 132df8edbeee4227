#include "explain/tried.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace lathe {
namespace {

Tried& entry_for(std::vector<Tried>& list, const std::string& what) {
  const auto known = std::ranges::find(list, what, &Tried::what);
  if (known != list.end()) return *known;
  list.push_back({.what = what});
  return list.back();
}

void count(std::vector<Tried>& list, const std::string& what, const Record& record) {
  Tried& entry = entry_for(list, what);
  ++entry.trials;
  if (!record.measurement.ok()) {
    ++entry.failed;
  } else if (!entry.best_seconds || record.measurement.seconds < *entry.best_seconds) {
    entry.best_seconds = record.measurement.seconds;
    entry.best_record = record.id;
  }
}

void sort_by_time(std::vector<Tried>& list) {
  std::ranges::stable_sort(list, {}, [](const Tried& entry) {
    return entry.best_seconds.value_or(std::numeric_limits<double>::infinity());
  });
}

std::string value_text(const Parameter& parameter, std::span<const int64_t> integers) {
  if (const auto* ordered = std::get_if<OrderedParameter>(&parameter.kind)) {
    return fmt::format("{}", ordered->values[static_cast<size_t>(integers.front())]);
  }
  return fmt::format("{}", fmt::join(integers, " x "));
}

}  // namespace

std::vector<Tried> tried_sketches(std::span<const Record> records) {
  std::vector<Tried> sketches;
  for (const Record& record : records) count(sketches, record.sketch, record);
  sort_by_time(sketches);
  return sketches;
}

std::vector<ParameterTried> tried_values(std::span<const Record> records, const std::string& sketch,
                                         const Domain& domain) {
  std::vector<ParameterTried> parameters;
  size_t slot = 0;
  for (const Parameter& parameter : domain.parameters) {
    const auto slots = static_cast<size_t>(parameter.slots());
    ParameterTried tried{parameter.name, {}};
    for (const Record& record : records) {
      if (record.sketch != sketch || !check(domain, record.integers)) continue;
      count(tried.values, value_text(parameter, std::span(record.integers).subspan(slot, slots)), record);
    }
    slot += slots;
    if (tried.values.size() < 2) continue;
    sort_by_time(tried.values);
    parameters.push_back(std::move(tried));
  }
  return parameters;
}

std::vector<Tried> failures(std::span<const Record> records) {
  std::vector<Tried> kinds;
  for (const Record& record : records) {
    if (!record.measurement.ok()) count(kinds, to_string(record.measurement.failure->kind), record);
  }
  std::ranges::stable_sort(kinds, std::greater(), &Tried::trials);
  return kinds;
}

}  // namespace lathe
