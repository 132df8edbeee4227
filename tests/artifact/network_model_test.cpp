// What a network's artifact makes of the integers that its caller gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "artifact/artifact_fixture.h"
#include "artifact/open/random_inputs.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

class NetworkModelTest : public ArtifactTest {
 protected:
  void write_network(const OnnxModel& onnx) {
    std::ofstream(folder("net.onnx"), std::ios::binary) << onnx.bytes();
    const auto network = load_network(folder("net.onnx"), {}, options_.target);
    ASSERT_TRUE(network.has_value()) << network.error().to_string();
    write(compile_network(*network, options_));
  }
  // y[i] = w[places[i]] of ten rows, the places given as this type of one byte.
  void write_gather(int type) {
    OnnxModel onnx;
    std::vector<float> rows;
    for (int row = 0; row < 10; ++row) rows.push_back(static_cast<float>(10 * row));
    onnx.input("places", {5}, type).initializer("w", {10, 1}, rows).output("y");
    onnx.node("c", "Cast", {"places"}, "wide").attribute("to", onnx::TensorProto_DataType_INT64);
    onnx.node("g", "Gather", {"w", "wide"}, "y");
    write_network(onnx);
  }
};

Status run_bytes(LoadedArtifact& artifact, DType dtype, const std::vector<int8_t>& places) {
  NpyArray array{dtype, {5}, std::vector<std::byte>(places.size())};
  std::memcpy(array.bytes.data(), places.data(), places.size());
  EXPECT_TRUE(artifact.set_input(0, std::move(array), "places").has_value());
  return artifact.run();
}

TEST_F(NetworkModelTest, PlacesMayHaveOneByte) {
  write_gather(onnx::TensorProto_DataType_INT8);
  auto artifact = LoadedArtifact::open(folder(), 1);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  const Status run = run_bytes(*artifact, DType::i8, {3, 9, -1, 0, -10});
  ASSERT_TRUE(run.has_value()) << run.error().to_string();
  EXPECT_EQ(floats(artifact->output(0)), (std::vector<float>{30, 90, 90, 0, 0}));
  EXPECT_THAT(
      run_bytes(*artifact, DType::i8, {3, 9, -1, 0, -11}).error().message,
      HasSubstr("input 0 ('places') holds -11 as element 4: the model takes values from -10 to 9 there"));
}

// The manifest is UTF-8, the library holds C's strings, and both must say the same.
TEST_F(NetworkModelTest, NamesMayHoldAnyBytes) {
  OnnxModel onnx;
  const std::string with_zero("y\0z", 3);
  onnx.input("x\xff", {3})
      .input(with_zero, {3})
      .output("s\xc3")
      .node("n", "Add", {"x\xff", with_zero}, "s\xc3");
  write_network(onnx);
  auto artifact = LoadedArtifact::open(folder(), 1);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  EXPECT_EQ(artifact->inputs()[0].name, "x\xef\xbf\xbd");
  EXPECT_EQ(artifact->inputs()[1].name, "y_z");
}

TEST_F(NetworkModelTest, ConditionsMayBePlaces) {
  write_gather(onnx::TensorProto_DataType_BOOL);
  auto artifact = LoadedArtifact::open(folder(), 1);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  const Status run = run_bytes(*artifact, DType::boolean, {1, 0, 0, 1, 1});
  ASSERT_TRUE(run.has_value()) << run.error().to_string();
  EXPECT_EQ(floats(artifact->output(0)), (std::vector<float>{10, 0, 0, 10, 10}));
}

// Labels of two classes, or the one that is ignored: what a run takes stands in the manifest alone.
TEST_F(NetworkModelTest, RandomInputsAreWhatARunTakes) {
  OnnxModel onnx;
  onnx.input("x", {4, 2}).input("labels", {4}, onnx::TensorProto_DataType_INT64).output("y");
  onnx.node("l", "NegativeLogLikelihoodLoss", {"x", "labels"}, "y").attribute("ignore_index", int64_t{-2});
  write_network(onnx);
  auto artifact = LoadedArtifact::open(folder(), 1);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Status set = set_random_inputs(*artifact, folder(), seed, "--random");
    ASSERT_TRUE(set.has_value()) << set.error().to_string();
    const Status run = artifact->run();
    EXPECT_TRUE(run.has_value()) << run.error().to_string();
  }
}

}  // namespace
}  // namespace lathe
