#include "rewrite/paired_table.h"

#include <algorithm>

namespace lathe {
namespace {

using Row = std::vector<double>;

std::vector<Row> rows_of(const std::vector<double>& table, int64_t columns) {
  std::vector<Row> rows;
  for (auto at = table.begin(); at != table.end(); at += columns) rows.emplace_back(at, at + columns);
  return rows;
}

std::vector<double> flat(const std::vector<Row>& rows) {
  std::vector<double> table;
  for (const Row& row : rows) table.insert(table.end(), row.begin(), row.end());
  return table;
}

std::vector<Row> transposed(const std::vector<Row>& rows) {
  std::vector<Row> columns(rows.front().size(), Row(rows.size()));
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t c = 0; c < rows[r].size(); ++c) columns[c][r] = rows[r][c];
  }
  return columns;
}

// What two rows that differ in signs alone have in common, and the rest.
struct Parts {
  Row even;
  Row odd;
};

std::optional<Parts> parts_of(const Row& a, const Row& b) {
  constexpr int64_t kFewestTerms = 3;  // with two, the sum and the difference cost what the rows did
  Parts parts{Row(a.size(), 0), Row(a.size(), 0)};
  int64_t evens = 0;
  int64_t odds = 0;
  for (size_t c = 0; c < a.size(); ++c) {
    if (a[c] == 0 && b[c] == 0) continue;
    if (a[c] != b[c] && a[c] != -b[c]) return std::nullopt;
    (a[c] == b[c] ? parts.even : parts.odd)[c] = a[c];
    (a[c] == b[c] ? evens : odds) += 1;
  }
  if (evens == 0 || odds == 0 || evens + odds < kFewestTerms) return std::nullopt;
  return parts;
}

Row unit(size_t at, size_t size) {
  Row row(size, 0);
  row[at] = 1;
  return row;
}

// Divides by the last entry that is not 0, and gives it.
double make_monic(Row& row) {
  const auto last = std::find_if(row.rbegin(), row.rend(), [](double entry) { return entry != 0; });
  const double leading = *last;
  for (double& entry : row) entry /= leading;
  return leading;
}

struct PairedRows {
  std::vector<Row> first;
  std::vector<Row> second;
};

// Rows without a partner come first. `monic`: each part is divided by its last entry, which `second`
// multiplies it by.
std::optional<PairedRows> paired(const std::vector<Row>& rows, bool monic) {
  std::vector<std::optional<size_t>> partner(rows.size());
  for (size_t a = 0; a < rows.size(); ++a) {
    for (size_t b = a + 1; b < rows.size() && !partner[a]; ++b) {
      if (partner[b] || !parts_of(rows[a], rows[b])) continue;
      partner[a] = b;
      partner[b] = a;
    }
  }
  if (std::ranges::none_of(partner, [](const auto& b) { return b.has_value(); })) return std::nullopt;
  PairedRows result;
  result.second.resize(rows.size());
  for (size_t a = 0; a < rows.size(); ++a) {
    if (partner[a]) continue;
    result.second[a] = unit(result.first.size(), rows.size());
    result.first.push_back(rows[a]);
  }
  for (size_t a = 0; a < rows.size(); ++a) {
    if (!partner[a] || *partner[a] < a) continue;
    Parts parts = *parts_of(rows[a], rows[*partner[a]]);
    Row sum(rows.size(), 0);
    sum[result.first.size()] = monic ? make_monic(parts.even) : 1;
    sum[result.first.size() + 1] = monic ? make_monic(parts.odd) : 1;
    Row difference = sum;
    difference[result.first.size() + 1] *= -1;
    result.second[a] = std::move(sum);
    result.second[*partner[a]] = std::move(difference);
    result.first.push_back(std::move(parts.even));
    result.first.push_back(std::move(parts.odd));
  }
  return result;
}

}  // namespace

std::optional<PairedTable> pair_results(const std::vector<double>& table, int64_t k) {
  const auto rows = paired(rows_of(table, k), true);
  if (!rows) return std::nullopt;
  return PairedTable{static_cast<int64_t>(rows->first.size()), flat(rows->first), flat(rows->second)};
}

std::optional<PairedTable> pair_values(const std::vector<double>& table, int64_t k) {
  const auto columns = paired(transposed(rows_of(table, k)), false);
  if (!columns) return std::nullopt;
  return PairedTable{k, flat(transposed(columns->second)), flat(transposed(columns->first))};
}

}  // namespace lathe
