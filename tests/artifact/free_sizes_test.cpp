// Artifacts whose sizes are free: every size within the bounds, by the C face.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "artifact/artifact_fixture.h"
#include "artifact/open/artifact_library.h"
#include "artifact/open/random_inputs.h"
#include "artifact/open/verify_artifact.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

class FreeSizesTest : public ArtifactTest {
 protected:
  void SetUp() override {
    ArtifactTest::SetUp();
    if (!IsSkipped()) options_.target = with_cores(options_.target, 1);
  }

  void write_network(const OnnxModel& onnx, const std::map<std::string, Shape>& shapes,
                     const SizeChoices& sizes) {
    std::ofstream(folder("net.onnx"), std::ios::binary) << onnx.bytes();
    OnnxImportOptions import;
    import.input_shapes = shapes;
    const auto network = load_network(folder("net.onnx"), import, options_.target, false, sizes);
    ASSERT_TRUE(network.has_value()) << network.error().to_string();
    write(compile_network(*network, options_));
  }

  // The artifact beside the file as it is read at these shapes.
  void check(LoadedArtifact& artifact, const std::map<std::string, Shape>& shapes) const {
    OnnxImportOptions import;
    import.input_shapes = shapes;
    const Result<Graph> graph = import_onnx(folder("net.onnx"), import);
    ASSERT_TRUE(graph.has_value()) << graph.error().to_string();
    const std::vector<Values> inputs = random_inputs(*graph, 11);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::vector<float> values(inputs[i].data.begin(), inputs[i].data.end());
      const Status set = artifact.set_input(i, array_of(inputs[i].shape, values), "test");
      ASSERT_TRUE(set.has_value()) << set.error().to_string();
    }
    const Status run = artifact.run();
    ASSERT_TRUE(run.has_value()) << run.error().to_string();
    const auto expected = evaluate_graph(*graph, inputs);
    ASSERT_TRUE(expected.has_value());
    std::vector<Values> given;
    for (size_t i = 0; i < expected->size(); ++i) {
      const NpyArray output = artifact.output(i);
      const std::vector<float> values = floats(output);
      given.push_back({output.shape, {values.begin(), values.end()}});
    }
    EXPECT_LT(relative_difference(given, *expected), 1e-5) << to_string(inputs[0].shape);
  }
};

// x [2, b, 3] -> y [b, 12], z [2, b, 4]: a batch that does not stand first, and one that does.
OnnxModel middle_batch_model() {
  OnnxModel onnx;
  onnx.input("x", {2, 1, 3}).initializer("w", {3, 4}).output("y").output("z");
  onnx.node("m", "MatMul", {"x", "w"}, "t").node("r", "Relu", {"t"}, "z");
  onnx.node("p", "Transpose", {"z"}, "u").attribute("perm", {1, 0, 2});
  onnx.integers("shape", {1, 8}).node("f", "Reshape", {"u", "shape"}, "v");
  onnx.initializer("k", {8, 12}).node("n", "MatMul", {"v", "k"}, "y");
  return onnx;
}

// Scores of tokens beside each other, a softmax over them and a sum.
OnnxModel token_model() {
  OnnxModel onnx;
  onnx.input("x", {1, 30, 6}).output("y").node("t", "Transpose", {"x"}, "k").attribute("perm", {0, 2, 1});
  onnx.node("s", "MatMul", {"x", "k"}, "a").node("f", "Softmax", {"a"}, "b").attribute("axis", -1);
  onnx.node("m", "MatMul", {"b", "x"}, "c").node("l", "Log", {"c"}, "n").node("g", "Add", {"c", "x"}, "y");
  return onnx;
}

TEST_F(FreeSizesTest, ABatchAnywhereInATensorIsServedInParts) {
  write_network(middle_batch_model(), {{"x", {2, 7, 3}}}, {{{"x", {{1, "batch", 1, 7}}}}, {}});
  auto artifact = LoadedArtifact::open(folder(), 1);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  for (const int64_t size : {7, 1, 2, 3, 4, 5, 6, 7}) {
    OnnxModel at = middle_batch_model();
    at.proto.mutable_graph()->mutable_initializer(1)->set_int64_data(0, size);
    std::ofstream(folder("net.onnx"), std::ios::binary) << at.bytes();
    check(*artifact, {{"x", {2, size, 3}}});
  }
  const Status refused = artifact->set_input(0, array_of({2, 8, 3}, std::vector<float>(48)), "test");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "input 'x' must be f32[2,1..7,3], this is [2,8,3]");
  EXPECT_TRUE(verify_artifact(folder()).has_value());
}

TEST_F(FreeSizesTest, TokensAreServedByACount) {
  write_network(token_model(), {{"x", {1, 30, 6}}}, {{{"x", {{1, "", 1, 30}}}}, {}});
  auto artifact = LoadedArtifact::open(folder(), 1);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  for (const int64_t size : {30, 1, 2, 15, 16, 17, 24, 25, 29}) check(*artifact, {{"x", {1, size, 6}}});
  ASSERT_TRUE(set_random_inputs(*artifact, folder(), 1, "test").has_value());
  EXPECT_TRUE(artifact->run_timed(true).has_value());
}

