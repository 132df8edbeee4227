// An artifact that is open in this process: which calls it takes, and how long its folder lives.
#include "lathe/artifact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <numeric>
#include <thread>

#include "lathe/lathe.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;
using ::testing::StartsWith;

// B = A + 1 and C = A * 2 of nine elements.
class OpenArtifact : public SessionTest {
 protected:
  Compiled compiled() const {
    Formula formula;
    formula.text = "B[i:9] = A[i] + 1.0  C[i:9] = A[i] * 2.0";
    formula.name = "two";
    formula.constants = {"A"};
    return compile(make_operator(formula, {"native", 1}).value()).value();
  }
  size_t files_in(const std::string& folder) const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(path(folder)), fs::directory_iterator()));
  }
  // The sum of both outputs of 0, 1 .. 8: 36 + 9, and 72.
  static float sum_of_run(const Artifact& artifact, const std::string& error = "") {
    std::array<float, 9> a;
    std::iota(a.begin(), a.end(), 0.0F);
    std::array<float, 18> results = {};
    const std::array<const void*, 1> inputs = {a.data()};
    const std::array<void*, 2> outputs = {results.data(), results.data() + 9};
    EXPECT_EQ(refusal_of(artifact.run(inputs, outputs)), error);
    return std::accumulate(results.begin(), results.end(), 0.0F);
  }
};

TEST_F(OpenArtifact, SaysWhatItTakesAndGives) {
  ASSERT_EQ(refusal_of(save(compiled(), path("o"))), "");
  const Result<Artifact> artifact = Artifact::open(path("o"));
  ASSERT_TRUE(artifact.has_value()) << refusal_of(artifact);
  ASSERT_EQ(artifact->inputs().size(), 1U);
  EXPECT_EQ(artifact->inputs()[0].name, "A");
  EXPECT_EQ(artifact->inputs()[0].type, "f32");
  EXPECT_EQ(artifact->inputs()[0].shape, std::vector<int64_t>{9});
  EXPECT_TRUE(artifact->inputs()[0].is_constant);
  ASSERT_EQ(artifact->outputs().size(), 2U);
  EXPECT_EQ(artifact->outputs()[1].name, "C");
  EXPECT_FALSE(artifact->outputs()[1].is_constant);
  EXPECT_EQ(sum_of_run(*artifact), 117);
}

TEST_F(OpenArtifact, ARunTakesOneAddressForEachTensor) {
  const Artifact artifact = Artifact::open(compiled(), folder_.path().string()).value();
  std::array<float, 9> a = {};
  const std::array<const void*, 2> inputs = {a.data(), a.data()};
  const std::array<void*, 2> outputs = {a.data(), a.data()};
  const std::string refusal = "a run takes one address for each input and output";
  const std::span<const void* const> in = inputs;
  const std::span<void* const> out = outputs;
  EXPECT_EQ(refusal_of(artifact.run(in, out)), refusal);
  EXPECT_EQ(refusal_of(artifact.run({}, out)), refusal);
  EXPECT_EQ(refusal_of(artifact.run(in.first(1), out.first(1))), refusal);
}

TEST_F(OpenArtifact, AnAddressThatIsMissingIsNamed) {
  const Artifact artifact = Artifact::open(compiled(), folder_.path().string()).value();
  const std::array<const void*, 1> inputs = {nullptr};
  std::array<float, 18> results = {};
  const std::array<void*, 2> outputs = {results.data(), results.data() + 9};
  const Status status = artifact.run(inputs, outputs);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().kind, ErrorKind::invalid_program);
  EXPECT_THAT(status.error().message, ::testing::HasSubstr("'A'"));
}

// The folder of what was just compiled goes with the object, wherever that was moved.
TEST_F(OpenArtifact, ItsOwnFolderGoesWithIt) {
  fs::create_directory(path("scratch"));
  {
    Artifact first = Artifact::open(compiled(), path("scratch")).value();
    EXPECT_EQ(files_in("scratch"), 1U);
    Artifact second = std::move(first);
    EXPECT_EQ(sum_of_run(second), 117);
    second = Artifact::open(compiled(), path("scratch")).value();
    EXPECT_EQ(files_in("scratch"), 1U);
    EXPECT_EQ(sum_of_run(second), 117);
  }
  EXPECT_EQ(files_in("scratch"), 0U);
}

TEST_F(OpenArtifact, AFolderThatIsGivenStays) {
  ASSERT_EQ(refusal_of(save(compiled(), path("o"))), "");
  const size_t files = files_in("o");
  {
    const Artifact artifact = Artifact::open(path("o"), 1).value();
  }
  EXPECT_EQ(files_in("o"), files);
}

TEST_F(OpenArtifact, SeveralThreadsMayRunItAtOnce) {
  const Artifact artifact = Artifact::open(compiled(), folder_.path().string()).value();
  std::array<float, 4> sums = {};
  {
    std::vector<std::jthread> threads;
    for (float& sum : sums)
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) sum += sum_of_run(artifact);
      });
  }
  for (const float sum : sums) EXPECT_EQ(sum, 50 * 117);
}

TEST_F(OpenArtifact, WhatIsNoArtifactIsRefused) {
  EXPECT_EQ(refusal_of(Artifact::open(path("none"))), path("none") + ": there is no such folder");
  EXPECT_EQ(refusal_of(Artifact::open(path("w.json"))),
            path("w.json") + ": this is a file, and an artifact is a folder");
  fs::create_directory(path("empty"));
  EXPECT_EQ(refusal_of(Artifact::open(path("empty"))),
            path("empty") + ": this is not an artifact, it has no manifest.json");
  ASSERT_EQ(refusal_of(save(compiled(), path("o"))), "");
  fs::remove(path("o/weights.bin"));
  EXPECT_THAT(refusal_of(Artifact::open(path("o"))), StartsWith(path("o") + ": "));
  EXPECT_NE(refusal_of(Artifact::open(compiled(), path("w.json"))), "");
}

}  // namespace
}  // namespace lathe
