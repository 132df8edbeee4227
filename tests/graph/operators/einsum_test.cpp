// Einsum: the reference against sums by hand, and the network against the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "network/group_to_dag.h"

namespace lathe {
namespace {

// The equation over x and, of the shapes that follow, constants of 1, 2 ..
OnnxModel einsum_model(const char* equation, const Shape& x, const std::vector<Shape>& others = {}) {
  OnnxModel model;
  std::vector<std::string> inputs = {"x"};
  for (const Shape& shape : others) {
    inputs.push_back("c" + std::to_string(inputs.size()));
    const std::vector<double> values = numbered(shape).data;
    model.initializer(inputs.back(), shape, std::vector<float>(values.begin(), values.end()));
  }
  model.input("x", x).node("n", "Einsum", inputs, "y").attribute("equation", equation).output("y");
  return model;
}

Values einsum(const char* equation, const Shape& x, const std::vector<Shape>& others = {}) {
  return run_network(einsum_model(equation, x, others), {numbered(x)});
}

TEST(Einsum, MovesAndSumsTheAxesOfOneOperand) {
  EXPECT_EQ(einsum("ij->ji", {2, 3}).data, (std::vector<double>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(einsum("ij->i", {2, 3}).data, (std::vector<double>{6, 15}));
  EXPECT_EQ(einsum("ij->", {2, 3}).shape, Shape{});
  EXPECT_EQ(einsum("ij->", {2, 3}).data, (std::vector<double>{21}));
  EXPECT_EQ(einsum("ii->i", {3, 3}).data, (std::vector<double>{1, 5, 9}));
  EXPECT_EQ(einsum("ii", {3, 3}).data, (std::vector<double>{15}));
  EXPECT_EQ(einsum("...ii->...i", {2, 2, 2}).data, (std::vector<double>{1, 4, 5, 8}));
  EXPECT_EQ(einsum("ba", {2, 3}).data, (std::vector<double>{1, 4, 2, 5, 3, 6}));  // alphabetical
}

TEST(Einsum, MultipliesTwo) {
  EXPECT_EQ(einsum(" i j , j k -> i k ", {2, 2}, {{2, 2}}).data, (std::vector<double>{7, 10, 15, 22}));
  EXPECT_EQ(einsum("ij,jk", {2, 2}, {{2, 2}}).data, (std::vector<double>{7, 10, 15, 22}));
  EXPECT_EQ(einsum("i,j->ij", {2}, {{3}}).data, (std::vector<double>{1, 2, 3, 2, 4, 6}));
  EXPECT_EQ(einsum("i,i", {3}, {{3}}).data, (std::vector<double>{14}));
  EXPECT_EQ(einsum("ij,kl->il", {2, 2}, {{2, 2}}).data, (std::vector<double>{12, 18, 28, 42}));
  EXPECT_EQ(einsum("ij,->ij", {1, 2}, {{}}).data, (std::vector<double>{1, 2}));
}

TEST(Einsum, BroadcastsEllipsesAndAxesOfOnePlace) {
  const Values y = einsum("...ij,...jk->...ik", {2, 1, 1, 2}, {{3, 2, 1}});
  EXPECT_EQ(y.shape, (Shape{2, 3, 1, 1}));
  EXPECT_EQ(y.data, (std::vector<double>{5, 11, 17, 11, 25, 39}));
  EXPECT_EQ(einsum("...i,...i", {2, 2}, {{2}}).data, (std::vector<double>{5, 11}));
  EXPECT_EQ(einsum("ij,ij->ij", {2, 1}, {{1, 2}}).data, (std::vector<double>{1, 2, 2, 4}));
}

TEST(Einsum, MultipliesMoreThanTwo) {
  EXPECT_EQ(einsum("ij,jk,kl->il", {1, 2}, {{2, 2}, {2, 1}}).data, (std::vector<double>{27}));
  EXPECT_EQ(einsum("i,j,k->kji", {2}, {{1}, {2}}).data, (std::vector<double>{1, 2, 2, 4}));
  EXPECT_EQ(einsum("ab,bc,ca->", {2, 2}, {{2, 2}, {2, 2}}).data, (std::vector<double>{155}));
}

// One sum after another, not all of them in one another.
TEST(Einsum, BecomesProductsOfTwo) {
  const auto computes = [](const OnnxModel& model) {
    const Graph graph = import_onnx_bytes(model.bytes(), "m.onnx").value();
    const Dag dag = group_to_dag(graph, fuse(graph, plan_layouts(graph))[0]).value().dag;
    std::vector<size_t> axes;
    for (const Compute& compute : dag.computes) axes.push_back(compute.axes.size());
    return axes;
  };
  EXPECT_EQ(computes(einsum_model("bhqd,bhkd->bhqk", {1, 2, 3, 4}, {{1, 2, 5, 4}})),
            (std::vector<size_t>{5}));
  EXPECT_EQ(computes(einsum_model("ij,jk,kl->il", {2, 3}, {{3, 4}, {4, 5}})), (std::vector<size_t>{3, 3}));
  EXPECT_EQ(computes(einsum_model("ij,kl->il", {2, 3}, {{4, 5}})), (std::vector<size_t>{2, 2, 2}));
}

TEST(Einsum, NamesWhatItCannotTake) {
  EXPECT_EQ(import_error(einsum_model("i1->i", {2, 2})),
            "node 'n' (Einsum): the equation 'i1->i' has the term 'i1', which is no list of letters with at "
            "most one ellipsis");
  EXPECT_EQ(
      import_error(einsum_model("...i...->i", {2, 2})),
      "node 'n' (Einsum): the equation '...i...->i' has the term '...i...', which is no list of letters "
      "with at most one ellipsis");
  EXPECT_EQ(import_error(einsum_model("ij,jk->ik", {2, 2})),
            "node 'n' (Einsum): its equation has 2 operands, and it has 1");
  EXPECT_EQ(import_error(einsum_model("ij->i", {2, 2, 2})),
            "node 'n' (Einsum): operand 0, [2,2,2], has other axes than its 2 letters");
  EXPECT_EQ(import_error(einsum_model("ij->ik", {2, 2})),
            "node 'n' (Einsum): its result has 'k', which no operand has");
  EXPECT_EQ(import_error(einsum_model("ij->ii", {2, 2})),
            "node 'n' (Einsum): its result has a label twice, or one that no operand has: [0,1] to [0,0]");
  EXPECT_EQ(import_error(einsum_model("ij,jk->ik", {2, 3}, {{2, 2}})),
            "node 'n' (Einsum): axis 0 of operand 1, [2,2], runs together with one of 3 places");
  EXPECT_EQ(import_error(einsum_model("...i->i", {2, 2})),
            "node 'n' (Einsum): its operands have ellipses and its result none, and Lathe supports sums over "
            "letters alone");
}

}  // namespace
}  // namespace lathe
