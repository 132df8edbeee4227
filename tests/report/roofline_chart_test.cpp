#include "report/roofline_chart.h"

#include <gmock/gmock.h>

#include "report/html_page.h"
#include "report/sample_report.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RooflineChart, HasAPointForEachTaskUnderThePeaks) {
  const TaskOverview slow = sample_overview({own_record(1e-6)});
  const TaskOverview fast = sample_overview({own_record(1e-7, 800)});
  const TaskOverview failed = sample_overview({failed_record(ErrorKind::build, "")});
  const std::vector<RooflineTask> tasks = {{&slow, 1}, {&fast, 2}, {&failed, 3}};
  const HtmlPage page(roofline_chart(tasks, ReportPeaks{100, 20, 4}));
  EXPECT_EQ(page.counts.at("circle"), 2);
  EXPECT_EQ(page.counts.at("path"), 3) << "the peak, memory, L2";
  EXPECT_THAT(page.text, HasSubstr("1. mm: 1.02 GFLOP/s, 1.33 operations a byte"));
  EXPECT_THAT(page.text, HasSubstr("multiply-adds: 100 GFLOP/s"));
  EXPECT_THAT(page.text, HasSubstr("memory: 4.00 GB/s"));
  EXPECT_THAT(page.text, Not(HasSubstr("3. mm")));
}

TEST(RooflineChart, NumbersDoNotHideEachOther) {
  const TaskOverview task = sample_overview({own_record(1e-6)});
  const std::vector<RooflineTask> tasks(20, RooflineTask{&task, 1});
  const std::string chart = roofline_chart(tasks, std::nullopt);
  const HtmlPage page(chart);
  EXPECT_EQ(page.counts.at("circle"), 20);
  EXPECT_FALSE(page.counts.contains("path"));
  size_t numbered = 0;
  for (size_t at = chart.find("class=\"number\""); at != std::string::npos;
       at = chart.find("class=\"number\"", at + 1))
    ++numbered;
  EXPECT_EQ(numbered, 1U);
}

TEST(RooflineChart, WithoutOperationsThereIsNone) {
  Record copy = own_record(1e-6);
  copy.task.dag = "C[i:8] = A[i]";
  const TaskOverview task = sample_overview({copy});
  EXPECT_EQ(task.flops, 0);
  EXPECT_EQ(roofline_chart(std::vector<RooflineTask>{{&task, 1}}, ReportPeaks{100, 200, 20}), "");
}

}  // namespace
}  // namespace lathe
