#include "experiment/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lathe {
namespace {

using ::testing::HasSubstr;

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Figure, HasAPlotForEachTableALineForEachRunAndOneForRandomSearch) {
  const TableCurves table{.table = "C2 & more",
                          .optimum = 2,
                          .random = {4, 3, 2.5},
                          .runs = {{"GBT <1>", {{4, 2, 2}, {3, 3, 2}}}, {"GA", {{4, 4, 3}}}}};
  const std::string svg = svg_of("a1: models", {table, table, table, table});
  EXPECT_THAT(svg, ::testing::StartsWith("<svg xmlns="));
  EXPECT_THAT(svg, ::testing::EndsWith("</svg>\n"));
  EXPECT_EQ(count(svg, "<g transform="), 4U);
  EXPECT_EQ(count(svg, "fill=\"none\""), 4U * 3) << "two runs and random search in each plot";
  EXPECT_EQ(count(svg, "fill-opacity"), 4U * 2);
  EXPECT_EQ(count(svg, "C2 &amp; more"), 4U);
  EXPECT_THAT(svg, HasSubstr("GBT &lt;1&gt;, 2 seeds"));
  EXPECT_THAT(svg, HasSubstr("GA, 1 seed<"));
}

TEST(Figure, ARunThatHasFoundNothingYetLiesAtTheBottom) {
  const TableCurves table{.table = "t",
                          .optimum = 2,
                          .random = {4, 3},
                          .runs = {{"a", {{std::numeric_limits<double>::infinity(), 2}}}}};
  const std::string svg = svg_of("t", {table});
  EXPECT_EQ(count(svg, "inf"), 0U);
  EXPECT_EQ(count(svg, "nan"), 0U);
}

}  // namespace
}  // namespace lathe
