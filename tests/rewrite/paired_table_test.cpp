// A table in pairs is the same map, by fewer operations.
#include "rewrite/paired_table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "rewrite/winograd_tables.h"

namespace lathe::testing {
namespace {

// [n, m] times [m, k].
std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, int64_t m) {
  const auto n = static_cast<int64_t>(a.size()) / m;
  const auto k = static_cast<int64_t>(b.size()) / m;
  std::vector<double> result(static_cast<size_t>(n * k), 0);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < k; ++j) {
      for (int64_t l = 0; l < m; ++l)
        result[static_cast<size_t>(i * k + j)] +=
            a[static_cast<size_t>(i * m + l)] * b[static_cast<size_t>(l * k + j)];
    }
  }
  return result;
}

// Multiplications and additions of the unrolled table, where what has no factor but 1 or -1 costs no
// multiplication and multiplications go together with additions.
int64_t operations(const std::vector<double>& table, int64_t columns) {
  int64_t count = 0;
  for (auto row = table.begin(); row != table.end(); row += columns) {
    const auto terms = columns - std::count(row, row + columns, 0.0);
    const bool has_unit = std::any_of(row, row + columns, [](double x) { return x == 1 || x == -1; });
    count += terms - (has_unit ? 1 : 0);
  }
  return count;
}

TEST(PairedTable, IsTheSameMapByFewerOperations) {
  // Two or three pairs of points of both signs beside 0 and infinity.
  const std::vector<std::pair<int64_t, int64_t>> in_pairs = {{4, 3}, {6, 3}, {2, 5}, {4, 5}, {5, 2}, {3, 4}};
  for (const auto& [m, r] : in_pairs) {
    const WinogradTables tables = winograd_tables(m, r).value();
    const int64_t n = m + r - 1;
    const auto data = pair_results(tables.data, n);
    ASSERT_TRUE(data) << m << " " << r;
    EXPECT_EQ(product(data->second, data->first, data->between), tables.data) << m << " " << r;
    EXPECT_LE(operations(data->first, n) + operations(data->second, data->between),
              operations(tables.data, n) * 3 / 4)
        << m << " " << r;
    const auto output = pair_values(tables.output, n);
    EXPECT_EQ(output.has_value(), m > 2) << m << " " << r;
    if (!output) continue;
    EXPECT_EQ(product(output->second, output->first, output->between), tables.output) << m << " " << r;
    EXPECT_LT(operations(output->first, n) + operations(output->second, output->between),
              operations(tables.output, n))
        << m << " " << r;
  }
}

// A point of one sign beside the pairs: the transforms of the data have no rows that differ in signs alone.
TEST(PairedTable, TheWayBackAloneIsInPairsWhereAPointHasOneSign) {
  const std::vector<std::pair<int64_t, int64_t>> odd = {{3, 3}, {5, 3}, {4, 4}};
  for (const auto& [m, r] : odd) {
    const WinogradTables tables = winograd_tables(m, r).value();
    const int64_t n = m + r - 1;
    EXPECT_FALSE(pair_results(tables.data, n)) << m;
    const auto output = pair_values(tables.output, n);
    ASSERT_TRUE(output) << m;
    EXPECT_EQ(product(output->second, output->first, output->between), tables.output) << m;
  }
}

TEST(PairedTable, NothingWhereNoPairSavesOperations) {
  const WinogradTables smallest = winograd_tables(2, 3).value();
  EXPECT_FALSE(pair_results(smallest.data, 4));
  EXPECT_FALSE(pair_values(smallest.output, 4));
  EXPECT_FALSE(pair_results({1, 2, 3, 1, -2, 4}, 3));
}

TEST(PairedTable, RowsWithoutAPartnerStayAsTheyAre) {
  const auto paired = pair_results({1, 2, 3, 5, 0, 5, -1, 2, 3}, 3);
  ASSERT_TRUE(paired);
  EXPECT_EQ(paired->first, (std::vector<double>{5, 0, 5, 0, 2. / 3, 1, 1, 0, 0}));
  EXPECT_EQ(paired->second, (std::vector<double>{0, 3, 1, 1, 0, 0, 0, 3, -1}));
}

}  // namespace
}  // namespace lathe::testing
