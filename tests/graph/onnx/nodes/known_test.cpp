// What is known when a model is read: Range and Mod of constants, windows, matrices.
#include "graph/onnx/nodes/known.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

// x + range(..), of f32.
OnnxModel range_model(int64_t places, float start, float limit, float step) {
  OnnxModel model;
  model.input("x", {places}).initializer("a", {}, {start}).initializer("b", {}, {limit});
  model.initializer("c", {}, {step})
      .node("n", "Range", {"a", "b", "c"}, "r")
      .node("m", "Add", {"x", "r"}, "y");
  return std::move(model.output("y"));
}

TEST(Range, CountsUpToItsLimit) {
  const auto added = [](const OnnxModel& model, int64_t places) {
    return run_network(model, {{{places}, std::vector<double>(static_cast<size_t>(places), 0)}}).data;
  };
  EXPECT_EQ(added(range_model(3, 1, 7, 2), 3), (std::vector<double>{1, 3, 5}));
  EXPECT_EQ(added(range_model(4, 1, 7.5F, 2), 4), (std::vector<double>{1, 3, 5, 7}));
  EXPECT_EQ(added(range_model(2, 10, 4, -4), 2), (std::vector<double>{10, 6}));
  OnnxModel integers;
  integers.input("x", {3}).integers("a", {}, {2}).integers("b", {}, {-1}).integers("c", {}, {-1});
  integers.node("n", "Range", {"a", "b", "c"}, "r").node("m", "Gather", {"x", "r"}, "y").output("y");
  EXPECT_EQ(run_network(integers, {numbered({3})}).data, (std::vector<double>{3, 2, 1}));
}

TEST(Range, NamesWhatItCannotTake) {
  EXPECT_EQ(import_error(range_model(1, 1, 7, 0)),
            "node 'n' (Range): 1 to 7 by 0 is no range that Lathe supports");
  EXPECT_EQ(import_error(range_model(1, 7, 1, 1)),
            "output 'y' has shape [0], which has no elements, and there is no other to compute");
  EXPECT_EQ(import_error(range_model(1, 0, 1e30F, 1)),
            "node 'n' (Range): 0 to 1.0000000150474662e+30 by 1 is no range that Lathe supports");
  OnnxModel mixed = range_model(1, 1, 2, 1).integers("i", {}, {1});
  mixed.proto.mutable_graph()->mutable_node(0)->set_input(2, "i");
  EXPECT_EQ(import_error(mixed),
            "node 'n' (Range): input 2 is i64[] and input 0 f32[], and must be of one type");
  EXPECT_EQ(import_error(node_model({}, "Range", {"x", "x", "x"})),
            "node 'n' (Range): input 0, 'x', is an input of the model, and Lathe supports a constant there");
}

// x + window(size), of x all 0.
std::vector<double> window_of(const char* type, int64_t size, int64_t periodic) {
  OnnxModel model;
  model.input("x", {size})
      .integers("n", {}, {size})
      .node("w", type, {"n"}, "w")
      .attribute("periodic", periodic);
  model.node("m", "Add", {"x", "w"}, "y").output("y");
  return run_network(model, {{{size}, std::vector<double>(static_cast<size_t>(size), 0)}}).data;
}

TEST(Windows, AreSumsOfCosines) {
  const auto near = [](const std::vector<double>& values) {
    return ::testing::Pointwise(::testing::DoubleNear(1e-7), values);
  };
  EXPECT_THAT(window_of("HannWindow", 4, 1), near({0, 0.5, 1, 0.5}));
  EXPECT_THAT(window_of("HannWindow", 5, 0), near({0, 0.5, 1, 0.5, 0}));
  EXPECT_THAT(window_of("HannWindow", 1, 0), near({0}));
  EXPECT_THAT(window_of("HammingWindow", 4, 1), near({4.0 / 46, 25.0 / 46, 1, 25.0 / 46}));
  EXPECT_THAT(window_of("BlackmanWindow", 4, 1), near({0, 0.34, 1, 0.34}));
  OnnxModel none;
  none.input("x", {1}).integers("n", {}, {0}).node("w", "HannWindow", {"n"}, "w");
  none.node("m", "Add", {"x", "w"}, "y").output("y");
  EXPECT_EQ(import_error(none), "node 'w' (HannWindow): its size is not one number that Lathe supports");
}

TEST(EyeLike, HasOnesOnADiagonal) {
  const auto eye = [](int64_t k) {
    OnnxModel model;
    model.input("x", {2, 3}).node("n", "EyeLike", {"x"}, "e").attribute("k", k);
    model.node("m", "Sub", {"x", "e"}, "y").output("y");
    return run_network(model, {{{2, 3}, std::vector<double>(6, 1)}}).data;
  };
  EXPECT_EQ(eye(0), (std::vector<double>{0, 1, 1, 1, 0, 1}));
  EXPECT_EQ(eye(1), (std::vector<double>{1, 0, 1, 1, 1, 0}));
  EXPECT_EQ(eye(-1), (std::vector<double>{1, 1, 1, 0, 1, 1}));
  EXPECT_EQ(eye(7), (std::vector<double>(6, 1)));
  EXPECT_EQ(import_error(node_model({2}, "EyeLike", {"x"})),
            "node 'n' (EyeLike): its operand [2] is no matrix, or one that is too large");
}

