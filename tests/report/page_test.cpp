#include "report/page.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/html_page.h"
#include "report/sample_report.h"
#include "report/sections.h"

namespace lathe {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> values_of(const HtmlPage& page, const std::string& field) {
  std::vector<std::string> values;
  for (const PageFigure& figure : page.figures) {
    if (figure.field == field) values.push_back(figure.value);
  }
  return values;
}

TEST(ReportPage, OneTaskHasItsSections) {
  const HtmlPage page(report_page(sample_report({sample_overview({own_record(4e-6), own_record(1e-6)})})));
  EXPECT_THAT(page.headings,
              ElementsAre("What was gained", "Under the machine's peaks", "How the search went", "Failures"));
  EXPECT_THAT(values_of(page, "mean_gain"), ElementsAre("4.0"));
  EXPECT_THAT(values_of(page, "gain"), ElementsAre("4.0"));
  EXPECT_THAT(values_of(page, "first_seconds"), ElementsAre("4e-06"));
  EXPECT_THAT(page.text, HasSubstr("test machine, x86-avx2, 1 core"));
  EXPECT_THAT(page.text, HasSubstr("2023-11-14 22:13"));
  EXPECT_THAT(page.text, HasSubstr("No trial failed."));
  EXPECT_THAT(page.text, HasSubstr("Made by Lathe 1.2.3 from lathe.db."));
}

TEST(ReportPage, WithoutAValidProgramItSaysWhatFailed) {
  const HtmlPage page(report_page(sample_report({sample_overview(
      {failed_record(ErrorKind::timeout, "late"), failed_record(ErrorKind::crash, "a < b")})})));
  EXPECT_THAT(page.headings, ElementsAre("What was gained", "How the search went", "Failures"));
  EXPECT_THAT(values_of(page, "mean_gain"), ElementsAre());
  EXPECT_THAT(page.text, HasSubstr("none works"));
  EXPECT_THAT(page.text, HasSubstr("No program works."));
  EXPECT_THAT(page.text, HasSubstr("mm: a < b"));
  EXPECT_THAT(values_of(page, "failures.timeout"), ElementsAre("1", "1"));
}

TEST(ReportPage, NoNameIsMarkup) {
  Record record = own_record(1e-6);
  record.task.name = "</script><script>alert('x')</script>\xff\"&";
  record.machine = "<i>";
  Report report = sample_report({sample_overview({record})});
  report.file = "<b>.db";
  report.notes = {"a <note>"};
  const std::string text = report_page(report);
  const HtmlPage page(text);
  EXPECT_EQ(page.counts.at("script"), 1);
  EXPECT_FALSE(page.counts.contains("b") || page.counts.contains("i") || page.counts.contains("note"));
  EXPECT_THAT(page.text, HasSubstr("</script><script>alert('x')</script>\xEF\xBF\xBD\"&"));
  EXPECT_EQ(json::parse(page.island).at("tasks").at(0).at("name"),
            "</script><script>alert('x')</script>\xEF\xBF\xBD\"&");
}

TEST(ReportPage, TwoHundredTasksAreFoldedUp) {
  std::vector<TaskOverview> tasks;
  for (int i = 0; i < 200; ++i) tasks.push_back(sample_overview({own_record((i + 1) / 1e6)}, 10 * i));
  const HtmlPage page(report_page(sample_report(std::move(tasks))));
  EXPECT_EQ(page.counts.at("details"), 2);
  EXPECT_THAT(page.text, HasSubstr("160 more"));
  EXPECT_THAT(page.text, HasSubstr("185 others"));
  EXPECT_EQ(values_of(page, "gain").size(), 200U);
  EXPECT_EQ(values_of(page, "seconds").front(), "0.0002") << "the one that takes longest comes first";
}

// How often a network uses a task is its weight, where it is known.
TEST(ReportPage, UsesWeighTheTimes) {
  Record conv = own_record(1e-6);
  conv.task.name = "conv";
  Report report = sample_report({sample_overview({own_record(2e-6)}), sample_overview({conv}, 7)});
  EXPECT_EQ(ranked_tasks(report).front().task, &report.tasks[0]);
  report.bench = {{"conv", "x86-avx2", 1, 7, 1e-6, {}, std::nullopt, 5}, {"mm", "x86-avx2", 1, 1}};
  report.bench_file = "tune.json";
  const std::vector<RankedTask> ranked = ranked_tasks(report);
  EXPECT_EQ(ranked.front().task, &report.tasks[1]);
  EXPECT_EQ(ranked.front().uses, 5);
  EXPECT_DOUBLE_EQ(ranked.front().seconds, 5e-6);
  const HtmlPage page(report_page(report));
  EXPECT_THAT(page.text, HasSubstr("as often as a run of its network uses it, 7.00 µs in all"));
  EXPECT_THAT(page.text, HasSubstr("1. conv × 5"));
  EXPECT_THAT(page.text, HasSubstr("71.4 %"));
}

TEST(ReportPage, PeersAreBarsBesideLathes) {
  Report report = sample_report({sample_overview({own_record(2e-6)})});
  report.bench = {{"mm", "x86-avx2", 1, 1, 2e-6, {{"onednn", 4e-6}}, 1.9}, {"alone", "x86-avx2", 1, 2, 1e-6}};
  report.bench_file = "bench.json";
  const HtmlPage page(report_page(report));
  EXPECT_THAT(page.headings, ::testing::Contains("Beside other libraries"));
  EXPECT_THAT(values_of(page, "peer"), ElementsAre("4e-06"));
  EXPECT_THAT(values_of(page, "speedup"), ElementsAre("1.9"));
  EXPECT_THAT(page.text, Not(HasSubstr("alone")));
  EXPECT_EQ(json::parse(page.island).at("bench").at(0).at("peers").at("onednn"), 4e-6);
}

}  // namespace
}  // namespace lathe
