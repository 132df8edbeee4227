#include "artifact/open/verify_artifact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

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
  model->launches.front().buffers[1] = {ModelStorage::weights, kWeightsHeadBytes};
  model->constants.push_back(
      {0, {nullptr, std::make_shared<const Bytes>(17 * 21 * 4), nullptr}, {1}, {kWeightsHeadBytes}});
  model->weights_bytes = kWeightsHeadBytes + model->kernels.front().module.buffers[1].bytes;
  write(model);
  EXPECT_EQ(verdict(), "whole");
  EXPECT_EQ(verdict_on_damage("weights.bin", 0), at("weights.bin") + ": this is not the weights of a model");
  EXPECT_THAT(verdict_on_damage("weights.bin", 16),
              StartsWith(at("weights.bin") + ": the weights are those of 'mm', build "));
  EXPECT_EQ(verdict_on_damage("weights.bin", 100),
            at("weights.bin") + ": the weights are damaged: they do not have the hash that their head names");
  EXPECT_EQ(verdict_on_damage("weights.bin", 24),
            at("weights.bin") + ": the weights bear the name 'lm', and the manifest 'mm'");
  EXPECT_THAT(verdict_on_damage("weights.bin", 63), HasSubstr("the weights bear the name 'mm"));
  EXPECT_THAT(verdict_on_damage("model.so", 5000), HasSubstr("is damaged"));
  EXPECT_EQ(
      verdict_on_damage("model.h", 40),
      at("model.h") +
          ": the file is damaged, or not the one that belongs to the manifest: its hash is another one");
  EXPECT_THAT(verdict_on_damage("manifest.json", 40), StartsWith(at("manifest.json") + ": "));
  EXPECT_EQ(verdict(), "whole");
  for (const char* name : {"model.h", "liblathe_mm.so", "weights.bin"}) {
    std::filesystem::remove(at(name));
    EXPECT_EQ(verdict(), at(name) + ": there is no such file, or it cannot be read");
  }
}

TEST_F(VerifyArtifactTest, ManifestsOfAnotherFormatAreNotRead) {
  write_matmul();
  nlohmann::json manifest = nlohmann::json::parse(read_file(at("manifest.json")).value());
  manifest["format"] = 2;
  manifest["hash"] = manifest_hash(manifest);
  std::ofstream(at("manifest.json")) << manifest;
  EXPECT_EQ(verdict(), at("manifest.json") + ": the manifest has the format 2, and this Lathe reads 1");
}

// Nobody writes into these pipes: whoever opened one to read it would wait for ever.
TEST_F(VerifyArtifactTest, PipesAndDevicesAreNoFiles) {
  write_matmul();
  const auto opened = [&] { return LoadedArtifact::open(folder(), 1).error().to_string(); };
  for (const char* name : {"weights.bin", "model.so", "manifest.json"}) {
    std::filesystem::rename(at(name), at("aside"));
    ASSERT_EQ(mkfifo(at(name).c_str(), 0600), 0);
    EXPECT_EQ(verdict(), at(name) + ": this is a pipe or a device, not a regular file");
    EXPECT_THAT(opened(), HasSubstr(name));
    std::filesystem::remove(at(name));
    std::filesystem::create_symlink("/dev/zero", at(name));
    EXPECT_EQ(verdict(), at(name) + ": this is a pipe or a device, not a regular file");
    EXPECT_THAT(opened(), HasSubstr(name));
    std::filesystem::rename(at("aside"), at(name));
  }
  std::filesystem::remove(at("weights.bin"));
  std::filesystem::create_directory(at("weights.bin"));
  EXPECT_EQ(verdict(), at("weights.bin") + ": this is a folder, not a file");
  EXPECT_EQ(opened(), folder() + ": the weights " + at("weights.bin") + " cannot be read: Is a directory");
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
  EXPECT_EQ(
      verdict_on_damage("kernel0.c", 10),
      at("kernel0.c") +
          ": the file is damaged, or not the one that belongs to the manifest: its hash is another one");
  std::filesystem::remove(at("kernel0.c"));
  EXPECT_EQ(verdict(), at("kernel0.c") + ": there is no such file, or it cannot be read");
}

}  // namespace
}  // namespace lathe
