// Which groups of attention, and of what looks like it, become one; what they compute: partition_test.cpp.
#include "network/join_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "expr/print.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "network/group_to_dag.h"

namespace lathe {
namespace {

Graph import(const OnnxModel& model) { return import_onnx_bytes(model.bytes(), "m.onnx").value(); }

// "qk+softmax+pv", a group after the other.
std::vector<std::string> describe(const Graph& graph) {
  std::vector<std::string> texts;
  for (const FusedGroup& group : fuse(graph, plan_layouts(graph))) {
    std::vector<std::string> nodes;
    for (const size_t n : group.nodes) nodes.push_back(graph.nodes[n].name);
    texts.push_back(fmt::format("{}", fmt::join(nodes, "+")));
  }
  return texts;
}

using Texts = std::vector<std::string>;

// Scores of q and k, scaled and masked, their softmax, its product with v, and something behind that.
OnnxModel attention() {
  OnnxModel model;
  model.input("q", {2, 6, 4}).input("k", {2, 4, 9}).input("v", {2, 9, 5}).input("mask", {6, 9});
  model.initializer("c", {}, {0.5});
  model.node("qk", "MatMul", {"q", "k"}, "s").node("scale", "Mul", {"s", "c"}, "t");
  model.node("add", "Add", {"t", "mask"}, "u").node("softmax", "Softmax", {"u"}, "p");
  model.node("pv", "MatMul", {"p", "v"}, "o").node("relu", "Relu", {"o"}, "y");
  return model;
}

TEST(JoinRows, AttentionIsOneGroup) {
  const Graph graph = import(attention().output("y"));
  EXPECT_EQ(describe(graph), (Texts{"qk+scale+add+softmax+pv+relu"}));
  const std::vector<FusedGroup> groups = fuse(graph, plan_layouts(graph));
  EXPECT_EQ(groups[0].anchors.size(), 3U);
  EXPECT_EQ(graph.nodes[groups[0].anchors[2]].name, "pv");
  EXPECT_EQ(to_string(group_to_dag(graph, groups[0])->dag),
            "input X0[2, 6, 4]\ninput X1[2, 4, 9]\ninput X2[6, 9]\ninput X3[2, 9, 5]\ninput W0[]\n"
            "product[b0:2, i:6, j:9] = sum(r:4) X0[b0, i, r] * X1[b0, r, j]\n"
            "inner[i:2, j:6, k:9] = product[i, j, k] * W0[] + X2[j, k]\n"
            "largest[i:2, j:6] = max(rk:9) inner[i, j, rk]\n"
            "scaled[i:2, j:6, k:9] = select(inner[i, j, k] - largest[i, j] < -85.13932017321689, 0.0, "
            "exp(max(min(inner[i, j, k] - largest[i, j], 0.0), -85.13932017321689)))\n"
            "total[i:2, j:6] = sum(rk:9) scaled[i, j, rk]\n"
            "softmax[i:2, j:6, k:9] = scaled[i, j, k] / total[i, j]\n"
            "product.2[b0:2, i:6, j:5] = sum(r:9) softmax[b0, i, r] * X3[b0, r, j]\n"
            "out[i:2, j:6, k:5] = max(product.2[i, j, k], 0.0)\n");
}

// What somebody else sees is in memory.
TEST(JoinRows, WhatIsReadElsewhereKeepsTheGroupsApart) {
  const Texts apart = {"qk+scale+add", "softmax", "pv+relu"};
  EXPECT_EQ(describe(import(attention().output("y").output("u"))), apart);
  EXPECT_EQ(describe(import(attention().output("y").output("p"))), apart);
  OnnxModel twice = attention();
  twice.node("again", "MatMul", {"p", "v"}, "z").output("y").output("z");
  EXPECT_EQ(describe(import(twice)), (Texts{"qk+scale+add", "softmax", "pv+relu", "again"}));
}

// Rows are those of the first operand: columns of the second would need all rows before.
TEST(JoinRows, ARightOperandHasNoRows) {
  OnnxModel model;
  model.input("q", {6, 4}).input("k", {4, 9}).input("v", {5, 6});
  model.node("qk", "MatMul", {"q", "k"}, "s").node("softmax", "Softmax", {"s"}, "p");
  model.node("vp", "MatMul", {"v", "p"}, "y").output("y");
  EXPECT_EQ(describe(import(model)), (Texts{"qk", "softmax", "vp"}));
}

TEST(JoinRows, OnlyWhatCombinesRowsStandsBetween) {
  const auto between = [](const char* op, int64_t axis) {
    OnnxModel model;
    model.input("q", {6, 4}).input("k", {4, 9}).input("v", {9, 5}).initializer("g", {9});
    model.node("qk", "MatMul", {"q", "k"}, "s");
    std::vector<std::string> operands = {"s"};
    if (std::string(op) == "LayerNormalization") operands.emplace_back("g");
    model.node("n", op, operands, "p").attribute("axis", axis);
    model.node("pv", "MatMul", {"p", "v"}, "y").output("y");
    return describe(import(model)).size();
  };
  EXPECT_EQ(between("Softmax", 1), 1U);
  EXPECT_EQ(between("Softmax", -1), 1U);
  EXPECT_EQ(between("LayerNormalization", -1), 1U);
  EXPECT_EQ(between("LpNormalization", 1), 1U);
  EXPECT_EQ(between("Softmax", 0), 3U) << "columns";
  EXPECT_EQ(between("Hardmax", 1), 3U);
}

// The output of one is the queries of another.
TEST(JoinRows, OneAttentionBehindAnother) {
  OnnxModel model;
  model.input("q", {6, 4}).input("k", {4, 9}).input("v", {9, 4});
  model.node("qk", "MatMul", {"q", "k"}, "s").node("softmax", "Softmax", {"s"}, "p");
  model.node("pv", "MatMul", {"p", "v"}, "o").node("ok", "MatMul", {"o", "k"}, "s2");
  model.node("softmax2", "Softmax", {"s2"}, "p2").node("pv2", "MatMul", {"p2", "v"}, "y").output("y");
  EXPECT_EQ(describe(import(model)), (Texts{"qk+softmax+pv", "ok+softmax2+pv2"}));
}

}  // namespace
}  // namespace lathe
