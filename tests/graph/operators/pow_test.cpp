// Pow, of constant and of computed exponents.
#include "graph/operators/pow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;
using Data = std::vector<double>;

constexpr int kF32 = onnx::TensorProto_DataType_FLOAT;
constexpr int kI64 = onnx::TensorProto_DataType_INT64;
constexpr int kI32 = onnx::TensorProto_DataType_INT32;

OnnxModel power_model(double exponent) {
  OnnxModel model;
  model.input("x", {4})
      .initializer("e", {}, {static_cast<float>(exponent)})
      .node("n", "Pow", {"x", "e"}, "y");
  return std::move(model.output("y"));
}

TEST(Pow, PowersKeepTheSignOfWholeExponents) {
  const std::vector<double> near_one = {-1.03125, -0.5, 0.5, 1.03125};
  for (const double exponent : {0.0, 1.0, 2.0, 3.0, 7.0, 64.0, 65.0, 66.0, 101.0, -1.0, -2.0, -65.0}) {
    SCOPED_TRACE(exponent);
    std::vector<double> x = near_one;
    if (exponent < -2) x[1] = -1.5, x[2] = 1.5;  // keeps the results in range
    std::vector<double> expected;
    for (const double each : x) expected.push_back(std::pow(each, exponent));
    EXPECT_THAT(run_network(power_model(exponent), {{{4}, x}}).data, Pointwise(DoubleNear(1e-9), expected));
  }
}

TEST(Pow, PowersOfFractionsAreOfPositiveNumbers) {
  for (const double exponent : {0.5, 1.5, -0.25}) {
    SCOPED_TRACE(exponent);
    const std::vector<double> x = {0.25, 1, 2, 9};
    std::vector<double> expected;
    for (const double each : x) expected.push_back(std::pow(each, exponent));
    EXPECT_THAT(run_network(power_model(exponent), {{{4}, x}}).data, Pointwise(DoubleNear(1e-9), expected));
  }
}

TEST(Pow, TakesAWholeExponent) {
  OnnxModel model;
  model.input("x", {2}).integers("e", {1}, {3}).node("n", "Pow", {"x", "e"}, "y").output("y");
  EXPECT_EQ(run_network(model, {{{2}, {-2, 3}}}).data, (Data{-8, 27}));
}

TEST(Pow, TakesManyExponents) {
  OnnxModel model;
  model.input("x", {2, 1}).initializer("e", {3}, {0, 0.5F, 2}).node("n", "Pow", {"x", "e"}, "y").output("y");
  EXPECT_THAT(run_network(model, {{{2, 1}, {4, 9}}}).data,
              Pointwise(DoubleNear(1e-6), Data{1, 2, 16, 1, 3, 81}));
}

Data computed(int base, int exponent, const Data& x, const Data& e) {
  OnnxModel model;
  const Shape shape = {static_cast<int64_t>(x.size())};
  model.input("x", shape, base).input("e", shape, exponent).node("n", "Pow", {"x", "e"}, "y").output("y");
  return run_network(model, {{shape, x}, {shape, e}}).data;
}

TEST(Pow, TakesComputedExponents) {
  EXPECT_THAT(computed(kF32, kF32, {2, 9, 0.25, -2}, {3, 0.5, -1, 3}),
              Pointwise(DoubleNear(1e-5), Data{8, 3, 4, -8}));
  EXPECT_THAT(computed(kF32, kI64, {2, -3, 0.5}, {10, 3, -2}),
              Pointwise(DoubleNear(1e-3), Data{1024, -27, 4}));
}

TEST(Pow, OfIntegersIsExact) {
  for (const int exponent : {kI64, kI32, kF32}) {
    EXPECT_EQ(computed(kI64, exponent, {3, -3, 7, 2, 10, 0, 5}, {33, 31, 0, 52, 15, 5, 1}),
              (Data{5559060566555523, -617673396283947, 1, 0x1p52, 1e15, 0, 5}));
    EXPECT_EQ(computed(kI32, exponent, {2, 1, -1, -1, 0, 3}, {-1, -7, -7, 100, 64, 4}),
              (Data{0, 1, -1, 1, 0, 81}));
  }
  EXPECT_EQ(computed(kI32, kF32, {4, 9, -4}, {0.5, 1.5, 0.5}), (Data{2, 27, 0}));
}

}  // namespace
}  // namespace lathe
