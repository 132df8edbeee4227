#include "experiment/measured_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "domain/domain_json.h"
#include "task/task_json.h"

namespace lathe {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr int64_t kMostPoints = 1 << 24;
// Codes of sixteen bits: 0 an illegal point, 1 a failed one, from 2 on the logarithm of the time.
constexpr uint16_t kIllegal = 0;
constexpr uint16_t kFailed = 1;
constexpr double kFirstCode = 2;
constexpr double kLastCode = 65535;
constexpr double kLeastSeconds = 1e-9;
constexpr double kCodesPerOctave = 1640;  // forty octaves in all
constexpr double kSpreadStep = 1e-3;
constexpr size_t kBytesPerPoint = 3;

uint16_t time_code(const TableEntry& entry) {
  if (entry.outcome == TableEntry::Outcome::illegal) return kIllegal;
  if (entry.outcome == TableEntry::Outcome::failed) return kFailed;
  const double octaves = std::log2(entry.seconds / kLeastSeconds);
  return static_cast<uint16_t>(
      std::clamp(kFirstCode + std::round(octaves * kCodesPerOctave), kFirstCode, kLastCode));
}

TableEntry entry_of(uint16_t code, uint8_t spread) {
  if (code == kIllegal) return {};
  if (code == kFailed) return {TableEntry::Outcome::failed};
  const double octaves = (static_cast<double>(code) - kFirstCode) / kCodesPerOctave;
  return {TableEntry::Outcome::measured, kLeastSeconds * std::exp2(octaves), kSpreadStep * spread};
}

// The texts that every table has, by their keys.
struct TextField {
  const char* key;
  std::string MeasuredTable::* member;
};
constexpr TextField kTexts[] = {{"name", &MeasuredTable::name},
                                {"target", &MeasuredTable::target},
                                {"machine", &MeasuredTable::machine},
                                {"compiler_version", &MeasuredTable::compiler_version},
                                {"space", &MeasuredTable::space}};

ordered_json header_of(const MeasuredTable& table) {
  ordered_json header{{"lathe_table", kVersion}};
  for (const TextField& field : kTexts) header[field.key] = table.*field.member;
  header["cores"] = table.cores;
  header["task"] = json_of(table.task);
  header["sketches"] = ordered_json::array();
  for (const TableSketch& sketch : table.sketches) {
    ordered_json object{{"name", sketch.name}, {"parameters", json_of(sketch.domain)}};
    if (!sketch.fixed.empty()) object["fixed"] = sketch.fixed;
    header["sketches"].push_back(std::move(object));
  }
  return header;
}

Result<Choices> fixed_from(const json& sketch) {
  Choices fixed;
  const auto member = sketch.find("fixed");
  if (member == sketch.end()) return fixed;
  const auto wrong = [] {
    return fail(ErrorKind::parse, "what is fixed of a sketch must be lists of whole numbers by name");
  };
  if (!member->is_object()) return wrong();
  for (const auto& [name, values] : member->items()) {
    if (!values.is_array()) return wrong();
    for (const json& value : values) {
      if (!value.is_number_integer()) return wrong();
      fixed[name].push_back(value.get<int64_t>());
    }
  }
  return fixed;
}

Result<MeasuredTable> from_header(const json& header) {
  const auto damaged = [](std::string message) { return fail(ErrorKind::parse, std::move(message)); };
  if (!header.is_object() || !header.contains("lathe_table")) return damaged("this is no table");
  if (header["lathe_table"] != kVersion)
    return damaged(fmt::format("its version is not {}, the one that is known here", kVersion));
  MeasuredTable table;
  for (const TextField& field : kTexts) {
    if (!header.contains(field.key) || !header[field.key].is_string())
      return damaged(fmt::format("its header has no text '{}'", field.key));
    table.*field.member = header[field.key].get<std::string>();
  }
  if (!header.contains("cores") || !header["cores"].is_number_unsigned() || header["cores"] < 1 ||
      header["cores"] > 4096)
    return damaged("its cores are no number from 1 to 4096");
  table.cores = header["cores"].get<int>();
  if (!header.contains("task")) return damaged("it has no task");
  LATHE_TRY(table.task, task_text_from(header["task"]));
  if (!header.contains("sketches") || !header["sketches"].is_array() || header["sketches"].empty())
    return damaged("it has no sketches");
  for (const json& object : header["sketches"]) {
    if (!object.is_object() || !object.contains("name") || !object["name"].is_string() ||
        !object.contains("parameters"))
      return damaged("a sketch must have a name and parameters");
    LATHE_TRY(Domain domain, domain_from(object["parameters"]));
    LATHE_TRY(Choices fixed, fixed_from(object));
    table.sketches.push_back({object["name"].get<std::string>(), std::move(domain), std::move(fixed)});
  }
  return table;
}

}  // namespace

int64_t MeasuredTable::size() const {
  int64_t total = 0;
  for (const TableSketch& sketch : sketches) {
    const int64_t own = sketch.domain.size();
    total =
        own > std::numeric_limits<int64_t>::max() - total ? std::numeric_limits<int64_t>::max() : total + own;
  }
  return total;
}

TableIndex::TableIndex(const MeasuredTable& table) {
  for (size_t sketch = 0; sketch < table.sketches.size(); ++sketch) {
    for (auto& integers : all_points(table.sketches[sketch].domain)) {
      Point point{static_cast<int>(sketch), std::move(integers)};
      places_.emplace(point, points_.size());
      points_.push_back(std::move(point));
    }
  }
}

std::optional<size_t> TableIndex::place_of(const Point& point) const {
  const auto found = places_.find(point);
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

std::string table_bytes(const MeasuredTable& table) {
  std::string bytes = header_of(table).dump() + '\n';
  for (const TableEntry& entry : table.entries) {
    const uint16_t code = time_code(entry);
    const double spread = std::clamp(std::round(entry.spread / kSpreadStep), 0.0, 254.0);
    bytes.push_back(static_cast<char>(code & 0xff));
    bytes.push_back(static_cast<char>(code >> 8));
    bytes.push_back(static_cast<char>(static_cast<uint8_t>(spread)));
  }
  return bytes;
}

Result<MeasuredTable> read_table(std::string_view bytes, const std::string& source) {
  const size_t end = bytes.find('\n');
  if (end == std::string_view::npos) return fail(ErrorKind::parse, "this is no table", source);
  LATHE_TRY(const json header, parse_json(bytes.substr(0, end), source));
  Result<MeasuredTable> table = from_header(header);
  if (!table) return fail(table.error().kind, table.error().message, source);
  const int64_t points = table->size();
  const std::string_view entries = bytes.substr(end + 1);
  if (points > kMostPoints || entries.size() != static_cast<size_t>(points) * kBytesPerPoint)
    return fail(
        ErrorKind::parse,
        fmt::format(
            "its {} points need {} bytes behind the header, and there are {}", points,
            points > kMostPoints ? "too many" : std::to_string(points * static_cast<int64_t>(kBytesPerPoint)),
            entries.size()),
        source);
  for (size_t i = 0; i < entries.size(); i += kBytesPerPoint) {
    const auto byte = [&](size_t k) { return static_cast<uint8_t>(entries[i + k]); };
    table->entries.push_back(entry_of(static_cast<uint16_t>(byte(0) | byte(1) << 8), byte(2)));
  }
  return table;
}

}  // namespace lathe
