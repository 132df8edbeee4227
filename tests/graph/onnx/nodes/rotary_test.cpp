#include "graph/onnx/nodes/rotary.h"

#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

Values cosines() { return {{1, 2, 1}, {1, 0}}; }
Values sines() { return {{1, 2, 1}, {0, 1}}; }

// Two places, the second of which is turned by a quarter.
TEST(OnnxRotary, TurnsPairsByTheAnglesOfTheirPlaces) {
  OnnxModel model;
  model.operator_set(23).input("x", {1, 1, 2, 3}).input("c", {1, 2, 1}).input("s", {1, 2, 1});
  model.node("n", "RotaryEmbedding", {"x", "c", "s"}, "y").attribute("rotary_embedding_dim", 2).output("y");
  const Values x{{1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}};
  EXPECT_EQ(run_network(model, {x, cosines(), sines()}).data, (std::vector<double>{1, 2, 3, -5, 4, 6}));
}

TEST(OnnxRotary, LooksUpAnglesAndTakesPairsSideBySide) {
  OnnxModel model;
  model.operator_set(23).input("x", {1, 1, 8}).input("c", {2, 2}).input("s", {2, 2});
  model.input("p", {1, 1}, onnx::TensorProto_DataType_INT64);
  model.node("n", "RotaryEmbedding", {"x", "c", "s", "p"}, "y").attribute("num_heads", 2).output("y");
  const Values x{{1, 1, 8}, {1, 2, 3, 4, 5, 6, 7, 8}}, cosines{{2, 2}, {0, 0, 1, 0}},
      sines{{2, 2}, {0, 0, 0, 1}};
  const Values second{{1, 1}, {1}};
  EXPECT_EQ(run_network(model, {x, cosines, sines, second}).data,
            (std::vector<double>{1, -4, 3, 2, 5, -8, 7, 6}));
  EXPECT_EQ(run_network(model.attribute("interleaved", 1), {x, cosines, sines, second}).data,
            (std::vector<double>{1, 2, -4, 3, 5, 6, -8, 7}));
}

// Places follow each other from the first one on, or are given one by one; two heads by the width of the
// cosines.
TEST(OnnxRotary, TheRuntimesOwnLooksUpItsPlaces) {
  const auto turned = [](const Shape& places, const std::vector<double>& numbers) {
    OnnxModel model;
    model.input("x", {1, 2, 4}).input("p", places, onnx::TensorProto_DataType_INT64);
    model.initializer("c", {3, 1}, {1, 0, -1}).initializer("s", {3, 1}, {0, 1, 0});
    model.runtime_node("n", "RotaryEmbedding", {"x", "p", "c", "s"}, "y").output("y");
    return run_network(model, {numbered({1, 2, 4}), {places, numbers, DType::i64}}).data;
  };
  EXPECT_EQ(turned({1}, {1}), (std::vector<double>{-2, 1, -4, 3, -5, -6, -7, -8}));
  EXPECT_EQ(turned({1, 2}, {2, 0}), (std::vector<double>{-1, -2, -3, -4, 5, 6, 7, 8}));
}

TEST(OnnxRotary, NamesWhatItCannotTake) {
  OnnxModel model;
  model.operator_set(23).input("x", {1, 1, 2, 3}).input("c", {1, 2, 1}).input("s", {1, 2, 1});
  model.node("n", "RotaryEmbedding", {"x", "c", "s"}, "y").output("y");
  EXPECT_EQ(import_error(model),
            "node 'n' (RotaryEmbedding): it turns 3 of the 3 elements of a head, which are not pairs");
  OnnxModel own;
  own.input("x", {1, 2, 4}).input("p", {3}, onnx::TensorProto_DataType_INT64).input("c", {3, 2});
  own.runtime_node("n", "RotaryEmbedding", {"x", "p", "c", "c"}, "y").output("y");
  EXPECT_EQ(import_error(own),
            "node 'n' (RotaryEmbedding): its data [1,2,4], places [3] and cosines [3,2] do not fit together");
}

}  // namespace
}  // namespace lathe
