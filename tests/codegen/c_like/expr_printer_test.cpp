#include "codegen/c_like/expr_printer.h"

#include <gmock/gmock.h>

#include "codegen/c_like/dialect_case.h"
#include "codegen/lowered_builder.h"

namespace lathe::testing {
namespace {

using c_like::Code;
using c_like::ExprPrinter;
using c_like::Names;

constexpr Type kF32{DType::f32, 1};
constexpr Type kI32{DType::i32, 1};

class ExprPrinterTest : public ::testing::Test {
 protected:
  // The variables that the value needs, a line each, and the value.
  std::string printed(const Expr& e, const std::string& lane = "") {
    Code code;
    printer.begin_statement({e}, lane);
    const std::string value = printer.print(e, code);
    return code.text() + value;
  }
  std::string printed(const Affine& a) {
    Code code;
    printer.begin_statement({}, "");
    return printer.print(a, code);
  }
  Expr at(const Tensor& tensor, const Affine& offset) { return load(tensor, {offset}); }

  Names names{{}};
  ExprPrinter printer{kTestDialect, names};
  Var i{"i"}, j{"j"};
  Tensor a{"A", {64}}, b{"B", {64}}, n{"N", {64}, DType::i32}, u{"U", {64}, DType::u8},
      h{"H", {64}, DType::f16};
};

TEST_F(ExprPrinterTest, AffineForms) {
  printer.ranges().set(i, {0, 99});
  EXPECT_EQ(printed(Affine(0)), "0");
  EXPECT_EQ(printed(Affine(i)), "i");
  EXPECT_EQ(printed(Affine(i) * -3), "-3 * i");
  EXPECT_EQ(printed(Affine(i) * 2 + j - 1), "(2 * i + j + -1)");
  EXPECT_EQ(printed(Affine(int64_t{1} << 40)), "1099511627776LL");
  EXPECT_EQ(printed(Affine(INT32_MIN)), "-2147483648");
  EXPECT_EQ(printed(Affine(INT64_MIN)), "(-9223372036854775807LL - 1)");
}

// Where the dividend may be negative C rounds the other way.
TEST_F(ExprPrinterTest, DivisionsRoundDown) {
  printer.ranges().set(i, {0, 99});
  printer.ranges().set(j, {-1, 99});
  EXPECT_EQ(printed(floor_div(i, 8)), "(i / 8)");
  EXPECT_EQ(printed(modulo(i, 8) * 4), "4 * (i % 8)");
  EXPECT_EQ(printed(floor_div(j, 8)), "lathe_div_i64(j, 8)");
  EXPECT_EQ(printed(modulo(j, 8)), "lathe_mod_i64(j, 8)");
  EXPECT_EQ(printed(floor_div(Affine(j) + 1, 8)), "((j + 1) / 8)");
  EXPECT_EQ(printed(lathe::opaque(cast({DType::i64, 1}, at(n, 0)))), "(int64_t)((i64)N[0])");
}

TEST_F(ExprPrinterTest, OperatorsAndFunctions) {
  const Expr x = at(a, 0), y = at(b, 1);
  EXPECT_EQ(printed(x + y), "(A[0] + B[1])");
  EXPECT_EQ(printed(x / y), "(A[0] / B[1])");
  EXPECT_EQ(printed(x < y), "(A[0] < B[1])");
  EXPECT_EQ(printed(-x), "(-A[0])");
  EXPECT_EQ(printed(unary(UnaryOp::logical_not, x == y)), "(!(A[0] == B[1]))");
  EXPECT_EQ(printed(sqrt(x)), "lathe_sqrt_f32(A[0])");
  EXPECT_EQ(printed(truncate(x)), "lathe_truncate_f32(A[0])");
  EXPECT_EQ(printed(unary(UnaryOp::pow2, x)), "lathe_pow2_f32(A[0])");
  EXPECT_EQ(printed(copy_sign(x, y)), "lathe_copy_sign_f32(A[0], B[1])");
}

TEST_F(ExprPrinterTest, IntegersGoThroughFunctionsThatWrapAround) {
  const Expr x = at(n, 0), y = at(n, 1);
  EXPECT_EQ(printed(x + y), "lathe_add_i32(N[0], N[1])");
  EXPECT_EQ(printed(-x), "lathe_neg_i32(N[0])");
  EXPECT_EQ(printed(x % y), "lathe_mod_i32(N[0], N[1])");
  EXPECT_EQ(printed(x <= y), "(N[0] <= N[1])");
  EXPECT_EQ(printed(floor(x)), "N[0]") << "integers are whole";
  EXPECT_EQ(printed(at(u, 0) + at(u, 1)), "lathe_add_u8(U[0], U[1])");
}

TEST_F(ExprPrinterTest, MultiplyAddsAreOneOperation) {
  const Expr x = at(a, 0), y = at(b, 1), z = at(b, 2);
  EXPECT_EQ(printed(x * y + z), "lathe_fma_f32(A[0], B[1], B[2])");
  EXPECT_EQ(printed(z - x * y), "lathe_fma_f32(-A[0], B[1], B[2])");
  EXPECT_EQ(printed(x * y - z), "lathe_fma_f32(A[0], B[1], -B[2])");
}

// The literal comes first: the function gives its first operand where it is NaN only.
TEST_F(ExprPrinterTest, ExtremaTakeTheLiteralFirst) {
  EXPECT_EQ(printed(max(at(a, 0), literal(kF32, 0))), "lathe_max_f32(0:f32, A[0])");
  EXPECT_EQ(printed(min(literal(kF32, 6), at(a, 0))), "lathe_min_f32(6:f32, A[0])");
  EXPECT_EQ(printed(min(at(a, 0), at(b, 0))), "lathe_min_f32(A[0], B[0])");
}

TEST_F(ExprPrinterTest, Casts) {
  EXPECT_EQ(printed(cast({DType::f64, 1}, at(a, 0))), "((f64)A[0])");
  EXPECT_EQ(printed(cast(kI32, at(a, 0))), "lathe_i32_of_f32(A[0])");
  EXPECT_EQ(printed(cast(kF32, at(n, 0))), "((f32)N[0])");
  EXPECT_EQ(printed(cast(kI32, at(u, 0))), "((i32)U[0])");
  EXPECT_EQ(printed(cast(kF32, at(h, 0))), "lathe_f32_of_f16(H[0])");
  EXPECT_EQ(printed(cast({DType::bf16, 1}, at(a, 0))), "lathe_bf16_of_f32(A[0])");
  EXPECT_EQ(printed(cast({DType::boolean, 1}, at(a, 0))), "(A[0] != 0)");
}

TEST_F(ExprPrinterTest, LanesMoveWithTheStride) {
  EXPECT_EQ(printed(vector_load(a, Affine(i) * 8, 8), "l"), "A[8 * i + l]");
  EXPECT_EQ(printed(vector_load(a, Affine(i) * 8, 8, -2), "l"), "A[8 * i + -2 * l]");
  EXPECT_EQ(printed(broadcast(at(a, i), 8), "l"), "A[i]");
  EXPECT_EQ(printed(ramp(Affine(i), 8, 3), "l"), "(i + 3 * l)");
}

TEST_F(ExprPrinterTest, WhatIsOffIsZeroAndNotRead) {
  const Expr masked = vector_load(a, 0, 8, 1, lanes_below(Affine(i), 5, 8));
  EXPECT_EQ(printed(masked, "l"), "(((i + 1 * l) < 5) ? A[0 + l] : (f32)0)");
}

TEST_F(ExprPrinterTest, WhatIsSharedBecomesAVariable) {
  const Expr product = at(a, 0) * at(b, 0);
  EXPECT_EQ(printed(sqrt(product) / product),
            "const f32 t = (A[0] * B[0]);\n"
            "(lathe_sqrt_f32(t) / t)");
}

TEST_F(ExprPrinterTest, LiteralsAndVariablesDoNot) {
  const Expr two = literal(kF32, 2);
  EXPECT_EQ(printed((two + at(a, 0)) * (at(b, 0) - two)), "((2:f32 + A[0]) * (B[0] - 2:f32))");
}

TEST_F(ExprPrinterTest, OnlyTheSideThatIsTakenIsEvaluated) {
  const Expr inside = Expr(i) < Expr(5);
  EXPECT_EQ(printed(select(inside, at(a, i), literal(kF32, 0))), "((i < 5) ? A[i] : 0:f32)");
  EXPECT_EQ(printed(inside && (at(a, i) < at(b, i))), "((i < 5) ? (A[i] < B[i]) : 0)");
  EXPECT_EQ(printed(inside || (at(a, i) < at(b, i))), "((i < 5) ? 1 : (A[i] < B[i]))");
}

// Variables that a side needs stay on that side.
TEST_F(ExprPrinterTest, ASideWithVariablesIsAStatement) {
  const Expr root = sqrt(at(a, i));
  EXPECT_EQ(printed(select(Expr(i) < Expr(5), root * root, literal(kF32, 0))),
            "f32 t_2;\n"
            "if ((i < 5)) {\n"
            "  const f32 t = lathe_sqrt_f32(A[i]);\n"
            "  t_2 = (t * t);\n"
            "} else {\n"
            "  t_2 = 0:f32;\n"
            "}\n"
            "t_2");
}

TEST_F(ExprPrinterTest, AVariableOfOneSideIsNotKnownOnTheOther) {
  const Expr root = sqrt(at(a, i));
  const std::string text = printed(select(Expr(i) < Expr(5), root * root, root + root));
  EXPECT_THAT(text, ::testing::HasSubstr("const f32 t = lathe_sqrt_f32(A[i]);"));
  EXPECT_THAT(text, ::testing::HasSubstr("const f32 t_2 = lathe_sqrt_f32(A[i]);"));
}

TEST_F(ExprPrinterTest, IntrinsicsAddUpTheirGroup) {
  const Tensor s("S", {64}, DType::i8);
  const Expr value = call("dot4_u8_i8", {vector_load(n, 0, 2), vector_load(u, 0, 4), vector_load(s, 0, 8)});
  EXPECT_EQ(printed(value, "l"),
            "lathe_add_i32(lathe_add_i32(lathe_add_i32(lathe_add_i32(N[0 + l], "
            "lathe_mul_i32(((i32)U[0 + 0]), ((i32)S[0 + (4 * l + 0)]))), "
            "lathe_mul_i32(((i32)U[0 + 1]), ((i32)S[0 + (4 * l + 1)]))), "
            "lathe_mul_i32(((i32)U[0 + 2]), ((i32)S[0 + (4 * l + 2)]))), "
            "lathe_mul_i32(((i32)U[0 + 3]), ((i32)S[0 + (4 * l + 3)])))");
}

}  // namespace
}  // namespace lathe::testing
