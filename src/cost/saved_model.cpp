#include "cost/saved_model.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/json.h"

namespace lathe {
namespace {

constexpr int kVersion = 1;

}  // namespace

std::string bytes_of(const SavedModel& saved) {
  const nlohmann::ordered_json header{{"lathe_model", kVersion},
                                      {"model", saved.model},
                                      {"features", feature_kind_names()[static_cast<size_t>(saved.features)]},
                                      {"columns", saved.columns},
                                      {"bytes", saved.numbers.size()}};
  return header.dump() + "\n" + saved.numbers;
}

Result<SavedModel> parse_saved_model(std::string_view bytes, const std::string& source) {
  const auto broken = [&](std::string what) { return fail(ErrorKind::parse, std::move(what), source); };
  const size_t end = bytes.find('\n');
  if (end == std::string_view::npos) return broken("this is no cost model");
  LATHE_TRY(const nlohmann::json header, parse_json(bytes.substr(0, end), source));
  if (!header.is_object() || !header.contains("lathe_model")) return broken("this is no cost model");
  if (header["lathe_model"] != kVersion)
    return broken(fmt::format("its version is not {}, the one that is known here", kVersion));
  for (const char* key : {"model", "features"})
    if (!header.contains(key) || !header[key].is_string())
      return broken(fmt::format("its header has no text '{}'", key));
  for (const char* key : {"columns", "bytes"})
    if (!header.contains(key) || !header[key].is_number_unsigned())
      return broken(fmt::format("its header has no number '{}'", key));
  const std::optional<FeatureKind> features = parse_feature_kind(header["features"].get<std::string>());
  if (!features)
    return broken(fmt::format("there are no features '{}'", header["features"].get<std::string>()));
  SavedModel saved{header["model"].get<std::string>(), *features, header["columns"].get<int64_t>(),
                   std::string(bytes.substr(end + 1))};
  if (saved.columns < 1) return broken("its columns are no number from 1 on");
  if (saved.numbers.size() != header["bytes"].get<size_t>())
    return broken(fmt::format("it has {} bytes behind the header, which says {}", saved.numbers.size(),
                              header["bytes"].get<size_t>()));
  return saved;
}

}  // namespace lathe
