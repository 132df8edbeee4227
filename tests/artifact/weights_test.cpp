// The file of weights is written from constants that are packed on the way.
#include "artifact/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "artifact/artifact_fixture.h"
#include "artifact/runtime/model_tables.h"
#include "base/read_file.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

class WeightsTest : public ArtifactTest {
 protected:
  // Two products with the same matrix of constants, which is packed once.
  Model model() {
    OnnxModel onnx;
    onnx.input("x", {64, 64}).initializer("w", {64, 64}).output("y");
    onnx.node("a", "MatMul", {"x", "w"}, "t").node("b", "MatMul", {"t", "w"}, "y");
    std::ofstream(folder("net.onnx"), std::ios::binary) << onnx.bytes();
    const auto network = load_network(folder("net.onnx"), {}, options_.target);
    EXPECT_TRUE(network.has_value()) << network.error().to_string();
    return compile_network(*network, options_).value();
  }
};

TEST_F(WeightsTest, TheFileHasTheSizeAndTheIdsThatItsModelNames) {
  Model made = model();
  const Result<uint64_t> build = write_weights(made, folder("weights.bin"));
  ASSERT_TRUE(build.has_value()) << build.error().to_string();
  const std::string file = read_file(folder("weights.bin")).value();
  EXPECT_EQ(static_cast<int64_t>(file.size()), made.weights_bytes);
  LatheWeightsHead head;
  std::memcpy(&head, file.data(), sizeof head);
  EXPECT_EQ(head.id, weights_id(file));
  EXPECT_EQ(head.build, *build);
  EXPECT_EQ(build_id(made, head.id), *build);
  EXPECT_EQ(head.name, made.name);
}

TEST_F(WeightsTest, ConstantsAreLetGoOnceTheyAreWritten) {
  Model made = model();
  ASSERT_EQ(made.constants.size(), 1U) << "both launches read the same";
  std::vector<std::weak_ptr<const Bytes>> constants;
  for (const auto& values : made.constants.front().values)
    if (values != nullptr) constants.push_back(values);
  ASSERT_EQ(constants.size(), 1U);
  EXPECT_FALSE(constants.front().expired());
  ASSERT_TRUE(write_weights(made, folder("weights.bin")).has_value());
  EXPECT_TRUE(constants.front().expired());
}

TEST_F(WeightsTest, WhatCannotBeWrittenIsSaidOfTheFile) {
  Model made = model();
  EXPECT_EQ(write_weights(made, "/dev/full").error().to_string(),
            "/dev/full: the file cannot be written: No space left on device");
}

// The artifact that was there before, and nothing beside it.
TEST_F(WeightsTest, AnArtifactWhoseWeightsCannotBePreparedLeavesTheOneBefore) {
  write_matmul();
  const std::string manifest = read_file(folder() + "/manifest.json").value();
  Model made = model();
  made.constants.front().kept.push_back(made.kernels.front().module.buffers.size() - 1);
  made.kernels.front().module.object = "no machine code";
  const Status written = write_artifact(std::move(made), folder(), {.compiler_version = "test"});
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().kind, ErrorKind::load) << written.error().to_string();
  EXPECT_EQ(read_file(folder() + "/manifest.json").value(), manifest);
  for (const auto& entry : std::filesystem::directory_iterator(folder()))
    EXPECT_THAT(entry.path().filename().string(), ::testing::Not(::testing::StartsWith(".")));
}

}  // namespace
}  // namespace lathe
