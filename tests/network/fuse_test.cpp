#include "network/fuse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/onnx/import.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

Graph import(const OnnxModel& model) { return import_onnx_bytes(model.bytes(), "m.onnx").value(); }

// "conv+add+relu(x, r; w, b) -> y", a group after the other.
std::vector<std::string> describe(const Graph& graph) {
  std::vector<std::string> texts;
  const auto names = [&](const std::vector<TensorId>& ids) {
    std::vector<std::string> list;
    for (TensorId id : ids) list.push_back(graph.tensors[id].name);
    return fmt::format("{}", fmt::join(list, " "));
  };
  for (const FusedGroup& group : fuse(graph, plan_layouts(graph))) {
    std::vector<std::string> nodes;
    for (size_t n : group.nodes) nodes.push_back(graph.nodes[n].name);
    texts.push_back(fmt::format("{}({}; {}) -> {}", fmt::join(nodes, "+"), names(group.inputs),
                                names(group.constants), names(group.outputs)));
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Fuse, TakesElementwiseWorkIntoItsProducer) {
  EXPECT_EQ(describe(import(small_conv_model())), (Texts{"first+second(x; w b) -> y"}));
}

// A residual block: x -> conv1 -> relu -> conv2 -> add(x) -> relu.
TEST(Fuse, TakesAResidualAddIntoTheConvolution) {
  OnnxModel model;
  model.input("x", {1, 4, 5, 5}).initializer("w", {4, 4, 3, 3});
  model.node("c1", "Conv", {"x", "w"}, "a").attribute("pads", {1, 1, 1, 1}).node("r1", "Relu", {"a"}, "b");
  model.node("c2", "Conv", {"b", "w"}, "c")
      .attribute("pads", {1, 1, 1, 1})
      .node("add", "Add", {"c", "x"}, "d");
  model.node("r2", "Relu", {"d"}, "y").output("y");
  EXPECT_EQ(describe(import(model)), (Texts{"c1+r1(x; w) -> b", "c2+add+r2(b x; w) -> y"}));
}

TEST(Fuse, TheHeavierConvolutionTakesTheAdd) {
  OnnxModel model;
  model.input("x", {1, 4, 5, 5}).initializer("w", {4, 4, 3, 3}).initializer("p", {4, 4, 1, 1});
  model.node("big", "Conv", {"x", "w"}, "a")
      .attribute("pads", {1, 1, 1, 1})
      .node("small", "Conv", {"x", "p"}, "b");
  model.node("add", "Add", {"a", "b"}, "y").output("y");
  EXPECT_EQ(describe(import(model)), (Texts{"small(x; p) -> b", "big+add(x b; w) -> y"}));
}

TEST(Fuse, KeepsWhatOthersReadOutOfTheGroup) {
  OnnxModel model = small_conv_model();
  model.node("third", "Add", {"t", "y"}, "z").output("z");
  EXPECT_EQ(describe(import(model)), (Texts{"first(x; w b) -> t", "second(t; ) -> y", "third(t y; ) -> z"}));
  OnnxModel shown = small_conv_model();
  shown.output("t");
  EXPECT_EQ(describe(import(shown)), (Texts{"first(x; w b) -> t", "second(t; ) -> y"}));
}

// Sixty doublings: one expression of all would hold the first operand 2^60 times.
TEST(Fuse, OperandsThatAreReadTwiceAreTakenInWhileTheExpressionIsSmall) {
  OnnxModel model;
  model.input("a0", {3});
  for (int i = 0; i < 60; ++i) {
    const std::string before = fmt::format("a{}", i);
    model.node(fmt::format("n{}", i), "Add", {before, before}, fmt::format("a{}", i + 1));
  }
  model.output("a60");
  const Graph graph = import(model);
  const Texts texts = describe(graph);
  ASSERT_EQ(texts.size(), 10u);
  EXPECT_EQ(texts[1], "n6+n7+n8+n9+n10+n11(a6; ) -> a12");
}

// GELU as exporters write it: x / sqrt(2), erf, + 1, times x, times 0.5; behind it x * sigmoid(x).
TEST(Fuse, TakesInWhatReadsATensorTwice) {
  OnnxModel model;
  model.input("x", {4, 4}).initializer("w", {4, 4}).initializer("c", {}, {1});
  model.node("m", "MatMul", {"x", "w"}, "a")
      .node("div", "Div", {"a", "c"}, "b")
      .node("erf", "Erf", {"b"}, "e");
  model.node("add", "Add", {"e", "c"}, "f")
      .node("mul", "Mul", {"a", "f"}, "g")
      .node("half", "Mul", {"g", "c"}, "h");
  model.node("s", "Sigmoid", {"h"}, "t").node("silu", "Mul", {"h", "t"}, "y").output("y");
  EXPECT_EQ(describe(import(model)), (Texts{"m+div+erf+add+mul+half+s+silu(x; w c) -> y"}));
}

// The sigmoid reads the convolution's result, and so does another convolution.
TEST(Fuse, WhatReadsATensorTwiceStaysOutWhereAnotherReadsItToo) {
  OnnxModel model;
  model.input("x", {1, 4, 3, 3}).initializer("w", {4, 4, 1, 1}).node("c", "Conv", {"x", "w"}, "a");
  model.node("s", "Sigmoid", {"a"}, "t").node("m", "Mul", {"a", "t"}, "u");
  model.node("d", "Conv", {"a", "w"}, "b").node("n", "Add", {"u", "b"}, "y").output("y");
  EXPECT_EQ(describe(import(model)), (Texts{"c(x; w) -> a", "s+m+d+n(a; w) -> y"}));
}

// A sum whose terms begin from several tensors is one kernel where nothing else reads the terms.
TEST(Fuse, TakesInElementwiseOperandsThatNobodyElseReads) {
  OnnxModel model;
  model.input("a", {4}).input("b", {4}).node("s", "Sigmoid", {"a"}, "t").node("u", "Tanh", {"b"}, "v");
  model.node("m", "Mul", {"t", "v"}, "y").output("y");
  EXPECT_EQ(describe(import(model)), (Texts{"s+u+m(a b; ) -> y"}));
  model.output("v");
  EXPECT_EQ(describe(import(model)), (Texts{"u(b; ) -> v", "s+m(a v; ) -> y"}));
}

// The gates of a product: read where they lie.
TEST(Fuse, SlicesThatElementwiseNodesReadAreNoKernels) {
  OnnxModel model;
  model.input("x", {2, 4}).initializer("w", {4, 6}).node("p", "MatMul", {"x", "w"}, "a");
  model.integers("zero", {0}).integers("three", {3}).integers("six", {6}).integers("axis", {1});
  model.node("l", "Slice", {"a", "zero", "three", "axis"}, "left");
  model.node("r", "Slice", {"a", "three", "six", "axis"}, "right");
  model.node("s", "Sigmoid", {"left"}, "t").node("m", "Mul", {"t", "right"}, "y").output("y");
  EXPECT_EQ(describe(import(model)), (Texts{"p(x; w) -> a", "l+r+s+m(a; ) -> y"}));
}

// a -> s -> m(a, s), where s is an output of the model, or wider than a.
TEST(Fuse, WhatIsSeenOrEnlargedOnTheWayStaysOut) {
  OnnxModel seen;
  seen.input("x", {4, 4}).initializer("w", {4, 4}).node("g", "MatMul", {"x", "w"}, "a");
  seen.node("s", "Sigmoid", {"a"}, "t").node("m", "Mul", {"a", "t"}, "y").output("t").output("y");
  EXPECT_EQ(describe(import(seen)), (Texts{"g(x; w) -> a", "s(a; ) -> t", "m(a t; ) -> y"}));
  OnnxModel wider;
  wider.input("x", {4, 4})
      .input("big", {3, 4, 4})
      .initializer("w", {4, 4})
      .node("g", "MatMul", {"x", "w"}, "a");
  wider.node("s", "Add", {"a", "big"}, "t").node("m", "Mul", {"a", "t"}, "y").output("y");
  EXPECT_EQ(describe(import(wider)), (Texts{"g(x; w) -> a", "s+m(a big; ) -> y"}));
}

// A leaky rectifier's expression holds its operand three times.
TEST(Fuse, AChainIsCutBeforeItsExpressionExplodes) {
  OnnxModel model;
  model.input("a0", {1, 4}).initializer("w", {4, 4}).node("g", "Gemm", {"a0", "w"}, "b0");
  for (int i = 0; i < 20; ++i)
    model.node(fmt::format("l{}", i), "LeakyRelu", {fmt::format("b{}", i)}, fmt::format("b{}", i + 1));
  model.output("b20");
  const Texts texts = describe(import(model));
  EXPECT_EQ(texts[0], "g+l0+l1+l2(a0; w) -> b3");
  EXPECT_EQ(texts[1], "l3+l4+l5(b3; ) -> b6");  // its first node reads a tensor three times already
  EXPECT_EQ(texts.size(), 7U);
}

TEST(Fuse, AChainOfThousandsIsCut) {
  OnnxModel model;
  model.input("a0", {1, 4});
  for (int i = 0; i < 3000; ++i)
    model.node(fmt::format("n{}", i), "Neg", {fmt::format("a{}", i)}, fmt::format("a{}", i + 1));
  model.output("a3000");
  const Graph graph = import(model);
  for (const FusedGroup& group : fuse(graph, plan_layouts(graph))) EXPECT_LE(group.nodes.size(), 32U);
}

TEST(Fuse, KeepsOutANodeThatDoesNotReadItsOperand) {
  OnnxModel model;
  model.input("x", {1, 4}).initializer("w", {4, 4}).initializer("zero", {}, {0});
  model.node("g", "Gemm", {"x", "w"}, "a").node("p", "Pow", {"a", "zero"}, "b");
  model.node("e", "Exp", {"b"}, "c").node("l", "LeakyRelu", {"c"}, "y").output("y");
  EXPECT_EQ(describe(import(model)), (Texts{"g(x; w) -> a", "p+e+l(a; ) -> y"}));
}

TEST(Fuse, DoesNotEnlargeAProducer) {
  OnnxModel model;
  model.input("x", {1, 4}).input("big", {3, 4}).initializer("w", {4, 4}).node("g", "Gemm", {"x", "w"}, "t");
  model.node("a", "Add", {"big", "t"}, "u").node("r", "Relu", {"u"}, "y").output("y");
  EXPECT_EQ(describe(import(model)), (Texts{"g(x; w) -> t", "a+r(big t; ) -> y"}));
}

TEST(Fuse, ViewsLieInTheirOperandsStorage) {
  OnnxModel model = small_conv_model();
  model.initializer("m", {100, 3}).node("f", "Flatten", {"y"}, "flat").node("g", "Gemm", {"flat", "m"}, "z");
  model.proto.mutable_graph()->mutable_output(0)->set_name("z");
  const Graph graph = import(model);
  EXPECT_EQ(describe(graph), (Texts{"first+second(x; w b) -> y", "g(flat; m) -> z"}));
  const std::vector<TensorId> storage = plan_layouts(graph).storage;
  for (const GraphNode& node : graph.nodes) {
    EXPECT_EQ(storage[node.output], node.name == "f" ? graph.nodes[1].output : node.output);
  }
}

TEST(Fuse, AViewThatGivesAnOutputLiesInItUnlessThatIsTaken) {
  OnnxModel model = small_conv_model();
  model.node("f", "Flatten", {"y"}, "flat").output("flat");  // y is an output itself: flat is a copy
  model.node("v", "Flatten", {"x"}, "input").output("input");
  EXPECT_EQ(describe(import(model)),
            (Texts{"first+second(x; w b) -> y", "f(y; ) -> flat", "v(x; ) -> input"}));
  model.proto.mutable_graph()->mutable_output()->DeleteSubrange(0, 1);
  EXPECT_EQ(describe(import(model)), (Texts{"first+second(x; w b) -> y", "v(x; ) -> input"}));
}

// Random graphs of convolutions, adds, activations and views: every node is in one group at most, a group
// reads only what the groups before it gave, and what a group does not give is read inside it alone.
Graph random_graph(Rng& rng) {
  GraphBuilder builder("random");
  std::vector<TensorId> images{*builder.input("x", {DType::f32, {1, 4, 3, 3}})};
  const TensorId weight =
      *builder.constant("w", {DType::f32, {4, 4, 1, 1}}, to_bytes(DType::f32, std::vector<double>(16, 0.25)));
  const ConvOp conv{{{1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, 1};
  for (int n = 0; n < 25; ++n) {
    const TensorId a = images[images.size() - 1 - rng.below(std::min<size_t>(images.size(), 4))];
    const TensorId b = images[rng.below(images.size())];
    const std::string name = fmt::format("n{}", n);
    switch (rng.below(5)) {
      case 0: images.push_back(*builder.node(name, conv, {a, weight}, name)); break;
      case 1: images.push_back(*builder.node(name, ZipOp{ZipFunction::add}, {a, b}, name)); break;
      case 2: images.push_back(*builder.node(name, IdentityOp{}, {a}, name)); break;
      case 3: images.push_back(*builder.node(name, ZipOp{ZipFunction::mul}, {a, a}, name)); break;
      default: images.push_back(*builder.node(name, MapOp{MapFunction::relu}, {a}, name)); break;
    }
    if (rng.chance(0.1)) {
      EXPECT_TRUE(builder.output(images.back()));
    }
  }
  return builder.build();
}

TEST(Fuse, GroupsOfRandomGraphsAreWhole) {
  Rng rng(9);
  for (int round = 0; round < 200; ++round) {
    const Graph graph = random_graph(rng);
    const std::vector<TensorId> storage = plan_layouts(graph).storage;
    std::vector<bool> there(graph.tensors.size(), false);
    for (TensorId id : graph.inputs) there[id] = true;
    size_t grouped = 0;
    for (const FusedGroup& group : fuse(graph, plan_layouts(graph))) {
      for (TensorId id : group.inputs) EXPECT_TRUE(there[storage[id]]) << to_string(graph);
      ASSERT_EQ(group.outputs.size(), 1U);
      there[group.outputs[0]] = true;
      grouped += group.nodes.size();
      for (size_t n : group.nodes) {
        const TensorId given = graph.nodes[n].output;
        if (given == group.outputs[0]) continue;
        EXPECT_FALSE(is_output(graph, given));
        const std::vector<size_t> readers = consumers_of(graph)[given];
        for (size_t reader : readers) {
          EXPECT_TRUE(std::count(group.nodes.begin(), group.nodes.end(), reader)) << to_string(graph);
        }
      }
    }
    for (TensorId id : graph.outputs) EXPECT_TRUE(there[storage[id]]);
    const auto has_storage = [&](const GraphNode& node) { return storage[node.output] == node.output; };
    EXPECT_EQ(grouped,
              static_cast<size_t>(std::count_if(graph.nodes.begin(), graph.nodes.end(), has_storage)));
  }
}

}  // namespace
}  // namespace lathe
