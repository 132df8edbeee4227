#include "report/bench_figures.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace lathe {
namespace {

using nlohmann::json;

std::optional<double> positive(const json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || found->is_null()) return std::nullopt;
  const auto value = found->get<double>();
  return value > 0 ? std::optional(value) : std::nullopt;
}

std::optional<int64_t> whole(const json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || found->is_null()) return std::nullopt;
  return found->get<int64_t>();
}

BenchFigure figure_in(const json& entry) {
  BenchFigure figure;
  figure.name = entry.at("name").get<std::string>();
  figure.target = entry.at("target").get<std::string>();
  figure.cores = entry.at("cores").get<int>();
  figure.record = whole(entry, "record");
  figure.seconds = positive(entry, "seconds");
  figure.speed_up = positive(entry, "speedup");
  figure.uses = whole(entry, "uses");
  if (const auto peers = entry.find("peers"); peers != entry.end()) {
    for (const auto& [form, seconds] : peers->items()) {
      if (seconds.get<double>() > 0) figure.peers.emplace_back(form, seconds.get<double>());
    }
  }
  return figure;
}

}  // namespace

Result<std::vector<BenchFigure>> read_bench_figures(std::string_view text, const std::string& source) {
  LATHE_TRY(const json list, parse_json(text, source));
  std::vector<BenchFigure> figures;
  try {
    if (!list.is_array()) throw std::invalid_argument("no list");
    for (const json& entry : list) figures.push_back(figure_in(entry));
  } catch (const std::exception&) {  // a key that is missing or of another type
    return fail(ErrorKind::parse, "this is not what `lathe bench --json` or `lathe tune --json` writes",
                source);
  }
  return figures;
}

const BenchFigure* figure_of(const TaskOverview& task, std::span<const BenchFigure> figures) {
  const auto by_record = std::ranges::find_if(figures, [&](const BenchFigure& figure) {
    return figure.record && figure.name == task.summary.task.name &&
           std::ranges::binary_search(task.records, *figure.record);
  });
  if (by_record != figures.end()) return &*by_record;
  const auto by_name = std::ranges::find_if(figures, [&](const BenchFigure& figure) {
    return !figure.record && figure.name == task.summary.task.name && figure.target == task.summary.target &&
           figure.cores == task.summary.cores;
  });
  return by_name != figures.end() ? &*by_name : nullptr;
}

}  // namespace lathe