// The places of x [7] that a remainder of integers gives.
std::vector<double> integer_remainders(int64_t fmod) {
  OnnxModel model;
  model.input("x", {7}).integers("a", {5, -5, 5, -5, 6}).integers("b", {3, 3, -3, -3, 3});
  model.node("n", "Mod", {"a", "b"}, "r").attribute("fmod", fmod).node("g", "Gather", {"t", "r"}, "u");
  model.initializer("t", {7}, {0, 1, 2, 3, 4, -2, -1}).node("m", "Mul", {"u", "one"}, "v");
  model.initializer("one", {1}, {1}).node("s", "ReduceSum", {"x"}, "w").node("z", "Add", {"v", "w"}, "y");
  return run_network(model.output("y"), {{{7}, std::vector<double>(7, 0)}}).data;
}

TEST(Mod, HasTheSignOfTheDivisorOrOfTheDividend) {
  EXPECT_EQ(integer_remainders(0), (std::vector<double>{2, 1, -1, -2, 0}));
  EXPECT_EQ(integer_remainders(1), (std::vector<double>{2, -2, 2, -2, 0}));
  OnnxModel reals;
  reals.input("x", {2, 2}).initializer("a", {2, 1}, {5.5F, -5.5F}).initializer("b", {2}, {2, -4});
  reals.node("n", "Mod", {"a", "b"}, "r").attribute("fmod", 1).node("m", "Mul", {"x", "r"}, "y").output("y");
  EXPECT_EQ(run_network(reals, {{{2, 2}, {1, 1, 1, 1}}}).data, (std::vector<double>{1.5, 1.5, -1.5, -1.5}));
}

TEST(Mod, OfConstantsOfAnyTypeIsWhatARunGives) {
  OnnxModel model;
  constexpr int64_t kU8 = onnx::TensorProto_DataType_UINT8;
  model.integers("a", {3}, {7, 200, 9}).integers("b", {3}, {3, 7, 0});
  model.node("c", "Cast", {"a"}, "u").attribute("to", kU8).node("d", "Cast", {"b"}, "v").attribute("to", kU8);
  model.node("m", "Mod", {"u", "v"}, "r").node("f", "Cast", {"r"}, "s").attribute("to", int64_t{1});
  model.input("x", {3}).node("s", "Add", {"s", "x"}, "y").output("y");
  EXPECT_EQ(run_network(model, {{{3}, {0, 0, 0}}}).data, (std::vector<double>{1, 4, 9}));
}

TEST(Mod, OfRealNumbersThatTheNetworkComputes) {
  for (const int type : {onnx::TensorProto_DataType_FLOAT, onnx::TensorProto_DataType_DOUBLE}) {
    const auto remainders = [&](int64_t fmod) {
      OnnxModel model;
      model.input("a", {5}, type).input("b", {5}, type).node("n", "Mod", {"a", "b"}, "y");
      model.attribute("fmod", fmod).output("y");
      const std::vector<Values> operands = {{{5}, {5.5, -5.5, -4, 0x1p99, 3}}, {{5}, {2, 2, 2, 3, INFINITY}}};
      const std::vector<double> run = run_compiled(model, operands);
      EXPECT_EQ(run_network(model, operands).data, run);
      return run;
    };
    EXPECT_EQ(remainders(1), (std::vector<double>{1.5, -1.5, -0.0, 2, 3}));
    EXPECT_EQ(remainders(0), (std::vector<double>{1.5, 0.5, 0, 2, 3}));
  }
}

OnnxModel mel_model(int64_t bands, int64_t length, float least, float most) {
  OnnxModel model;
  model.input("x", {length / 2 + 1, bands}).integers("n", {}, {bands}).integers("l", {}, {length});
  model.integers("r", {}, {16}).initializer("a", {}, {least}).initializer("b", {}, {most});
  model.node("w", "MelWeightMatrix", {"n", "l", "r", "a", "b"}, "w").node("m", "Mul", {"x", "w"}, "y");
  return std::move(model.output("y"));
}

// Below some hundred hertz places that lie evenly on the mel scale lie evenly: here at 0, 2, 4 and 6.
TEST(MelWeightMatrix, IsTrianglesThatOverlap) {
  const Values ones{{9, 2}, std::vector<double>(18, 1)};
  const Values y = run_network(mel_model(2, 16, 0, 8), {ones});
  EXPECT_EQ(y.data, (std::vector<double>{0, 0, 0.5, 0, 1, 0, 0.5, 0.5, 0, 1, 0, 0.5, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(import_error(mel_model(2, 16, 0, 9)),
            "node 'w' (MelWeightMatrix): its bands do not lie within half of the sample rate");
}

}  // namespace
}  // namespace lathe
