// What computes imply: the inputs that they read and the outputs that nobody does.
#include "expr/inputs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expr/print.h"

namespace lathe {
namespace {

// "A[10, 9] B[9, ?]", in order.
std::string implied(const std::vector<Compute>& computes) {
  std::string text;
  for (const ImpliedInput& input : implied_inputs(computes)) {
    std::string extents;
    for (const std::optional<int64_t>& extent : input.shape)
      extents += (extents.empty() ? "" : ", ") + (extent ? std::to_string(*extent) : "?");
    text += fmt::format("{}{}[{}]", text.empty() ? "" : " ", input.tensor->name, extents);
  }
  return text;
}

struct InputsTest : ::testing::Test {
  Axis i = spatial("i", 4);
  Axis r = reduce("r", 9);
  // Larger than what is read: what is implied follows from the reads alone.
  Tensor a{"A", {100, 100}};
  Tensor b{"B", {100}};
  Tensor s{"s", {100}, DType::i32};

  Compute compute(const char* name, const Expr& body) const {
    return {Tensor(name, {4}, body.type().dtype), {i}, Reduction::none, body};
  }
  Compute summed(const char* name, const Expr& body) const {
    return {Tensor(name, {4}), {i, r}, Reduction::sum, body};
  }
};

TEST_F(InputsTest, RangesAreThoseOfTheAxes) {
  const Ranges ranges = ranges_of(summed("C", a(i, r)));
  EXPECT_EQ(bounds(Affine(i.var) * 10 + r.var, ranges), (Interval{0, 38}));
}

TEST_F(InputsTest, ShapesReachToTheLargestIndex) {
  EXPECT_EQ(implied({summed("C", a(i, r) * b(r))}), "A[4, 9] B[9]");
  EXPECT_EQ(implied({summed("C", b(i * 2 + r + 1))}), "B[16]");
  EXPECT_EQ(implied({compute("C", b(i) + b(Expr(7) - i))}), "B[8]");
  EXPECT_EQ(implied({compute("C", b(i)), compute("D", b(i + 3))}), "B[7]");
  EXPECT_EQ(implied({compute("C", Tensor("x", {})() + 1.0)}), "x[]");
}

TEST_F(InputsTest, ReadsUnderASelectReachAsFarAsItLets) {
  EXPECT_EQ(implied({compute("C", select(Expr(i) < 2, b(i), 0.0))}), "B[2]");
  EXPECT_EQ(implied({compute("C", select(Expr(i) >= 1, b(i - 1), 0.0))}), "B[3]");
}

TEST_F(InputsTest, AnIndirectIndexImpliesNothing) {
  EXPECT_EQ(implied({compute("C", a(s(i), i))}), "A[?, 4] s[4]");
  EXPECT_EQ(implied({compute("C", b(i) + b(s(i)))}), "B[?] s[4]");
}

TEST_F(InputsTest, WhatIsComputedAboveAndTablesAreNone) {
  const Compute first = compute("C", b(i));
  EXPECT_EQ(implied({first, compute("D", first.output(i) * Tensor::literal("T", {4}, {1, 2, 3, 4})(i))}),
            "B[4]");
  // Read before it is computed it is one.
  EXPECT_EQ(implied({compute("D", first.output(i)), first}), "C[4] B[4]");
}

TEST_F(InputsTest, OutputsAreWhatNobodyReads) {
  const Compute first = compute("C", b(i)), second = compute("D", first.output(i)),
                third = compute("E", b(i));
  EXPECT_EQ(implied_outputs({first, second, third}), (std::vector<Tensor>{second.output, third.output}));
  EXPECT_TRUE(implied_outputs({}).empty());
  // Also what is read inside of an index.
  const Compute places = compute("P", s(i));
  EXPECT_EQ(implied_outputs({places, compute("F", b(places.output(i)))}).size(), 1U);
}

TEST_F(InputsTest, TellWhetherATextNeedsToDeclareInputs) {
  const Tensor exact("B", {4}), large("B", {5}), wide("B", {4}, DType::f64);
  const auto needs_none = [&](const Tensor& input) {
    const Compute c = compute("C", input(i));
    return inputs_are_implied({{input}, {c}, {c.output}});
  };
  EXPECT_TRUE(needs_none(exact));
  EXPECT_FALSE(needs_none(large));
  EXPECT_FALSE(needs_none(wide));
}

TEST_F(InputsTest, TellWhetherTheOrderOfInputsIsTheTexts) {
  const Tensor x("X", {4}), y("Y", {4});
  const Compute c = compute("C", x(i) * y(i));
  EXPECT_TRUE(inputs_are_implied({{x, y}, {c}, {c.output}}));
  EXPECT_FALSE(inputs_are_implied({{y, x}, {c}, {c.output}}));
  EXPECT_FALSE(inputs_are_implied({{x, y, Tensor("Z", {4})}, {c}, {c.output}}));
}

// A tensor that an index reads is taken for i32: one of floats must be declared.
TEST_F(InputsTest, TellWhatIsReadInsideAnIndex) {
  const Tensor places("P", {4}), x("X", {4});
  const Affine place = modulo(opaque(cast({DType::i64}, places(i))), 4);
  const Compute c = compute("C", places(i) + load(x, {place}));
  EXPECT_EQ(implied({c}), "P[4] X[4]");
  EXPECT_FALSE(inputs_are_implied({{places, x}, {c}, {c.output}}));
}

TEST_F(InputsTest, TellWhetherOutputsAreImplied) {
  const Compute c = compute("C", b(i)), d = compute("D", c.output(i)), e = compute("E", c.output(i));
  EXPECT_TRUE(outputs_are_implied({{b}, {c, d, e}, {d.output, e.output}}));
  EXPECT_FALSE(outputs_are_implied({{b}, {c, d, e}, {e.output, d.output}}));
  EXPECT_FALSE(outputs_are_implied({{b}, {c, d, e}, {c.output, d.output, e.output}}));
}

}  // namespace
}  // namespace lathe
