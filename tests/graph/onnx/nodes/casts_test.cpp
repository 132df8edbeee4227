// Cast and CastLike to codes, which what is moved keeps.
#include "graph/onnx/nodes/casts.h"

#include <gtest/gtest.h>

#include <vector>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

constexpr int kF8 = 17, kI4 = 22;  // FLOAT8E4M3FN and INT4

TEST(Casts, ASecondOperandGivesItsCode) {
  OnnxModel model;
  model.operator_set(19);
  model.input("x", {2}).input("like", {1}, kF8).node("n", "CastLike", {"x", "like"}, "y").output("y");
  EXPECT_EQ(run_network(model, {{{2}, {1, -448}}, {{1}, {0}}}).data, (std::vector<double>{0x38, 0xfe}));
}

TEST(Casts, WhatIsMovedKeepsItsCode) {
  OnnxModel model;
  model.operator_set(21);
  model.input("x", {2, 2}, kF8).node("n", "Transpose", {"x"}, "y").output("y");
  EXPECT_EQ(run_network(model, {{{2, 2}, {1, 2, 0x7f, 4}}}).data, (std::vector<double>{1, 0x7f, 2, 4}));
}

TEST(Casts, FromACodeGiveNumbers) {
  OnnxModel model;
  model.operator_set(21);
  model.input("x", {2}, kF8).node("n", "Cast", {"x"}, "y").attribute("to", 1).output("y");
  EXPECT_EQ(run_network(model, {{{2}, {0x38, 0xb8}}}).data, (std::vector<double>{1, -1}));
  OnnxModel integers;
  integers.operator_set(21);
  integers.input("x", {2}, kI4).node("n", "Cast", {"x"}, "y").attribute("to", 3).output("y");
  EXPECT_EQ(run_network(integers, {{{2}, {-8, 7}}}).data, (std::vector<double>{-8, 7}));
}

TEST(Casts, NamesAModeThatThereIsNot) {
  OnnxModel model;
  model.operator_set(24);
  model.input("x", {2}).node("n", "Cast", {"x"}, "y").attribute("to", 24);
  model.attribute("round_mode", "sideways").output("y");
  EXPECT_EQ(import_error(model),
            "node 'n' (Cast): attribute 'round_mode' is 'sideways', and must be up, down or nearest");
}

}  // namespace
}  // namespace lathe
