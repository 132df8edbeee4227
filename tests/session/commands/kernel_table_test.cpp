#include "session/commands/kernel_table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "target/all.h"

namespace lathe {
namespace {

// Two launches, the second of an artifact that does not say what it computes.
KernelTable sample_table(const std::optional<Roofline>& roofline) {
  Manifest manifest;
  manifest.launches = {{"conv", {"Conv", "Relu"}, 4'000'000, 1'000'000}, {"other"}};
  ArtifactProfile profile;
  profile.call = 110e-6;
  profile.inputs = 10e-6;
  profile.outputs = 5e-6;
  profile.between = 5e-6;
  profile.launches = {50e-6, 30e-6};
  profile.samples = 3;
  profile.runs = 7;
  Target target = generic_target("x86-avx2");
  target.cpu().cores = 2;
  target.cpu().l2.bytes = 1'000'000;
  return kernel_table(manifest, profile, target, roofline);
}

TEST(KernelTableOfAnArtifact, SetsLaunchesBesideThePeaks) {
  const KernelTable table = sample_table(Roofline{160, {400, 50, 10}});
  ASSERT_EQ(table.rows.size(), 5U);
  const KernelRow& conv = table.rows[1];
  EXPECT_EQ(conv.launch, 0U);
  EXPECT_DOUBLE_EQ(conv.share, 0.5) << "of all rows together";
  EXPECT_DOUBLE_EQ(*billions_a_second(conv.flops, conv.seconds), 80);
  EXPECT_DOUBLE_EQ(*billions_a_second(conv.bytes, conv.seconds), 20);
  EXPECT_DOUBLE_EQ(conv.of_bound.value(), 0.5);
  EXPECT_EQ(conv.limit, Bottleneck::units);
  EXPECT_FALSE(table.rows[2].of_bound.has_value());
  EXPECT_FALSE(billions_a_second(table.rows[2].flops, table.rows[2].seconds).has_value());
  for (const size_t other : {size_t{0}, size_t{3}, size_t{4}}) EXPECT_FALSE(table.rows[other].launch);
  EXPECT_EQ(table.rows[4].name, "between kernels");

  const nlohmann::ordered_json json = json_of(table);
  EXPECT_EQ(
      json.at("rows").at(1),
      nlohmann::ordered_json::parse(
          R"({"name": "conv", "launch": 0, "operators": ["Conv", "Relu"], "seconds": 5e-05, "share": 0.5,
                    "flops": 4000000, "bytes": 1000000, "gflops": 80.0, "gigabytes": 20.0, "of_bound": 0.5,
                    "bound_by": "compute"})"));
  EXPECT_EQ(json.at("peaks").at("l3_gigabytes"), 50);
  EXPECT_EQ(json.at("cores"), 2);
}

TEST(KernelTableOfAnArtifact, WithoutPeaksThereAreNoBounds) {
  const KernelTable table = sample_table(std::nullopt);
  for (const KernelRow& row : table.rows) EXPECT_FALSE(row.of_bound || row.limit) << row.name;
  EXPECT_TRUE(json_of(table).at("peaks").is_null());
}

TEST(KernelTableOfAnArtifact, OperatorsAreNamedInShort) {
  EXPECT_EQ(short_names({}), "");
  EXPECT_EQ(short_names({"Conv", "Add", "Relu"}), "Conv+Add+Relu");
  EXPECT_EQ(short_names({"Mul", "Mul", "Mul", "Add"}), "Mul x3+Add");
  EXPECT_EQ(short_names({"A", "B", "C", "D", "E", "F"}), "A+B+C+D+E+F");
  EXPECT_EQ(short_names({"A", "B", "C", "D", "E", "F", "G"}), "A+B+C+D+E+F+..");
}

TEST(KernelTableOfAnArtifact, BoundsHaveWords) {
  EXPECT_EQ(words_of(Bottleneck::units), "compute");
  EXPECT_EQ(words_of(Bottleneck::second_level), "memory (L2)");
  EXPECT_EQ(words_of(Bottleneck::third_level), "memory (L3)");
  EXPECT_EQ(words_of(Bottleneck::memory), "memory");
}

}  // namespace
}  // namespace lathe
