// The comparisons that selects decide by, and what is cut there.
#include "lower/loops/select_conditions.h"

#include <string>

#include "lower/golden.h"
#include "lower/loops/peel_tails.h"

namespace lathe::testing {
namespace {

std::string words(const Expr& value) {
  std::string text;
  for (const Conjunct& conjunct : select_conditions(value))
    text += to_string(conjunct.value) + " < " + std::to_string(conjunct.bound) + "; ";
  return text;
}

TEST(SelectConditions, EachComparisonAndItsNegation) {
  const Var x("x");
  const Var y("y");
  const Tensor a("A", {8}, DType::f32);
  const Expr inside = Expr(1) <= Expr(x) && Expr(x) < Expr(Affine(y) + 5);
  EXPECT_EQ(words(select(inside, a(x), 0.0)), "-x + 1 < 1; x - 1 < 0; x - y - 5 < 0; -x + y + 5 < 1; ");
}

TEST(SelectConditions, WhatIsReadDecidesNothing) {
  const Var x("x");
  const Tensor a("A", {8}, DType::f32);
  EXPECT_EQ(words(select(a(x) < Expr(0.5), a(x), 0.0)), "");
  EXPECT_EQ(words(a(x) * 2.0), "");
}

// Only the border of what is padded has conditions left: none.
TEST(SelectConditions, LoopsAreCutThere) {
  expect_golden(peel_tails, R"(
input A: f32[10] [0]
output C: f32[16] [0]
main {
  for i in 16 {
    store C[i] = select(3 <= i && i < 13, A[i - 3], 0.0)
  }
}
)",
                R"(
input A: f32[10] [0]
output C: f32[16] [0]
main {
  for i in 3 {
    store C[i] = 0.0
  }
  for i in 10 {
    store C[i + 3] = A[i]
  }
  for i in 3 {
    store C[i + 13] = 0.0
  }
}
)");
}

// Vectors across the border keep their condition, in an iteration of their own.
TEST(SelectConditions, VectorsAcrossKeepTheirs) {
  expect_golden(peel_tails, R"(
input A: f32[31] [0]
output C: f32[32] [0]
main {
  for i.0 in 4 {
    vector i.1 in 8 {
      store C[8*i.0 + i.1] = select(1 <= 8*i.0 + i.1, A[8*i.0 + i.1 - 1], 0.0)
    }
  }
}
)",
                R"(
input A: f32[31] [0]
output C: f32[32] [0]
main {
  vector i.1 in 8 {
    store C[i.1] = select(1 <= i.1, A[i.1 - 1], 0.0)
  }
  for i.0 in 3 {
    vector i.1 in 8 {
      store C[8*i.0 + i.1 + 8] = A[8*i.0 + i.1 + 7]
    }
  }
}
)");
}

}  // namespace
}  // namespace lathe::testing
