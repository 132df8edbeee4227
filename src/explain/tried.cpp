#include "explain/tried.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>

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

}  // namespace

std::vector<Tried> tried_sketches(std::span<const Record> records) {
  std::vector<Tried> sketches;
  for (const Record& record : records) count(sketches, record.point.sketch, record);
  sort_by_time(sketches);
  return sketches;
}

std::vector<ParameterTried> tried_values(std::span<const Record> records, std::string_view space,
                                         const Sketch& sketch) {
  std::map<std::string, std::vector<Tried>> tried;  // by parameter
  for (const Record& record : records) {
    if (record.point.space != space || record.point.sketch != sketch.name) continue;
    const auto integers = integers_in(sketch.domain, record.point, sketch.preferred);
    if (!integers) continue;
    for (const auto& [name, values] : choices_of(sketch.domain, *integers))
      count(tried[name], fmt::format("{}", fmt::join(values, " x ")), record);
  }
  std::vector<ParameterTried> parameters;
  for (const Parameter& parameter : sketch.domain.parameters) {
    ParameterTried values{parameter.name, std::move(tried[parameter.name])};
    if (values.values.size() < 2) continue;
    sort_by_time(values.values);
    parameters.push_back(std::move(values));
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
