#include "session/commands/measured_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/read_file.h"
#include "domain/choices.h"
#include "records/within.h"
#include "session/commands/table_ground.h"

namespace lathe {

Result<MeasuredTable> load_table(const std::string& path) {
  LATHE_TRY(const std::string bytes, read_regular_file(path));
  return read_table(bytes, path);
}

namespace {

constexpr double kShares[] = {0.99, 0.95, 0.9, 0.5};

std::string told(const MeasuredTable& table, const Point& point) {
  const TableSketch& sketch = table.sketches[static_cast<size_t>(point.sketch)];
  std::string text = sketch.name;
  for (const auto& [name, values] : choices_of(sketch.domain, point.integers))
    text += fmt::format(", {} {}", name, fmt::join(values, " "));
  return text;
}

Result<int64_t> verify(MeasuredTable table) {
  LATHE_TRY(const TableGround ground, TableGround::create(std::move(table)));
  const std::vector<TableEntry>& entries = ground.table().entries;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Result<Trace> trace = ground.trace(i);
    if (trace.has_value() == (entries[i].outcome != TableEntry::Outcome::illegal)) continue;
    return fail(ErrorKind::not_found,
                fmt::format("point {} {}", i,
                            trace ? "may be tried now" : "must not be tried now: " + trace.error().message));
  }
  return std::ssize(entries);
}

}  // namespace

Result<TableOverview> table_overview(const std::string& path) {
  LATHE_TRY(MeasuredTable table, load_table(path));
  TableOverview overview;
  std::vector<double> seconds;
  std::optional<size_t> best;
  for (size_t i = 0; i < table.entries.size(); ++i) {
    const TableEntry& entry = table.entries[i];
    if (entry.outcome != TableEntry::Outcome::illegal) ++overview.legal;
    if (entry.outcome == TableEntry::Outcome::failed) ++overview.failed;
    if (entry.outcome != TableEntry::Outcome::measured) continue;
    seconds.push_back(entry.seconds);
    if (!best || entry.seconds < table.entries[*best].seconds) best = i;
  }
  if (best) {
    overview.optimum = table.entries[*best].seconds;
    overview.best = told(table, TableIndex(table).points()[*best]);
    std::ranges::sort(seconds);
    overview.median = seconds[seconds.size() / 2];
  }
  for (const double share : kShares) {
    const auto last = std::ranges::upper_bound(seconds, overview.optimum / share);
    overview.near_optimum.emplace_back(share, last - seconds.begin());
  }
  overview.table = std::move(table);
  return overview;
}

Result<int64_t> verify_table(const std::string& path) {
  LATHE_TRY(MeasuredTable table, load_table(path));
  return within(path, verify(std::move(table)));
}

}  // namespace lathe
