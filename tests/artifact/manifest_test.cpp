#include "artifact/manifest.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "artifact/artifact_fixture.h"
#include "base/read_file.h"

namespace lathe {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class ManifestTest : public ArtifactTest {
 protected:
  std::string path() const { return folder() + "/manifest.json"; }
  std::string library() const { return folder() + "/model.so"; }
  json manifest() const { return json::parse(read_file(path()).value()); }
  void put(const json& manifest) const { std::ofstream(path()) << manifest.dump(2); }

  // As an artifact was written before there were hashes.
  void put_without_hashes(json manifest) const {
    manifest.erase("hash");
    manifest.erase("library");
    put(manifest);
  }

  // The sentence for an artifact that cannot be opened.
  std::string refusal() const {
    const auto artifact = LoadedArtifact::open(folder(), 1);
    return artifact.has_value() ? "it opens" : artifact.error().to_string();
  }
};

TEST_F(ManifestTest, WhateverItSaysElseIsDamage) {
  write_matmul();
  const json right = manifest();
  put(right);
  EXPECT_EQ(refusal(), "it opens") << "white space means nothing";
  for (const json::json_pointer& place : {"/outputs/0/shape"_json_pointer, "/inputs/0/type"_json_pointer,
                                          "/library/hash"_json_pointer, "/cores"_json_pointer}) {
    json damaged = right;
    damaged[place] = json::array({19});
    put(damaged);
    EXPECT_EQ(refusal(), path() + ": the manifest is damaged: it does not have the hash that it names");
  }
  json without_library = right;
  without_library.erase("library");
  put(without_library);
  EXPECT_THAT(refusal(), HasSubstr("the manifest is damaged"));
  for (const json& other : {json(), json("hash"), json::array(), json::object()}) {
    put(other);
    EXPECT_EQ(refusal(), path() + ": this is not the manifest of an artifact");
  }
}

TEST_F(ManifestTest, ALibraryThatIsNotTheManifestsIsNeverLoaded) {
  write_matmul();
  const std::string right = read_file(library()).value();
  const auto put_library = [&](const std::string& bytes) {
    std::ofstream(library(), std::ios::binary) << bytes;
  };
  const std::string begin =
      library() + ": the library is damaged, or not the one that belongs to the manifest: ";
  for (const size_t bytes : {size_t{0}, size_t{100}, right.size() / 2, right.size() - 1}) {
    put_library(right.substr(0, bytes));
    EXPECT_EQ(refusal(), fmt::format("{}it has {} bytes in place of {}", begin, bytes, right.size()));
  }
  std::string changed = right;
  changed[right.size() / 2] ^= 1;
  put_library(changed);
  EXPECT_EQ(refusal(), begin + "its hash is another one");
}

TEST_F(ManifestTest, AnArtifactWithoutHashesLoadsWhereItIsWhole) {
  write_matmul();
  const json right = manifest();
  put_without_hashes(right);
  EXPECT_EQ(refusal(), "it opens");
  const std::string bytes = read_file(library()).value();
  for (const size_t size : {size_t{0}, size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
    std::ofstream(library(), std::ios::binary) << bytes.substr(0, size);
    EXPECT_EQ(refusal(), library() + ": the library is cut short");
  }
}

TEST_F(ManifestTest, WhatTheLibraryDoesNotSayOfItsTensorsIsRefused) {
  write_matmul();
  const json right = manifest();
  const auto refusal_of = [&](const char* place, const json& value) {
    json wrong = right;
    wrong[json::json_pointer(place)] = value;
    put_without_hashes(wrong);
    return refusal();
  };
  const std::string begin = library() + ": ";
  EXPECT_EQ(refusal_of("/outputs/0/shape", {190, 210}),
            begin + "output 0 is 'C', f32[190,210] in the manifest and 'C', f32[19,21] in the library");
  EXPECT_EQ(refusal_of("/inputs/0/type", "f64"),
            begin + "input 0 is 'A', f64[19,17] in the manifest and 'A', f32[19,17] in the library");
  EXPECT_EQ(
      refusal_of("/inputs/1/constant", false),
      begin + "input 1 is 'B', f32[17,21] in the manifest and 'B', f32[17,21], constant in the library");
  EXPECT_EQ(refusal_of("/inputs/0/name", "X"),
            begin + "input 0 is 'X', f32[19,17] in the manifest and 'A', f32[19,17] in the library");
  EXPECT_EQ(refusal_of("/inputs", json::array()), begin + "the manifest has 0 inputs and the library 2");
  EXPECT_EQ(refusal_of("/build", "0123456789abcdef"),
            begin + "the library is that of 'mm', build " + right["build"].get<std::string>() +
                ", and the manifest that of 'mm', build 0123456789abcdef");
}

TEST_F(ManifestTest, AnExtentIsAWholeNumber) {
  write_matmul();
  json wrong = manifest();
  wrong["outputs"][0]["shape"] = {19.5, 21};
  put_without_hashes(wrong);
  EXPECT_EQ(refusal(), path() + ": tensor 'C' has an extent that is no whole number");
}

TEST_F(ManifestTest, ShapesThatNoMemoryHoldsAreRefused) {
  write_matmul();
  json manifest = this->manifest();
  manifest["outputs"][0]["shape"] = {int64_t{1} << 40, int64_t{1} << 40};
  put_without_hashes(manifest);
  const std::string sentence = path() +
                               ": tensor 'C' has the shape [1099511627776,1099511627776], which is more than "
                               "64 bits can address";
  EXPECT_EQ(refusal(), sentence);
  manifest.erase("hash");
  manifest["hash"] = manifest_hash(manifest);
  put(manifest);
  EXPECT_EQ(refusal(), sentence) << "whatever its hash says";
}

TEST_F(ManifestTest, CSourcesHaveNoLibrary) {
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto model = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  ASSERT_TRUE(write_c_sources(*model, folder(), {.compiler_version = "test"}).has_value());
  const auto read = read_manifest(folder());
  ASSERT_TRUE(read.has_value()) << read.error().to_string();
  EXPECT_FALSE(read->library.has_value());
  EXPECT_EQ(manifest()["hash"], manifest_hash(manifest()));
}

// What is there for people alone does not keep an artifact from being used.
TEST_F(ManifestTest, LaunchesMayLackWhatEarlierVersionsDidNotWrite) {
  write_matmul();
  const Manifest whole = read_manifest(folder()).value();
  ASSERT_EQ(whole.launches.size(), 1U);
  EXPECT_EQ(whole.launches[0].name, "mm");
  EXPECT_EQ(whole.launches[0].operators, (std::vector<std::string>{"expression"}));
  EXPECT_EQ(whole.launches[0].flops, 2 * 19 * 21 * 17);
  EXPECT_EQ(whole.launches[0].bytes, 4 * (19 * 17 + 17 * 21 + 19 * 21));
  EXPECT_EQ(whole.cores, 2);

  json earlier = manifest();
  earlier["launches"][0].erase("operators");
  earlier["kernels"][0].erase("flops");
  earlier["kernels"][0].erase("bytes");
  put_without_hashes(earlier);
  EXPECT_EQ(refusal(), "it opens");
  const Manifest read = read_manifest(folder()).value();
  ASSERT_EQ(read.launches.size(), 1U);
  EXPECT_TRUE(read.launches[0].operators.empty());
  EXPECT_FALSE(read.launches[0].flops || read.launches[0].bytes);
}

TEST_F(ManifestTest, LaunchesAreThoseOfTheLibrary) {
  write_matmul();
  json changed = manifest();
  changed["launches"].push_back(changed["launches"][0]);
  put_without_hashes(changed);
  EXPECT_EQ(refusal(), library() + ": the manifest has 2 launches and the library 1");
  changed["launches"] = json::array({{{"name", "mm"}, {"kernel", 7}}});
  put_without_hashes(changed);
  EXPECT_EQ(refusal(), path() + ": this is not the manifest of an artifact");
}

TEST_F(ManifestTest, ALibraryOfAnEarlierVersionRunsAndIsNotTimed) {
  write_matmul();
  std::string bytes = read_file(library()).value();
  const std::string name = "lathe_run_timed";
  ASSERT_NE(bytes.find(name), std::string::npos);
  bytes.replace(bytes.find(name), name.size(), "lathe_run_other");
  std::ofstream(library(), std::ios::binary) << bytes;
  put_without_hashes(manifest());
  auto artifact = LoadedArtifact::open(folder(), 1);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  check_matmul(*artifact, random_floats(19 * 17, 1), random_floats(17 * 21, 2));
  EXPECT_EQ(artifact->run_timed(false).error().to_string(),
            folder() +
                ": the artifact was compiled by a Lathe whose libraries cannot time their kernels: "
                "compile it again");
}

}  // namespace
}  // namespace lathe
