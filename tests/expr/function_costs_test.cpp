// Which functions last long beside arithmetic.
#include "expr/function_costs.h"

#include <gtest/gtest.h>

#include "expr/parse.h"

namespace lathe::testing {
namespace {

double multiply_adds(const std::string& body) {
  return multiply_adds_of_point(parse_dag("C[i:9] = " + body).value().computes[0].body);
}

TEST(FunctionCosts, ArithmeticIsFree) {
  EXPECT_EQ(multiply_adds("A[i] * 2.0 + B[i]"), 1);
  EXPECT_EQ(multiply_adds("A[i] / 2.0"), 1);
  EXPECT_EQ(multiply_adds("pow(A[i], 2.0)"), 1);
}

TEST(FunctionCosts, EachFunctionCounts) {
  EXPECT_EQ(multiply_adds("exp(A[i])"), 41);
  EXPECT_EQ(multiply_adds("exp(A[i]) + exp(B[i])"), 81);
  EXPECT_GT(multiply_adds("sin(A[i])"), multiply_adds("tanh(A[i])"));
  EXPECT_GT(multiply_adds("pow(A[i], B[i])"), multiply_adds("sin(A[i])"));
  EXPECT_GT(multiply_adds("A[i] / B[i]"), multiply_adds("A[i] * B[i]"));
}

TEST(FunctionCosts, ConstantExponentsAreProductsRootsOrAnyPower) {
  EXPECT_GT(multiply_adds("pow(A[i], 7.0)"), multiply_adds("pow(A[i], 3.0)"));
  EXPECT_EQ(multiply_adds("pow(A[i], 0.5)"), multiply_adds("pow(A[i], -0.5)"));
  EXPECT_EQ(multiply_adds("pow(A[i], 2.7)"), multiply_adds("pow(A[i], B[i])"));
}

}  // namespace
}  // namespace lathe::testing
