// An operator that is required to be computed by an algorithm, through every command that meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/command_line.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

std::string entry(const std::string& op, int stride) {
  return R"({"name": "c", "op": ")" + op +
         R"(", "batch": 1, "height": 7, "width": 7, "in_channels": 8, "out_channels": 8, "kernel": 3,
      "padding": 1, "stride": )" +
         std::to_string(stride) + "}";
}

TEST_F(CliTest, AConvolutionRequiredByWinogradIsComputedSo) {
  write_workload(entry("conv2d_winograd", 1));
  EXPECT_EQ(lathe("compile --workload w.json --cores 1 --out untuned").status, 0);
  ASSERT_EQ(lathe("tune --workload w.json --cores 1 --trials 3 --records r.db").status, 0);
  EXPECT_THAT(lathe("show r.db").out, HasSubstr(" c (winograd required)\n"));
  const nlohmann::json shown = nlohmann::json::parse(lathe("show r.db --json").out);
  EXPECT_EQ(shown[0]["algorithm"], "winograd");
  const std::string explained = lathe("explain r.db --task " + shown[0]["task"].get<std::string>()).out;
  EXPECT_THAT(explained, HasSubstr("required to be computed by the algorithm 'winograd'\n"));
  EXPECT_THAT(explained, HasSubstr(" is computed by the algorithm 'winograd', m"));
  EXPECT_THAT(lathe("replay r.db --record 1").out, HasSubstr("outputs:  all agree with the reference"));
  EXPECT_EQ(lathe("compile --workload w.json --cores 1 --records r.db --out tuned").status, 0);
  // The plain convolution is another task.
  write_workload(entry("conv2d", 1));
  ASSERT_EQ(lathe("tune --workload w.json --cores 1 --trials 1 --records r.db").status, 0);
  const nlohmann::json both = nlohmann::json::parse(lathe("show r.db --json").out);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1]["algorithm"], "");
  EXPECT_EQ(both[1]["trials"], 1);
}

TEST_F(CliTest, WhatWinogradsAlgorithmDoesNotComputeIsOneSentence) {
  write_workload(entry("conv2d_winograd", 2));
  EXPECT_EQ(sentence("compile --workload w.json --cores 1 --out o"),
            "lathe: w.json: entry 'c': conv2d_winograd is for convolutions of stride 1 without dilation and "
            "groups, with kernels of 2 to 5, and its 'stride' is 2: Winograd's algorithm computes no other");
}

TEST_F(CliTest, WhatWasTunedWithExactSpecialsIsBenchedSo) {
  write_workload(entry("conv2d", 1));
  ASSERT_EQ(lathe("tune --workload w.json --cores 1 --trials 1 --exact-specials --records r.db").status, 0);
  const std::string bench = "bench --workload w.json --cores 1 --rounds 1 --records r.db";
  EXPECT_THAT(lathe(bench).err, HasSubstr(" 1 core for c, but there is with --exact-specials\n"));
  EXPECT_EQ(lathe(bench + " --exact-specials").status, 0);
  ASSERT_EQ(lathe("tune --workload w.json --cores 1 --trials 1 --records plain.db").status, 0);
  EXPECT_THAT(lathe("bench --workload w.json --cores 1 --records plain.db --exact-specials").err,
              HasSubstr(", but there is without --exact-specials\n"));
}

TEST_F(CliTest, LayoutsTellTasksOfOneNameApart) {
  write_matmul();
  const Outcome tuned = lathe("tune --workload w.json --cores 1 --trials 2 --records r.db --out o");
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_THAT(tuned.err, HasSubstr("[1/2] mm: "));
  EXPECT_THAT(tuned.err, HasSubstr("[2/2] mm (row-major): "));
  const std::string shown = lathe("show r.db").out;
  EXPECT_THAT(shown, HasSubstr(" mm\n"));
  EXPECT_THAT(shown, HasSubstr(" mm (row-major)\n"));
}

TEST_F(CliTest, ALongNameDoesNotShiftTheColumns) {
  const std::string name(50, 'n');
  write_workload(R"({"op": "expression", "text": "C[i:5] = A[i] + 1.0", "name": ")" + name + "\"}");
  const std::string table = lathe("tune --workload w.json --cores 1 --trials 1 --records r.db").out;
  const size_t row = table.find(name);
  ASSERT_NE(row, std::string::npos) << table;
  EXPECT_EQ(table.find("rel.error") + 9, row - 1) << table;
  EXPECT_EQ(table.find('\n', row) - row, row - 1) << table;
}

// Its elements are of another type than the rewrite's tables.
TEST_F(CliTest, AConvolutionOfDoublesIsCompiledDirectly) {
  write_workload(
      R"({"name": "d", "op": "expression", "text": "input I[1,2,8,8] f64 input W[3,2,3,3] f64 O[n:1,f:3,y:6,x:6] = sum(c:2,a:3,b:3) I[n,c,y+a,x+b]*W[f,c,a,b]"})");
  const Outcome compiled = lathe("compile --workload w.json --cores 1 --out o");
  EXPECT_EQ(compiled.status, 0) << compiled.err;
}

}  // namespace
}  // namespace lathe