// Tokens whose sum is 0 would be NaN behind those that count, and a product may add rows beside each other
// up.
TEST_F(FreeSizesTest, WhatLiesBehindAnOddNumberOfTokensDoesNotReachThem) {
  OnnxModel onnx;
  onnx.input("x", {96, 512}).initializer("w", {512, 512}).integers("axes", {1}).integers("first", {0});
  onnx.node("a", "Abs", {"x"}, "p")
      .node("s", "ReduceSum", {"p", "axes"}, "t")
      .node("d", "Div", {"x", "t"}, "n");
  onnx.node("m", "MatMul", {"n", "w"}, "y")
      .node("f", "ReduceMax", {"y", "first"}, "z")
      .output("y")
      .output("z");
  write_network(onnx, {{"x", {96, 512}}}, {{{"x", {{0, "tokens", 1, 96}}}}, {}});
  auto artifact = LoadedArtifact::open(folder(), 1);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  for (const int64_t size : {95, 61, 96, 33, 1}) check(*artifact, {{"x", {size, 512}}});
}

// By the functions of the C face alone.
TEST_F(FreeSizesTest, CallersGiveShapes) {
  OnnxModel onnx;
  onnx.input("x", {1, 4}).output("y").node("n", "Neg", {"x"}, "y");
  write_network(onnx, {{"x", {5, 4}}}, {{{"x", {{0, "batch", 2, 5}}}}, {}});
  const auto manifest = read_manifest(folder());
  ASSERT_TRUE(manifest.has_value()) << manifest.error().to_string();
  const auto library = ArtifactLibrary::load(folder(), *manifest);
  ASSERT_TRUE(library.has_value()) << library.error().to_string();
  const lathe_free_sizes* const sizes = library->interface()->free_sizes;
  ASSERT_NE(sizes, nullptr);
  EXPECT_STREQ(sizes->dimensions[0].name, "batch");
  EXPECT_EQ(sizes->dimensions[0].least, 2);
  EXPECT_EQ(sizes->dimensions[0].most, 5);
  lathe_model* const model = library->open(folder().c_str(), 1);
  ASSERT_NE(model, nullptr);
  std::vector<float> data = random_floats(20, 5);
  const std::vector<float> before = data;
  const void* inputs[] = {data.data()};
  void* outputs[] = {data.data()};  // an output may lie where an input does
  int64_t shape[] = {3, 4};
  const int64_t* shapes[] = {shape};
  int64_t told[] = {0, 0};
  int64_t* room[] = {told};
  EXPECT_EQ(library->output_shapes(model, shapes, room), 0);
  EXPECT_EQ(told[0], 3);
  EXPECT_EQ(told[1], 4);
  EXPECT_EQ(library->run_sized(model, inputs, shapes, outputs), 0) << library->error();
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(data[i], i < 12 ? -before[i] : before[i]);
  shape[0] = 6;
  EXPECT_EQ(library->run_sized(model, inputs, shapes, outputs), 1);
  EXPECT_STREQ(library->error(), "axis 0 of input 0 ('x') has 6 places, and 'batch' goes from 2 to 5");
  shapes[0] = nullptr;
  EXPECT_EQ(library->run_sized(model, inputs, shapes, outputs), 1);
  EXPECT_STREQ(library->error(), "no shape says what 'batch' is, from 2 to 5");
  EXPECT_EQ(library->run(model, inputs, outputs), 0) << "at the largest size";
  EXPECT_EQ(data[19], -before[19]);
  library->close(model);
}

// The shape of a scalar has no room, nor needs any.
TEST_F(FreeSizesTest, AnOutputMayBeAScalar) {
  OnnxModel onnx;
  onnx.input("x", {1, 3}).output("y").node("s", "ReduceSum", {"x"}, "y").attribute("keepdims", 0);
  write_network(onnx, {{"x", {20, 3}}}, {{{"x", {{0, "", 1, 20}}}}, {}});
  auto artifact = LoadedArtifact::open(folder(), 1);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  for (const int64_t size : {20, 1, 7}) check(*artifact, {{"x", {size, 3}}});
}

// Tokens [n] looked up in a table of 10 and averaged.
OnnxModel lookup_model() {
  OnnxModel onnx;
  onnx.input("x", {5}, onnx::TensorProto_DataType_INT64).initializer("t", {10, 3}).output("y");
  onnx.node("g", "Gather", {"t", "x"}, "u").node("m", "ReduceMean", {"u"}, "y");
  onnx.attribute("axes", {0}).attribute("keepdims", 0);
  return onnx;
}

// An index that a call was refused for is not left where a shorter call has none.
TEST_F(FreeSizesTest, IndicesOfAnEarlierCallAreForgotten) {
  write_network(lookup_model(), {{"x", {40}}}, {{{"x", {{0, "", 1, 40}}}}, {}});
  auto artifact = LoadedArtifact::open(folder(), 1);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  const auto status_of = [&](const std::vector<int64_t>& tokens) {
    NpyArray array{DType::i64, {static_cast<int64_t>(tokens.size())}, {}};
    array.bytes.resize(tokens.size() * sizeof(int64_t));
    std::memcpy(array.bytes.data(), tokens.data(), array.bytes.size());
    const Status set = artifact->set_input(0, std::move(array), "test");
    return set ? artifact->run() : set;
  };
  EXPECT_TRUE(status_of({1, 2, 3, 4}).has_value());
  const Status refused = status_of({1, 2, 3, 4, 999});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("holds 999 as element 4"));
  EXPECT_TRUE(status_of({1, 2, 3, 4}).has_value());
}

// Plans read the constants that they pack alike from one place.
TEST_F(FreeSizesTest, WeightsAreNotThereForEachSize) {
  OnnxModel onnx;
  onnx.input("x", {1, 256}).initializer("w", {256, 256}).output("y").node("m", "MatMul", {"x", "w"}, "y");
  write_network(onnx, {{"x", {64, 256}}}, {{{"x", {{0, "", 1, 64}}}}, {}});
  EXPECT_LT(std::filesystem::file_size(folder() + "/weights.bin"), 3U * 256 * 256 * 4);
}

}  // namespace
}  // namespace lathe
