#include "network/plan_layouts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

ConvOp pointwise() { return {{{1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, 1}; }

TensorId add_ones(GraphBuilder& builder, const char* name, const Shape& shape) {
  const std::vector<double> values(static_cast<size_t>(elements_of(shape)), 1);
  return *builder.constant(name, {DType::f32, shape}, to_bytes(DType::f32, values));
}

// A graph under construction: every operation gives the result's number.
struct Network {
  GraphBuilder builder{"g"};
  TensorId weight = add_ones(builder, "w", {6, 6, 1, 1});
  TensorId matrix = add_ones(builder, "matrix", {6, 6});

  TensorId input(const Shape& shape) { return *builder.input("x", {DType::f32, shape}); }
  TensorId node(const char* name, GraphOp op, std::vector<TensorId> inputs) {
    const Result<TensorId> result = builder.node(name, std::move(op), std::move(inputs), name);
    if (!result) throw std::runtime_error(result.error().to_string());
    return *result;
  }
  TensorId conv(const char* name, TensorId x) { return node(name, pointwise(), {x, weight}); }
  TensorId matmul(const char* name, TensorId x) { return node(name, MatMulOp{}, {x, matrix}); }
  TensorId transpose(const char* name, std::vector<size_t> order, TensorId x) {
    return node(name, TransposeOp{std::move(order)}, {x});
  }
  Graph give(TensorId output) {
    EXPECT_TRUE(builder.output(output));
    return builder.build();
  }
};

// "a [0][2][3][1] in x", a line a tensor that a node gives; "in" where it is another's storage.
std::string described(const Graph& graph) {
  const LayoutPlan plan = plan_layouts(graph);
  std::string text;
  for (const GraphNode& node : graph.nodes) {
    const TensorId id = node.output;
    text += fmt::format("{} {}", graph.tensors[id].name, to_string(plan.layouts[id]));
    if (plan.is_free(node)) text += " in " + graph.tensors[plan.storage[id]].name;
    text += "\n";
  }
  return text;
}

TEST(PlanLayouts, ImagesHaveTheirChannelsInnermostAndMatricesTheirRows) {
  Network n;
  const TensorId c = n.conv("c", n.input({1, 6, 4, 4}));
  const TensorId r = n.node("r", MapOp{MapFunction::relu}, {c});
  EXPECT_EQ(described(n.give(n.conv("y", r))), "c [0][2][3][1]\nr [0][2][3][1]\ny [0][1][2][3]\n");
  Network p;
  const TensorId m = p.matmul("a", p.input({1, 5, 4, 6}));
  const TensorId s = p.node("s", MapOp{MapFunction::relu}, {m});
  EXPECT_EQ(described(p.give(p.matmul("y", s))), "a [0][1][2][3]\ns [0][1][2][3]\ny [0][1][2][3]\n");
}

// Neither a mean over the image nor a border of its own asks for rows that lie side by side.
TEST(PlanLayouts, ReductionsAndPaddingsTakeAnyLayout) {
  Network n;
  const TensorId c = n.conv("c", n.input({1, 6, 4, 4}));
  const TensorId s = n.node("s", MapOp{MapFunction::sigmoid}, {c});
  ReduceOp mean;
  mean.function = ReduceFunction::mean;
  mean.axes = {2, 3};
  const TensorId m = n.node("m", mean, {s});
  const TensorId p =
      n.node("p", PadOp{{0, 0, 1, 1}, {0, 0, 1, 1}}, {n.node("t", ZipOp{ZipFunction::mul}, {s, m})});
  EXPECT_EQ(
      described(n.give(n.conv("y", p))),
      "c [0][2][3][1]\ns [0][2][3][1]\nm [0][1][2][3]\nt [0][2][3][1]\np [0][2][3][1]\ny [0][1][2][3]\n");
}

// Convolution, then a product over the channels, then back: as ConvNeXt's blocks are exported.
TEST(PlanLayouts, ATransposeToChannelsLastCostsNothing) {
  Network n;
  const TensorId c = n.conv("c", n.input({1, 6, 4, 5}));
  const TensorId m = n.matmul("m", n.transpose("t", {0, 2, 3, 1}, c));
  const TensorId u = n.transpose("u", {0, 3, 1, 2}, m);
  const Graph graph = n.give(n.conv("y", u));
  EXPECT_EQ(described(graph),
            "c [0][2][3][1]\nt [0][1][2][3] in c\nm [0][1][2][3]\nu [0][2][3][1] in m\ny [0][1][2][3]\n");
}

// Queries as [tokens, heads, width] of a product's row-major result; keys need their tokens innermost.
TEST(PlanLayouts, AttentionReadsItsQueriesWhereTheyLieAndCopiesItsKeys) {
  Network n;
  const TensorId q = n.node("q", ReshapeOp{{1, 5, 2, 3}}, {n.matmul("m", n.input({1, 5, 6}))});
  const TensorId heads = n.transpose("heads", {0, 2, 1, 3}, q);
  const TensorId keys = n.transpose("keys", {0, 2, 3, 1}, q);
  const TensorId scores = n.node("scores", MatMulOp{}, {heads, keys});
  const TensorId mixed = n.node("mixed", MatMulOp{}, {scores, heads});
  const TensorId back = n.transpose("back", {0, 2, 1, 3}, mixed);
  const Graph graph = n.give(n.matmul("y", n.node("rows", ReshapeOp{{1, 5, 6}}, {back})));
  EXPECT_EQ(described(graph),
            "m [0][1][2]\nq [0][1][2][3] in m\nheads [0][2][1][3] in m\nkeys [0][1][2][3]\n"
            "scores [0][1][2][3]\nmixed [0][2][1][3]\nback [0][1][2][3] in mixed\nrows [0][1][2] in mixed\n"
            "y [0][1][2]\n");
}

// What the caller sees is row-major: the convolution writes the transposed output at once.
TEST(PlanLayouts, AnOutputMayBeTransposed) {
  Network n;
  const Graph graph = n.give(n.transpose("y", {0, 2, 3, 1}, n.conv("c", n.input({1, 6, 4, 5}))));
  EXPECT_EQ(described(graph), "c [0][2][3][1]\ny [0][1][2][3] in c\n");
  Network input;
  const Graph given = input.give(input.transpose("y", {0, 2, 3, 1}, input.input({1, 6, 4, 5})));
  EXPECT_EQ(described(given), "y [0][1][2][3]\n");  // an input's storage is not an output's
}

// Both are outputs, so both are row-major; and one that is read in another shape is row-major as it is.
TEST(PlanLayouts, WhatMustLieInTwoOrdersIsCopied) {
  Network n;
  const TensorId c = n.conv("c", n.input({1, 6, 4, 5}));
  ASSERT_TRUE(n.builder.output(c));
  EXPECT_EQ(described(n.give(n.transpose("y", {0, 2, 3, 1}, c))), "c [0][1][2][3]\ny [0][1][2][3]\n");
  Network p;
  const TensorId t = p.transpose("t", {0, 2, 3, 1}, p.matmul("m", p.input({1, 4, 5, 6})));
  EXPECT_EQ(described(p.give(p.node("y", SoftmaxOp{{3}}, {t}))),
            "m [0][1][2][3]\nt [0][1][2][3]\ny [0][1][2][3]\n");
}

// A Reshape to the shape that there is: its result wants its rows innermost, as the shares do, the operand
// its channels.
TEST(PlanLayouts, AViewIsNoCopyWhateverIsWanted) {
  Network n;
  const TensorId c = n.conv("c", n.input({1, 6, 4, 5}));
  const TensorId v = n.node("v", ReshapeOp{{1, 6, 4, 5}}, {c});
  const TensorId r = n.node("r", SoftmaxOp{{2}}, {c});
  const Graph graph = n.give(n.node("y", ZipOp{ZipFunction::sub}, {v, r}));
  EXPECT_EQ(described(graph), "c [0][2][3][1]\nv [0][2][3][1] in c\nr [0][1][2][3]\ny [0][1][2][3]\n");
  const std::vector<Values> inputs = random_inputs(graph, 3);
  EXPECT_LE(relative_difference(run_partition(graph, partition(graph).value(), inputs),
                                evaluate_graph(graph, inputs).value()),
            1e-5);
}

// Axes of one place lie anywhere: no two orders differ in them.
TEST(PlanLayouts, AxesOfOnePlaceDoNotMatter) {
  Network n;
  const TensorId m = n.matmul("m", n.input({1, 1, 4, 6}));
  const TensorId r = n.node("r", ReshapeOp{{2, 2, 6}}, {n.transpose("t", {2, 1, 0, 3}, m)});
  EXPECT_EQ(described(n.give(n.matmul("y", r))),
            "m [0][1][2][3]\nt [0][1][2][3] in m\nr [0][1][2] in m\ny [0][1][2]\n");
}

// Random graphs of convolutions, products, transposes, sums and views compute the same through the plan.
TEST(PlanLayouts, RandomNetworksComputeTheSame) {
  Rng rng(5);
  for (int round = 0; round < 60; ++round) {
    Network n;
    std::vector<TensorId> known{n.input({1, 6, 6, 6})};
    for (int i = 0; i < 12; ++i) {
      const std::string name = fmt::format("n{}", i);
      const TensorId a = known[known.size() - 1 - rng.below(std::min<size_t>(known.size(), 3))];
      const TensorId b = known[rng.below(known.size())];
      std::vector<size_t> order{0, 1, 2, 3};
      for (size_t k = 3; k > 1; --k) std::swap(order[k], order[1 + rng.below(k)]);
      switch (rng.below(6)) {
        case 0: known.push_back(n.conv(name.c_str(), a)); break;
        case 1: known.push_back(n.matmul(name.c_str(), a)); break;
        case 2: known.push_back(n.node(name.c_str(), ZipOp{ZipFunction::add}, {a, b})); break;
        case 3: known.push_back(n.node(name.c_str(), MapOp{MapFunction::sigmoid}, {a})); break;
        case 4: {
          const TensorId flat = n.node((name + "f").c_str(), ReshapeOp{{36, 6}}, {a});
          known.push_back(n.node(name.c_str(), ReshapeOp{{1, 6, 6, 6}}, {flat}));
          break;
        }
        default: known.push_back(n.transpose(name.c_str(), order, a)); break;
      }
      if (rng.chance(0.1)) {
        EXPECT_TRUE(n.builder.output(known.back()));
      }
    }
    const Graph graph = n.give(n.node("last", MapOp{MapFunction::negate}, {known.back()}));
    const std::vector<Values> inputs = random_inputs(graph, 3);
    const std::vector<Values> expected = evaluate_graph(graph, inputs).value();
    EXPECT_LE(relative_difference(run_partition(graph, partition(graph).value(), inputs), expected), 2e-5)
        << to_string(graph);
  }
}

}  // namespace
}  // namespace lathe
