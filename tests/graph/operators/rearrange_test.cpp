// Tile, DepthToSpace, SpaceToDepth and Trilu: the reference against indices computed by hand, and the network
// against the reference.
#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "network/fuse.h"

namespace lathe {
namespace {

TEST(Tile, RepeatsTheWholeOperandAlongEachAxis) {
  OnnxModel model = node_model({2, 2}, "Tile", {"x", "repeats"}).integers("repeats", {2, 3});
  const Values y = run_network(model, {numbered({2, 2})});
  EXPECT_EQ(y.shape, (Shape{4, 6}));
  EXPECT_EQ(y.data, (std::vector<double>{1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4,  //
                                         1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4}));
}

// A model may repeat integers to compute a shape.
TEST(Tile, TakesConstantsOfIntegers) {
  OnnxModel model;
  model.input("x", {6}).integers("two", {2}).integers("repeats", {2}).integers("one", {1});
  model.node("t", "Tile", {"two", "repeats"}, "s").node("v", "Concat", {"s", "one"}, "shape");
  model.attribute("axis", 0).node("n", "Reshape", {"x", "shape"}, "y").output("y");
  EXPECT_EQ(import_error(model), "node 'n' (Reshape): the shape [2,2,1] does not hold the 6 elements of [6]");
}

TEST(Tile, NamesWhatItCannotTake) {
  OnnxModel few = node_model({2, 2}, "Tile", {"x", "repeats"}).integers("repeats", {2});
  EXPECT_EQ(import_error(few), "node 'n' (Tile): it has 1 repeats for the 2 axes of [2,2]");
  OnnxModel none = node_model({2}, "Tile", {"x", "repeats"}).integers("repeats", {0});
  EXPECT_EQ(import_error(none), "node 'n' (Tile): repeats [0] has an entry that is not within 1 .. 1048576");
}

// x [1, 8, 1, 2] to [1, 2, 2, 4], of which the elements are known by their channel and column.
std::vector<double> spread(bool places_first) {
  std::vector<double> expected;
  for (int c = 0; c < 2; ++c) {
    for (int y = 0; y < 2; ++y) {
      for (int x = 0; x < 4; ++x) {
        const int place = y * 2 + x % 2;
        const int channel = places_first ? place * 2 + c : c * 4 + place;
        const int column = x / 2;
        expected.push_back(channel * 2 + column + 1);
      }
    }
  }
  return expected;
}

TEST(DepthToSpace, TakesChannelsAsBlocks) {
  const Values x = numbered({1, 8, 1, 2});
  OnnxModel model = node_model(x.shape, "DepthToSpace").attribute("blocksize", 2);
  EXPECT_EQ(run_network(model, {x}).shape, (Shape{1, 2, 2, 4}));
  EXPECT_EQ(run_network(model, {x}).data, spread(true));
  EXPECT_EQ(run_network(model.attribute("mode", "CRD"), {x}).data, spread(false));
}

TEST(SpaceToDepth, TakesBlocksAsChannels) {
  OnnxModel there_and_back = node_model({1, 8, 1, 2}, "DepthToSpace").attribute("blocksize", 2);
  there_and_back.node("m", "SpaceToDepth", {"y"}, "z").attribute("blocksize", 2).output("z");
  const Values x = numbered({1, 8, 1, 2});
  EXPECT_EQ(run_network(there_and_back, {x}, 1).data, x.data);
  OnnxModel model = node_model({1, 1, 2, 4}, "SpaceToDepth").attribute("blocksize", 2);
  const Values y = run_network(model, {numbered({1, 1, 2, 4})});
  EXPECT_EQ(y.shape, (Shape{1, 4, 1, 2}));
  EXPECT_EQ(y.data, (std::vector<double>{1, 3, 2, 4, 5, 7, 6, 8}));
}

// Of two channels the four places of the first, then those of the second, or both of each place.
TEST(SpaceToDepth, ItsModeSaysWhatANumberBeginsWith) {
  OnnxModel model = node_model({1, 2, 2, 2}, "SpaceToDepth").attribute("blocksize", 2);
  model.operator_set(28).attribute("mode", "CRD");
  const Values x = numbered({1, 2, 2, 2});
  EXPECT_EQ(run_network(model, {x}).data, (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}));
  OnnxModel places = node_model({1, 2, 2, 2}, "SpaceToDepth").attribute("blocksize", 2);
  places.attribute("mode", "DCR");
  EXPECT_EQ(run_network(places, {x}).data, (std::vector<double>{1, 5, 2, 6, 3, 7, 4, 8}));
  OnnxModel wrong = node_model({1, 2, 2, 2}, "SpaceToDepth").attribute("blocksize", 2);
  EXPECT_EQ(import_error(wrong.attribute("mode", "rows")),
            "node 'n' (SpaceToDepth): attribute 'mode' is 'rows', and Lathe supports DCR and CRD");
}

TEST(DepthToSpace, NamesWhatItCannotTake) {
  EXPECT_EQ(import_error(node_model({1, 6, 2, 2}, "DepthToSpace").attribute("blocksize", 2)),
            "node 'n' (DepthToSpace): the 6 channels of [1,6,2,2] are no whole blocks of 2 by 2");
  EXPECT_EQ(import_error(node_model({1, 4, 2}, "DepthToSpace").attribute("blocksize", 2)),
            "node 'n' (DepthToSpace): [1,4,2] is not [N, C, H, W]");
  EXPECT_EQ(import_error(node_model({1, 4, 2, 2}, "DepthToSpace")),
            "node 'n' (DepthToSpace): it lacks the attribute 'blocksize'");
  EXPECT_EQ(import_error(node_model({1, 4, 2, 2}, "DepthToSpace").attribute("blocksize", 0)),
            "node 'n' (DepthToSpace): its block size is 0, and must be within 1 .. 32768");
  OnnxModel mode = node_model({1, 4, 2, 2}, "DepthToSpace").attribute("blocksize", 2);
  EXPECT_EQ(import_error(mode.attribute("mode", "RCD")),
            "node 'n' (DepthToSpace): attribute 'mode' is 'RCD', and Lathe supports DCR and CRD");
  EXPECT_EQ(import_error(node_model({1, 4, 2, 3}, "SpaceToDepth").attribute("blocksize", 2)),
            "node 'n' (SpaceToDepth): the places of [1,4,2,3] are no whole blocks of 2 by 2");
}

TEST(Trilu, KeepsOneTriangleOfEachMatrix) {
  const Values x = numbered({2, 2, 3});
  EXPECT_EQ(run_network(node_model(x.shape, "Trilu"), {x}).data,
            (std::vector<double>{1, 2, 3, 0, 5, 6, 7, 8, 9, 0, 11, 12}));
  EXPECT_EQ(run_network(node_model(x.shape, "Trilu").attribute("upper", 0), {x}).data,
            (std::vector<double>{1, 0, 0, 4, 5, 0, 7, 0, 0, 10, 11, 0}));
  OnnxModel above = node_model(x.shape, "Trilu", {"x", "k"}).integers("k", {}, {1});
  EXPECT_EQ(run_network(above, {x}).data, (std::vector<double>{0, 2, 3, 0, 0, 6, 0, 8, 9, 0, 0, 12}));
  OnnxModel far = node_model(x.shape, "Trilu", {"x", "k"}).integers("k", {}, {int64_t{1} << 50});
  EXPECT_EQ(run_network(far, {x}).data, std::vector<double>(12, 0));
  EXPECT_EQ(import_error(node_model({3}, "Trilu")), "node 'n' (Trilu): [3] is no matrix");
}

// The mask joins the work on elements in front of it.
TEST(Trilu, JoinsWhatIsInFront) {
  OnnxModel model = node_model({2, 2}, "Neg");
  model.node("m", "Trilu", {"y"}, "z")
      .output("z")
      .proto.mutable_graph()
      ->mutable_output()
      ->DeleteSubrange(0, 1);
  const Graph graph = import_onnx_bytes(model.bytes(), "m.onnx").value();
  EXPECT_EQ(fuse(graph, plan_layouts(graph)).size(), 1U);
  EXPECT_EQ(run_network(model, {numbered({2, 2})}).data, (std::vector<double>{-1, -2, 0, -4}));
}

}  // namespace
}  // namespace lathe
