#include "report/bench_figures.h"

#include <gtest/gtest.h>

#include "report/sample_report.h"

namespace lathe {
namespace {

std::string told(std::string_view text) {
  const auto figures = read_bench_figures(text, "b.json");
  return figures ? "it is one" : figures.error().to_string();
}

TEST(BenchFigures, AreReadAsBenchAndTuneWriteThem) {
  const auto figures = read_bench_figures(
      R"([{"name": "mm", "target": "x86-avx2", "cores": 1, "seconds": 2e-6, "record": 7, "speedup": 1.5,
           "peers": {"onednn": 3e-6, "openblas": 4e-6}},
          {"name": "c", "target": "x86-avx2", "cores": 2, "seconds": null, "uses": 3}])",
      "b.json");
  ASSERT_TRUE(figures.has_value()) << figures.error().to_string();
  ASSERT_EQ(figures->size(), 2U);
  const BenchFigure& mm = figures->front();
  EXPECT_EQ(mm.record, 7);
  EXPECT_EQ(mm.seconds, 2e-6);
  EXPECT_EQ(mm.speed_up, 1.5);
  EXPECT_EQ(mm.peers, (std::vector<std::pair<std::string, double>>{{"onednn", 3e-6}, {"openblas", 4e-6}}));
  EXPECT_FALSE(mm.uses);
  EXPECT_FALSE((*figures)[1].seconds);
  EXPECT_EQ((*figures)[1].uses, 3);
}

TEST(BenchFigures, WhatIsNoneIsRefused) {
  EXPECT_EQ(told("[]"), "it is one");
  const std::string none = "b.json: this is not what `lathe bench --json` or `lathe tune --json` writes";
  for (const char* text : {"{}", "[1]", R"([{"name": "mm"}])",
                           R"([{"name": "mm", "target": "t", "cores": 1, "peers": {"a": "b"}}])"})
    EXPECT_EQ(told(text), none) << text;
  EXPECT_TRUE(told("[").starts_with("b.json:1:2: "));
}

TEST(BenchFigures, ATasksFigureIsThatOfItsRecords) {
  const TaskOverview task = sample_overview({own_record(1e-6)}, 5);
  BenchFigure other{"mm", "x86-avx2", 1, 4};
  BenchFigure own{"mm", "x86-avx2", 1, 5};
  BenchFigure unnumbered{"mm", "x86-avx2", 1};
  BenchFigure cores{"mm", "x86-avx2", 2};
  const std::vector<BenchFigure> all = {other, unnumbered, own};
  EXPECT_EQ(figure_of(task, all), &all[2]);
  const std::vector<BenchFigure> without = {other, cores, unnumbered};
  EXPECT_EQ(figure_of(task, without), &without[2]);
  const std::vector<BenchFigure> none = {other, cores};
  EXPECT_EQ(figure_of(task, none), nullptr);
}

}  // namespace
}  // namespace lathe
