#include "report/curve_chart.h"

#include <gmock/gmock.h>

#include "report/html_page.h"
#include "report/sample_report.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

TEST(CurveChart, IsAStepForEachImprovement) {
  const TaskOverview task =
      sample_overview({own_record(4e-6), own_record(5e-6), own_record(2e-6), own_record(3e-6)});
  const std::string chart = curve_chart(task, CurveOver::trials);
  const HtmlPage page(chart);
  EXPECT_THAT(page.text,
              HasSubstr("The best program so far of mm: 4.00 µs at first, 2.00 µs after 3 trials"));
  EXPECT_THAT(page.text, HasSubstr("4 µs"));
  EXPECT_THAT(page.text, HasSubstr("5 trials"));
  // Right to the third trial, down to the best, right to the fourth.
  EXPECT_THAT(chart, ::testing::ContainsRegex("d=\"M111.6 [0-9.]+H210.8V[0-9.]+H260.4\""));
  EXPECT_THAT(curve_chart(task, CurveOver::seconds), HasSubstr("2.00 µs after 375 ms"));
}

TEST(CurveChart, WithoutProgramsOrTimesThereIsNone) {
  EXPECT_EQ(curve_chart(sample_overview({failed_record(ErrorKind::build, "")}), CurveOver::trials), "");
  Record untimed = own_record(1e-6);
  untimed.wall_seconds = 0;
  EXPECT_EQ(curve_chart(sample_overview({untimed}), CurveOver::seconds), "");
  EXPECT_NE(curve_chart(sample_overview({untimed}), CurveOver::trials), "");
}

TEST(CurveChart, ASingleTrialIsAPoint) {
  const HtmlPage page(curve_chart(sample_overview({own_record(1e-6)}), CurveOver::trials));
  EXPECT_EQ(page.counts.at("circle"), 1);
}

}  // namespace
}  // namespace lathe
