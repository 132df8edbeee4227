#include "artifact/verify_artifact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "artifact/artifact_fixture.h"
#include "artifact/weights.h"
#include "base/read_file.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class VerifyArtifactTest : public ArtifactTest {
 protected:
  std::string at(const std::string& name) const { return folder() + "/" + name; }
  // What is said of the artifact when that byte of the file is another one.
  std::string verdict_on_damage(const std::string& name, size_t place) const {
    const std::string right = read_file(at(name)).value();
    std::string damaged = right;
    damaged.at(place) ^= 1;
    std::ofstream(at(name), std::ios::binary) << damaged;
    std::string said = verdict();
    std::ofstream(at(name), std::ios::binary) << right;
    return said;
  }
  std::string verdict() const {
    const auto verified = verify_artifact(folder());
    return verified.has_value() ? "whole" : verified.error().to_string();
  }
};

TEST_F(VerifyArtifactTest, EveryFileIsLookedAt) {
  const auto workloads = parse_workloads(kMatmul, "test");
  auto model = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  const std::array<std::byte, 100> weights = {};
  WeightsFile file;
  file.add(weights);
  model->weights = file.finish();
  write(model);
  EXPECT_EQ(verdict(), "whole");
  EXPECT_EQ(verdict_on_damage("weights.bin", 0), at("weights.bin") + ": this is not the weights of a model");
  EXPECT_THAT(verdict_on_damage("weights.bin", 16),
              StartsWith(at("weights.bin") + ": the weights are those of 'mm', build "));
  EXPECT_EQ(verdict_on_damage("weights.bin", 100),
            at("weights.bin") + ": the weights are damaged: they do not have the hash that their head names");
  EXPECT_THAT(verdict_on_damage("model.so", 5000), HasSubstr("the library is damaged"));
  EXPECT_THAT(verdict_on_damage("manifest.json", 40), StartsWith(at("manifest.json") + ": "));
  EXPECT_EQ(verdict(), "whole");
  std::filesystem::remove(at("weights.bin"));
  EXPECT_THAT(verdict(), StartsWith(at("weights.bin") + ": "));
}

TEST_F(VerifyArtifactTest, WithoutHashesNothingIsVerified) {
  write_matmul();
  nlohmann::json manifest = nlohmann::json::parse(read_file(at("manifest.json")).value());
  manifest.erase("hash");
  std::ofstream(at("manifest.json")) << manifest;
  EXPECT_EQ(verdict(),
            at("manifest.json") +
                ": the manifest names no hash or no build, by which the artifact could be verified: "
                "compile it again");
}

TEST_F(VerifyArtifactTest, SourcesAreVerifiedWithoutALibrary) {
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto model = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  ASSERT_TRUE(write_c_sources(*model, folder(), {.compiler_version = "test"}).has_value());
  EXPECT_EQ(verdict(), "whole");
  std::filesystem::remove(at("kernel0.c"));
  EXPECT_EQ(verdict(), at("manifest.json") + ": the manifest names no library");
}

}  // namespace
}  // namespace lathe
