// Identities alone; with the other passes: simplify_test.cpp.
#include <gtest/gtest.h>

#include "graph/simplify.h"

namespace lathe {
namespace {

// A graph in the making, of vectors of three elements.
class Vectors {
 public:
  TensorId input(const char* name) { return *builder_.input(name, {DType::f32, {3}}); }
  TensorId relu(TensorId of, const char* name) { return *builder_.node(name, MapOp{}, {of}, name); }
  TensorId copy(TensorId of, const char* name) { return *builder_.node(name, IdentityOp{}, {of}, name); }
  TensorId add(TensorId a, TensorId b, const char* name) {
    return *builder_.node(name, ZipOp{}, {a, b}, name);
  }
  // The nodes of the graph with these outputs, after the pass.
  std::string passed(const std::vector<TensorId>& outputs) {
    for (const TensorId id : outputs) EXPECT_TRUE(builder_.output(id));
    Graph result = remove_identities(builder_.build());
    EXPECT_TRUE(verify(result));
    EXPECT_EQ(to_string(remove_identities(result)), to_string(result));
    const std::string text = to_string(result);
    return text.substr(text.find("\n  ", text.find("input")) + 1);
  }

 private:
  GraphBuilder builder_{"g"};
};

TEST(RemoveIdentities, ReadersReadTheOperand) {
  Vectors g;
  const TensorId x = g.input("x");
  const TensorId inner = g.copy(g.copy(x, "c"), "d");
  EXPECT_EQ(g.passed({g.add(inner, x, "y")}),
            "  y f32[3] = Add() of x, x\n"
            "  output y\n");
}

TEST(RemoveIdentities, AnOutputIsGivenByTheProducerUnderItsName) {
  Vectors g;
  const TensorId t = g.relu(g.input("x"), "t");
  const TensorId before = g.relu(t, "before");
  const TensorId y = g.copy(t, "y");
  EXPECT_EQ(g.passed({y, g.add(t, before, "behind")}),
            "  y f32[3] = Relu() of x\n"
            "  before f32[3] = Relu() of y\n"
            "  behind f32[3] = Add() of y, before\n"
            "  output y, behind\n");
}

TEST(RemoveIdentities, OfTwoOutputsOfOneTensorTheSecondStaysACopy) {
  Vectors g;
  const TensorId t = g.relu(g.input("x"), "t");
  const TensorId y = g.copy(t, "y"), z = g.copy(t, "z");
  EXPECT_EQ(g.passed({z, y}),
            "  y f32[3] = Relu() of x\n"
            "  z f32[3] = Identity() of y\n"
            "  output z, y\n");
}

TEST(RemoveIdentities, ACopyOfACopyThatIsAnOutput) {
  Vectors g;
  const TensorId t = g.relu(g.input("x"), "t");
  const TensorId y = g.copy(g.copy(t, "inner"), "y");
  EXPECT_EQ(g.passed({y}),
            "  y f32[3] = Relu() of x\n"
            "  output y\n");
}

TEST(RemoveIdentities, OfAnOutputAndOfAnInputAreKept) {
  Vectors g;
  const TensorId x = g.input("x");
  const TensorId t = g.relu(x, "t");
  const TensorId y = g.copy(t, "y"), z = g.copy(x, "z");
  EXPECT_EQ(g.passed({t, y, z}),
            "  t f32[3] = Relu() of x\n"
            "  y f32[3] = Identity() of t\n"
            "  z f32[3] = Identity() of x\n"
            "  output t, y, z\n");
}

// An output that is read on: what reads it reads the operand of its copy, whose value it is.
TEST(RemoveIdentities, ReadersOfAnOutputThatStaysReadIt) {
  Vectors g;
  const TensorId x = g.input("x");
  const TensorId z = g.copy(x, "z");
  EXPECT_EQ(g.passed({z, g.relu(z, "y")}),
            "  z f32[3] = Identity() of x\n"
            "  y f32[3] = Relu() of z\n"
            "  output z, y\n");
}

}  // namespace
}  // namespace lathe
