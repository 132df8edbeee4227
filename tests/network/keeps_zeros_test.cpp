// Which products of a network must leave rows of zeros as they are.
#include "network/keeps_zeros.h"

#include <gtest/gtest.h>

#include <set>

#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "network/network_tasks.h"
#include "session/network_file.h"
#include "target/all.h"

namespace lathe {
namespace {

class KeepsZerosTest : public ::testing::Test {
 protected:
  Graph graph_of(const OnnxModel& model) const { return import_onnx(model_file(folder_, model), {}).value(); }

  std::set<std::string> kept(const OnnxModel& model) const {
    const Graph graph = graph_of(model);
    const std::vector<bool> keeps = products_that_keep_zeros(graph);
    std::set<std::string> names;
    for (size_t n = 0; n < keeps.size(); ++n)
      if (keeps[n]) names.insert(graph.nodes[n].name);
    return names;
  }

  TemporaryFolder folder_;
};

// x w, split in heads, over its norm: cosine attention's keys.
OnnxModel normalised_model() {
  OnnxModel model;
  model.input("x", {64, 64}).initializer("w", {64, 64}).initializer("b", {64}).output("y");
  model.node("m", "MatMul", {"x", "w"}, "p").node("a", "Add", {"p", "b"}, "q");
  model.integers("heads", {64, 4, 16}).node("r", "Reshape", {"q", "heads"}, "h");
  model.node("t", "Transpose", {"h"}, "k").attribute("perm", {1, 0, 2});
  return model;
}

TEST_F(KeepsZerosTest, WhatIsDividedByItsNormDoes) {
  OnnxModel norm = normalised_model();
  norm.node("n", "LpNormalization", {"k"}, "y").attribute("axis", -1);
  EXPECT_EQ(kept(norm), std::set<std::string>{"m"});
  OnnxModel reduced = normalised_model();
  reduced.node("n", "ReduceL2", {"k"}, "l").attribute("axes", {2}).operator_set(13);
  reduced.node("d", "Div", {"k", "l"}, "y");
  EXPECT_EQ(kept(reduced), std::set<std::string>{"m"});
  OnnxModel squares = normalised_model();
  squares.integers("last", {2})
      .node("s", "Mul", {"k", "k"}, "s2")
      .node("n", "ReduceSum", {"s2", "last"}, "l");
  squares.node("e", "Sqrt", {"l"}, "root").node("d", "Div", {"k", "root"}, "y");
  EXPECT_EQ(kept(squares), std::set<std::string>{"m"});
}

TEST_F(KeepsZerosTest, OthersDoNot) {
  OnnxModel mean = normalised_model();
  mean.initializer("g", {16}).initializer("c", {16}).node("n", "LayerNormalization", {"k", "g", "c"}, "y");
  EXPECT_EQ(kept(mean), std::set<std::string>());
  OnnxModel shares = normalised_model();
  shares.integers("last", {2}).node("e", "Exp", {"k"}, "x2").node("n", "ReduceSum", {"x2", "last"}, "l");
  shares.node("d", "Div", {"x2", "l"}, "y");
  EXPECT_EQ(kept(shares), std::set<std::string>()) << "the exponential of 0 is 1";
  OnnxModel residual = normalised_model();
  residual.input("z", {4, 64, 16}).node("s", "Add", {"k", "z"}, "u");
  residual.node("n", "LpNormalization", {"u"}, "y").attribute("axis", -1);
  EXPECT_EQ(kept(residual), std::set<std::string>());
}

TEST_F(KeepsZerosTest, TheirTasksHaveNoAlgorithmThatSpreads) {
  OnnxModel model = normalised_model();
  model.node("n", "LpNormalization", {"k"}, "y").attribute("axis", -1);
  const Graph graph = graph_of(model);
  const auto tasks = network_tasks(graph, partition(graph).value(), generic_target("x86-avx2"));
  ASSERT_TRUE(tasks.has_value()) << tasks.error().to_string();
  bool is_met = false;
  for (const TaskUse& use : tasks->uses) {
    if (use.name != "m") continue;
    is_met = true;
    EXPECT_EQ(tasks->tasks[use.task].task.algorithm, kExactSpecials);
  }
  EXPECT_TRUE(is_met);
}

}  // namespace
}  // namespace lathe
