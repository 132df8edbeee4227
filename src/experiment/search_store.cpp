#include "experiment/search_store.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json.h"
#include "base/read_file.h"

namespace lathe {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json json_of(const SearchKey& key, const KeptSearch& search) {
  ordered_json times = ordered_json::array();
  for (const double each : search.seconds)
    times.push_back(std::isfinite(each) ? ordered_json(each) : ordered_json());
  ordered_json object{{"table", key.table},   {"strategy", key.strategy}, {"cost_model", key.cost_model},
                      {"trials", key.trials}, {"batch", key.batch},       {"seed", key.seed},
                      {"seconds", times}};
  if (!search.charged.empty()) object["charged"] = search.charged;
  return object;
}

// A list of times, where null is infinity.
std::optional<std::vector<double>> times_from(const json& list) {
  if (!list.is_array()) return std::nullopt;
  std::vector<double> times;
  for (const json& each : list) {
    if (!each.is_null() && !each.is_number()) return std::nullopt;
    times.push_back(each.is_null() ? std::numeric_limits<double>::infinity() : each.get<double>());
  }
  return times;
}

std::optional<std::pair<SearchKey, KeptSearch>> search_from(const json& object) {
  if (!object.is_object()) return std::nullopt;
  for (const char* key : {"table", "strategy", "cost_model"})
    if (!object.contains(key) || !object[key].is_string()) return std::nullopt;
  for (const char* key : {"trials", "batch", "seed"})
    if (!object.contains(key) || !object[key].is_number_integer()) return std::nullopt;
  if (!object.contains("seconds")) return std::nullopt;
  auto seconds = times_from(object["seconds"]);
  auto charged = times_from(object.value("charged", json::array()));
  if (!seconds || !charged || (!charged->empty() && charged->size() != seconds->size())) return std::nullopt;
  SearchKey key{object["table"],  object["strategy"], object["cost_model"],
                object["trials"], object["batch"],    object["seed"]};
  return std::pair(std::move(key), KeptSearch{std::move(*seconds), std::move(*charged)});
}

}  // namespace

Result<SearchStore> SearchStore::open(const std::string& path) {
  SearchStore store(path);
  if (!std::filesystem::exists(path)) return store;
  LATHE_TRY(const std::string text, read_regular_file(path));
  size_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;  // was being written
    ++number;
    LATHE_TRY(const json object, parse_json(std::string_view(text).substr(begin, end - begin), path));
    auto search = search_from(object);
    if (!search)
      return fail(ErrorKind::parse, fmt::format("line {} is no search of an experiment", number), path);
    store.searches_.insert_or_assign(std::move(search->first), std::move(search->second));
    begin = end + 1;
  }
  // What follows would be added to a line that has no end.
  const size_t last = text.rfind('\n');
  const size_t whole = last == std::string::npos ? 0 : last + 1;
  std::error_code failed;
  if (whole < text.size()) std::filesystem::resize_file(path, whole, failed);
  if (failed) return fail(ErrorKind::io, failed.message(), path);
  return store;
}

const KeptSearch* SearchStore::find(const SearchKey& key) const {
  const auto found = searches_.find(key);
  return found == searches_.end() ? nullptr : &found->second;
}

Status SearchStore::add(const SearchKey& key, KeptSearch search) {
  std::ofstream file(path_, std::ios::app | std::ios::binary);
  file << json_of(key, search).dump() << '\n' << std::flush;
  if (!file) return fail(ErrorKind::io, "the file cannot be written", path_);
  searches_.insert_or_assign(key, std::move(search));
  return {};
}

}  // namespace lathe
