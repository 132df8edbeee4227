// The tables of Toom and Cook: whatever the data and the window, A^T ((G g) * (B^T d)) is the correlation.
#include "rewrite/winograd_tables.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lathe {
namespace {

using Values = std::vector<double>;

Values times(const Values& matrix, size_t rows, const Values& vector) {
  Values result(rows, 0);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t k = 0; k < vector.size(); ++k) result[i] += matrix[i * vector.size() + k] * vector[k];
  }
  return result;
}

// Numbers without a pattern that sums could hide in.
double number(size_t i) { return static_cast<double>((i * 7 + 3) % 11) - 4.5; }

struct Size {
  int64_t m, r;
};

constexpr Size kSizes[] = {{2, 2}, {2, 3}, {3, 2}, {3, 3}, {4, 3}, {2, 5},
                           {4, 4}, {4, 5}, {6, 3}, {2, 7}, {7, 2}};

TEST(WinogradTables, GiveTheCorrelation) {
  for (const auto& [m, r] : kSizes) {
    SCOPED_TRACE("F(" + std::to_string(m) + ", " + std::to_string(r) + ")");
    const auto tables = winograd_tables(m, r);
    ASSERT_TRUE(tables) << tables.error().to_string();
    const auto n = static_cast<size_t>(m + r - 1);
    Values data(n), window(static_cast<size_t>(r));
    for (size_t i = 0; i < n; ++i) data[i] = number(i);
    for (size_t i = 0; i < window.size(); ++i) window[i] = number(i + 20);
    Values products = times(tables->data, n, data);
    const Values weights = times(tables->weight, n, window);
    for (size_t i = 0; i < n; ++i) products[i] *= weights[i];
    const Values outputs = times(tables->output, static_cast<size_t>(m), products);
    for (size_t y = 0; y < outputs.size(); ++y) {
      double expected = 0;
      for (size_t k = 0; k < window.size(); ++k) expected += data[y + k] * window[k];
      EXPECT_NEAR(outputs[y], expected, 1e-10) << y;
    }
  }
}

TEST(WinogradTables, HaveTheirShapes) {
  const auto tables = winograd_tables(4, 3).value();
  EXPECT_EQ(tables.data.size(), 36U);
  EXPECT_EQ(tables.weight.size(), 18U);
  EXPECT_EQ(tables.output.size(), 24U);
}

// Entries of data and output are dyadic: they are the same in f32, and 0 is exactly 0.
TEST(WinogradTables, DataAndOutputAreExactInSinglePrecision) {
  for (const auto& [m, r] : kSizes) {
    const auto tables = winograd_tables(m, r).value();
    for (const Values& table : {tables.data, tables.output}) {
      for (const double entry : table) {
        EXPECT_EQ(entry, static_cast<double>(static_cast<float>(entry)));
        EXPECT_TRUE(entry == 0 || std::fabs(entry) > 1e-3) << entry;
      }
    }
  }
}

TEST(WinogradTables, WhatHasNoneIsASentence) {
  EXPECT_EQ(winograd_tables(1, 3).error().message, "there are no Winograd tables for F(1, 3)");
  EXPECT_EQ(winograd_tables(4, 1).error().message, "there are no Winograd tables for F(4, 1)");
  EXPECT_EQ(winograd_tables(4, 6).error().message, "tiles of 9 rows lose too much");
  EXPECT_TRUE(winograd_tables(4, 5)) << "eight points";
}

}  // namespace
}  // namespace lathe
