// [B] table I on every case of its section V, and what decides on the outlines.
#include "space/ansor/outline.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "expr/parse.h"
#include "folders.h"
#include "ops/workloads.h"
#include "target/all.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;

Task task_with_cores(const std::string& text, int cores, const std::vector<std::string>& constants = {}) {
  return make_task("task", parse_dag(text).value(), with_cores(generic_target("x86-avx2"), cores), constants)
      .value();
}

std::vector<std::string> names_of_outlines(const Task& task) {
  std::vector<std::string> names;
  for (const Outline& outline : outlines_of(task, {})) names.push_back(outline.name());
  return names;
}

TEST(Outline, NumbersOfBansorsTableOne) {
  const std::map<std::string, size_t> expected = {{"C1D", 3}, {"C2D", 3}, {"C3D", 3},       {"GMM", 3},
                                                  {"GRP", 3}, {"DIL", 3}, {"DEP", 3},       {"T2D", 3},
                                                  {"CAP", 3}, {"NRM", 3}, {"ConvLayer", 3}, {"TBS", 27}};
  std::map<std::string, int> cases;
  const std::vector<Workload> workloads =
      load_workloads(LATHE_SOURCE_DIR "/workloads/operators.json").value();
  for (const Workload& workload : workloads) {
    const auto family = expected.find(workload.name.substr(0, workload.name.find('.')));
    if (family == expected.end() || workload.entry.find("\"bansor\"") == std::string::npos) continue;
    ++cases[family->first];
    for (const int cores : {4, 18}) {
      const Task task = make_task(workload, with_cores(generic_target("x86-avx512"), cores), true).value();
      EXPECT_EQ(outlines_of(task, {}).size(), family->second) << workload.name << " " << cores;
    }
  }
  ASSERT_EQ(cases.size(), expected.size());
  for (const auto& [family, count] : cases) EXPECT_EQ(count, 8) << family;
}

TEST(Outline, ProductsAreCachedOrFusedInTwoLevelsOrTiled) {
  const std::string product = "C[i:64, j:64] = sum(r:64) A[i, r] * B[r, j]";
  EXPECT_THAT(names_of_outlines(task_with_cores(product, 1)),
              ElementsAre("C cached at 1", "C cached at 2", "C tiled"));
  // The sum goes into the last node, and that is taken along.
  const Task layer =
      task_with_cores(product + "\nS[i:64, j:64] = C[i, j] + b[j]\nD[i:64, j:64] = max(S[i, j], 0.0)", 1);
  const std::vector<Outline> outlines = outlines_of(layer, {});
  EXPECT_THAT(names_of_outlines(layer), ElementsAre("C fused at 1", "C fused at 2", "C tiled"));
  EXPECT_EQ(to_string(outlines[0].steps), "inline S\n");
  EXPECT_EQ(outlines[0].of("D").structure, Structure::along);
  EXPECT_EQ(outlines[2].of("D").structure, Structure::whole);
}

TEST(Outline, LongReductionsMayBeFactored) {
  EXPECT_THAT(names_of_outlines(task_with_cores("o[b:2] = sum(i:64, j:64) A[b, i, j]", 8)),
              ElementsAre("o rfactor outer", "o rfactor inner", "whole"));
  EXPECT_THAT(names_of_outlines(task_with_cores("C[i:4, j:4] = sum(r:64) A[i, r] * B[r, j]", 1)),
              ElementsAre("C rfactor outer", "C rfactor inner", "C cached at 1", "C cached at 2", "C tiled"));
}

TEST(Outline, SumsOverATableAreUnrolledAndConstantsPrepared) {
  const std::string text =
      "input A[32, 4] f32\ntable T[3, 4] = {1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, -1.0}\n"
      "C[i:32, t:3] = sum(r:4) A[i, r] * T[t, r]";
  EXPECT_THAT(names_of_outlines(task_with_cores(text, 1)), ElementsAre("C unrolled"));
  const Task prepared = task_with_cores("V[i:8, j:8] = W[j, i] * 2.0\nC[i:8] = A[i] + V[i, 0]", 1, {"W"});
  EXPECT_EQ(outlines_of(prepared, {})[0].of("V").structure, Structure::prepared);
}

TEST(Outline, AChainOfManyProductsHasFew) {
  std::string text = "P0[i:40, j:40] = sum(r:40) A[i, r] * A[r, j]\n";
  for (int i = 1; i < 40; ++i)
    text += fmt::format("P{0}[i:40, j:40] = sum(r:40) P{1}[i, r] * P{1}[r, j]\n", i, i - 1);
  EXPECT_EQ(outlines_of(task_with_cores(text, 1), {}).size(), 64U);
}

}  // namespace
}  // namespace lathe
