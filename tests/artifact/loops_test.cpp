// Networks with loops as artifacts: what their launch lists say, and that a run is what the graph means.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "artifact/artifact_fixture.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "graph/reference.h"

namespace lathe {
namespace {

constexpr int64_t kPlaces = 7, kWidth = 6, kHidden = 16;

OnnxModel lstm_model() {
  OnnxModel model;
  model.input("x", {kPlaces, 1, kWidth}).initializer("w", {1, 4 * kHidden, kWidth});
  model.initializer("r", {1, 4 * kHidden, kHidden}).node("n", "LSTM", {"x", "w", "r"}, "y").gives("h");
  model.attribute("hidden_size", kHidden).output("y").output("h");
  return model;
}

// Doubles x until its first element is 100 or more, 50 times at most.
OnnxModel doubling_model() {
  OnnxModel body;
  body.node("d", "Add", {"s", "s"}, "twice").integers("zero", {0}).initializer("limit", {1}, {100});
  body.node("f", "Gather", {"twice", "zero"}, "first").node("l", "Less", {"first", "limit"}, "more");
  body.output("more").output("twice");
  for (const char* name : {"number", "before", "s"}) {
    onnx::ValueInfoProto& input = *body.proto.mutable_graph()->add_input();
    input.set_name(name);
  }
  OnnxModel model;
  model.input("x", {3}).integers("count", {}, {50}).node("n", "Loop", {"count", "", "x"}, "y");
  model.attribute("body", body).output("y");
  return model;
}

class LoopArtifactTest : public ArtifactTest {
 protected:
  LoadedArtifact open(const OnnxModel& onnx) {
    std::ofstream(folder("net.onnx"), std::ios::binary) << onnx.bytes();
    const auto network = load_network(folder("net.onnx"), {}, options_.target);
    EXPECT_TRUE(network.has_value()) << network.error().to_string();
    write(compile_network(*network, options_));
    auto artifact = LoadedArtifact::open(folder(), 2);
    EXPECT_TRUE(artifact.has_value()) << artifact.error().to_string();
    return std::move(*artifact);
  }

  nlohmann::json manifest() const {
    return nlohmann::json::parse(std::ifstream(folder() + "/manifest.json"));
  }
};

TEST_F(LoopArtifactTest, ARecurrentLayerRunsItsBodyForEachPlace) {
  const OnnxModel onnx = lstm_model();
  LoadedArtifact artifact = open(onnx);
  const Graph graph = import_onnx_bytes(onnx.bytes(), "net.onnx").value();
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const std::vector<float> x = random_floats(static_cast<size_t>(kPlaces * kWidth), seed);
    ASSERT_TRUE(artifact.set_input(0, array_of({kPlaces, 1, kWidth}, x), "x").has_value());
    ASSERT_TRUE(artifact.run().has_value());
    const auto expected =
        evaluate_graph(graph, std::vector<Values>{{{kPlaces, 1, kWidth}, {x.begin(), x.end()}}}).value();
    for (size_t i = 0; i < 2; ++i) {
      const std::vector<float> values = floats(artifact.output(i));
      ASSERT_EQ(values.size(), expected[i].data.size());
      for (size_t k = 0; k < values.size(); ++k) EXPECT_NEAR(values[k], expected[i].data[k], 1e-5);
    }
  }
  const auto loops = manifest()["loops"];
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0]["steps"], kPlaces);
  EXPECT_EQ(loops[0]["launch_count"], 3);  // the product, the cell, the state
  EXPECT_EQ(artifact.manifest().launches[loops[0]["first_launch"].get<size_t>()].runs, kPlaces);
  const auto told = artifact.run_timed(false);
  ASSERT_TRUE(told.has_value()) << told.error().to_string();
  for (const lathe_interval& launch : told->launches) EXPECT_GT(launch.end, launch.begin);
}

// The last state is copied to the output, wherever the run ends.
TEST_F(LoopArtifactTest, AConditionOfTheRunEndsALoop) {
  LoadedArtifact artifact = open(doubling_model());
  const auto run = [&](float first) {
    EXPECT_TRUE(artifact.set_input(0, array_of({3}, {first, 1, 2}), "x").has_value());
    EXPECT_TRUE(artifact.run().has_value());
    return floats(artifact.output(0));
  };
  EXPECT_EQ(run(3), (std::vector<float>{192, 64, 128}));
  EXPECT_EQ(run(60), (std::vector<float>{120, 2, 4}));
  EXPECT_EQ(run(200), (std::vector<float>{400, 2, 4}));
  EXPECT_TRUE(manifest()["loops"][0].contains("goes_on"));
}

}  // namespace
}  // namespace lathe
