// What the constructors of expressions make of their operands: types, literals, index arithmetic.
#include "expr/expr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "expr/dag.h"
#include "expr/print.h"

namespace lathe {
namespace {

struct ExprTest : ::testing::Test {
  Var i{"i"};
  Var j{"j"};
  Expr real = Tensor("A", {8})(i);
  Expr wide = Tensor("D", {8}, DType::f64)(i);
  Expr half = Tensor("H", {8}, DType::f16)(i);
  Expr brain = Tensor("B", {8}, DType::bf16)(i);
  Expr byte = Tensor("b", {8}, DType::i8)(i);
  Expr integer = Tensor("s", {8}, DType::i32)(i);
  Expr index = Tensor("l", {8}, DType::i64)(i);
};

std::string typed(const Expr& e) { return to_string(e) + ": " + to_string(e.type()); }

TEST_F(ExprTest, LiteralsAreOfTheirTypes) {
  EXPECT_EQ(typed(literal({DType::i8}, 200)), "i8(-56): i8");
  EXPECT_EQ(typed(literal({DType::u8}, -1)), "u8(255): u8");
  EXPECT_EQ(typed(literal({DType::i64}, 5)), "5: i64");
  EXPECT_NE(literal({DType::i64}, 5).as<Index>(), nullptr);
  EXPECT_EQ(typed(literal({DType::f16}, 2049)), "f16(2048.0): f16");
  EXPECT_EQ(typed(literal({DType::boolean}, 0)), "false: bool");
  EXPECT_EQ(typed(literal({DType::f32, 4}, 0.5)), "f32x4(0.5): f32x4");
  EXPECT_EQ(typed(Expr(2)), "2: i64");
  EXPECT_EQ(typed(Expr(2.0F)), "2.0: f32");
}

// The infinities that reductions start from.
TEST_F(ExprTest, InfinitiesAreTheEndsOfIntegers) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(literal({DType::i8}, -kInfinity).as<Literal>()->integer, -128);
  EXPECT_EQ(literal({DType::u16}, kInfinity).as<Literal>()->integer, 65535);
  EXPECT_EQ(literal({DType::u16}, -kInfinity).as<Literal>()->integer, 0);
  EXPECT_EQ(literal({DType::i32}, kInfinity).as<Literal>()->integer, 2147483647);
}

// As its text is read, so that a task has one hash.
TEST_F(ExprTest, AConstantIndexInACastIsALiteral) {
  for (const DType dtype : {DType::f32, DType::f64, DType::i32}) {
    const Expr three = cast({dtype, 1}, Expr(int64_t{3}));
    EXPECT_NE(three.as<Literal>(), nullptr);
    EXPECT_EQ(to_string(three), to_string(literal({dtype, 1}, 3)));
  }
}

TEST_F(ExprTest, IndexArithmeticStaysAffine) {
  const auto affine = [](const Expr& e) { return e.as<Index>() != nullptr; };
  EXPECT_TRUE(affine(Expr(i) * 2 + j - 1));
  EXPECT_TRUE(affine(Expr(3) * (Expr(i) + 1)));
  EXPECT_TRUE(affine((Expr(i) + 1) / 3));
  EXPECT_TRUE(affine((Expr(i) + 1) % 3));
  EXPECT_TRUE(affine(-Expr(i)));
  EXPECT_FALSE(affine(Expr(i) * j));
  EXPECT_FALSE(affine(Expr(i) / j));
  EXPECT_FALSE(affine(Expr(i) / -3));
  EXPECT_FALSE(affine(Expr(i) % 0));
  EXPECT_FALSE(affine(min(Expr(i), Expr(j))));
  EXPECT_EQ(typed(Expr(i) * j), "i * j: i64");
  EXPECT_EQ(typed(Expr(7) / 2 + Expr(-7) / 2 + Expr(-7) % 4), "0: i64");  // 3 - 4 + 1
}

// Values wrap around where they would leave 64 bits, and indices never do.
TEST_F(ExprTest, SumsThatMightOverflowStayTrees) {
  constexpr int64_t kLarge = int64_t{1} << 61;
  EXPECT_NE((Expr(kLarge) + Expr(kLarge)).as<Index>(), nullptr);
  EXPECT_EQ((Expr(kLarge) + Expr(kLarge + 1000)).as<Index>(), nullptr);
  EXPECT_EQ((Expr(kLarge) * 4).as<Index>(), nullptr);
  EXPECT_EQ((Expr(-kLarge) - Expr(kLarge + 1000)).as<Index>(), nullptr);
}

TEST_F(ExprTest, LiteralsTakeTheTypeOfWhatStandsBeside) {
  EXPECT_EQ(typed(real + 1), "A[i] + 1.0: f32");
  EXPECT_EQ(typed(2 * real), "2.0 * A[i]: f32");
  EXPECT_EQ(typed(wide * 0.5), "D[i] * f64(0.5): f64");
  EXPECT_EQ(typed(integer + 1), "s[i] + 1: i32");
  EXPECT_EQ((integer + 1).as<Binary>()->b.type(), Type{DType::i32});
  EXPECT_EQ((byte + 200).as<Binary>()->b.as<Literal>()->integer, -56);
  EXPECT_EQ(typed(index + 1), "l[i] + 1: i64");
}

TEST_F(ExprTest, NarrowIntegersWidenBesideIndices) {
  EXPECT_EQ(typed(integer + Expr(i)), "i64(s[i]) + i: i64");
  EXPECT_EQ(typed(Expr(i) * byte), "i * i64(b[i]): i64");
  EXPECT_EQ(typed(index - integer), "l[i] - i64(s[i]): i64");
  EXPECT_EQ(typed(integer < Expr(i)), "i64(s[i]) < i: bool");
}

TEST_F(ExprTest, HalfFloatsAreWidenedToBeComputedWith) {
  EXPECT_EQ(typed(half + 1.0), "f32(H[i]) + 1.0: f32");
  EXPECT_EQ(typed(half * brain), "f32(H[i]) * f32(B[i]): f32");
  EXPECT_EQ(typed(exp(half)), "exp(f32(H[i])): f32");
  EXPECT_EQ(typed(-brain), "-f32(B[i]): f32");
  EXPECT_EQ(typed(widened(half)), "f32(H[i]): f32");
  EXPECT_EQ(widened(real).get(), real.get());
}

TEST_F(ExprTest, ComparisonsGiveTruths) {
  for (const Expr& e : {real < 1.0, real <= 1.0, real > 1.0, real >= 1.0, real == 1.0, real != 1.0})
    EXPECT_EQ(e.type(), Type{DType::boolean});
  EXPECT_EQ(typed(real > 1.0), "1.0 < A[i]: bool");
  EXPECT_EQ(typed(real >= 1.0), "1.0 <= A[i]: bool");
  EXPECT_EQ(typed(real < 1.0 || integer == 3), "A[i] < 1.0 || s[i] == 3: bool");
}

TEST_F(ExprTest, SelectsTakeOneType) {
  const Expr condition = real < 1.0;
  EXPECT_EQ(typed(select(condition, wide, 0.0)), "select(A[i] < 1.0, D[i], f64(0.0)): f64");
  EXPECT_EQ(typed(select(condition, 1, integer)), "select(A[i] < 1.0, i32(1), s[i]): i32");
  EXPECT_EQ(typed(select(condition, half, half)), "select(A[i] < 1.0, H[i], H[i]): f16");
  EXPECT_EQ(typed(select(condition, half, 0.0)), "select(A[i] < 1.0, H[i], f16(0.0)): f16");
  EXPECT_EQ(typed(select(condition, half, real)), "select(A[i] < 1.0, f32(H[i]), A[i]): f32");
  EXPECT_EQ(typed(select(condition, half, brain)), "select(A[i] < 1.0, f32(H[i]), f32(B[i])): f32");
}

TEST_F(ExprTest, CastsLeadThroughWhatIsComputedIn) {
  EXPECT_EQ(cast({DType::f32}, real).get(), real.get());
  EXPECT_EQ(typed(cast({DType::f64}, real)), "f64(A[i]): f64");
  EXPECT_EQ(typed(cast({DType::bf16}, half)), "bf16(f32(H[i])): bf16");
  EXPECT_EQ(typed(cast({DType::f16}, wide)), "f16(f32(D[i])): f16");
  EXPECT_EQ(typed(cast({DType::f64}, half)), "f64(f32(H[i])): f64");
  EXPECT_EQ(typed(cast({DType::i8}, half)), "i8(f32(H[i])): i8");
  EXPECT_EQ(typed(cast({DType::f16}, real)), "f16(A[i]): f16");
}

TEST_F(ExprTest, CastsOfInfinitiesAreLiterals) {
  const Expr infinity(std::numeric_limits<double>::infinity());
  EXPECT_NE(cast({DType::f64}, infinity).as<Literal>(), nullptr);
  EXPECT_NE(cast({DType::f64}, Expr(0.5)).as<Cast>(), nullptr);
}

TEST_F(ExprTest, NumbersStandForAllLanesOfAVector) {
  const Expr vector = broadcast(real, 8);
  EXPECT_EQ(typed(vector * 0.5), "broadcast(A[i], 8) * f32x8(0.5): f32x8");
  EXPECT_EQ(typed(0.5 * vector), "f32x8(0.5) * broadcast(A[i], 8): f32x8");
  EXPECT_EQ((vector * literal({DType::f16}, 0.5)).type(), (Type{DType::f32, 8}));
  EXPECT_EQ((literal({DType::bf16}, 0.5) - vector).type(), (Type{DType::f32, 8}));
  EXPECT_EQ(typed(call("dot2_bf16", {vector, vector, vector})).substr(0, 15), "call(dot2_bf16,");
  EXPECT_EQ(call("dot2_bf16", {vector, real}).type(), (Type{DType::f32, 8}));
}

TEST_F(ExprTest, ToAffineKeepsWhatIsNotAsAnAtom) {
  EXPECT_EQ(to_affine(Expr(i) * 2 + 1), Affine(i) * 2 + Affine(1));
  EXPECT_EQ(to_affine(literal({DType::i32}, 7)), Affine(7));
  EXPECT_EQ(to_string(to_affine(integer)), "i64(s[i])");
  EXPECT_EQ(to_string(to_affine(index * 3 + i)), to_string(to_affine(Expr(i) + 3 * index)));
  EXPECT_EQ(to_affine(-index).terms()[0].coefficient, -1);
  EXPECT_EQ(to_affine(index - index), Affine(0));
  EXPECT_EQ(to_affine(index * 4).terms()[0].coefficient, 4);
}

TEST_F(ExprTest, TensorsAreTheSameByIdentity) {
  const Tensor a("A", {2, 3}), other("A", {2, 3});
  const Tensor same = a;  // NOLINT(performance-unnecessary-copy-initialization): a copy is what this is about
  EXPECT_EQ(a, same);
  EXPECT_FALSE(a == other);
  EXPECT_EQ(a.elements(), 6);
  EXPECT_EQ(Tensor("S", {}).elements(), 1);
  EXPECT_FALSE(Tensor().defined());
  const Tensor table = Tensor::literal("T", {2}, {1, -1});
  EXPECT_EQ(table->dtype, DType::f32);
  EXPECT_EQ(table->literal, (std::vector<double>{1, -1}));
}

}  // namespace
}  // namespace lathe
