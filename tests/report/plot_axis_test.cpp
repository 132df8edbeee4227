#include "report/plot_axis.h"

#include <gmock/gmock.h>

namespace lathe {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> labels_of(const PlotAxis& axis) {
  std::vector<std::string> labels;
  for (const Tick& tick : ticks_of(axis)) labels.push_back(tick.label);
  return labels;
}

TEST(PlotAxis, LinearOnesEndAtRoundNumbers) {
  const PlotAxis axis = linear_axis(0, 64, 10, 100);
  EXPECT_THAT(labels_of(axis), ElementsAre("0", "20", "40", "60", "80"));
  EXPECT_DOUBLE_EQ(axis.place(0), 10);
  EXPECT_DOUBLE_EQ(axis.place(40), 60);
  EXPECT_DOUBLE_EQ(axis.place(1e9), 110) << "what is beyond lies at the end";
  EXPECT_THAT(labels_of(linear_axis(0, 1, 0, 1)), ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1"));
  EXPECT_THAT(labels_of(linear_axis(1.93, 2.17, 0, 1)),
              ElementsAre("1.9", "1.95", "2", "2.05", "2.1", "2.15", "2.2"));
}

TEST(PlotAxis, MayRunBackwards) { EXPECT_DOUBLE_EQ(linear_axis(0, 10, 100, -50).place(10), 50); }

TEST(PlotAxis, LogarithmicOnesNameDecadesWhereThereAreMany) {
  EXPECT_THAT(labels_of(logarithmic_axis(3, 70, 0, 1)), ElementsAre("2", "5", "10", "20", "50", "100"));
  EXPECT_THAT(labels_of(logarithmic_axis(0.6, 900, 0, 1)),
              ElementsAre("", "1", "", "", "10", "", "", "100", "", "", "1000"));
  const PlotAxis axis = logarithmic_axis(1, 100, 0, 10);
  EXPECT_DOUBLE_EQ(axis.place(10), 5);
  EXPECT_THAT(labels_of(logarithmic_axis(7, 7, 0, 1)), ElementsAre("5", "10", "20", "50"));
}

}  // namespace
}  // namespace lathe
