// Arithmetic with literals.
#include "lower/arithmetic/fold_arithmetic.h"

#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) { return fold_arithmetic(program); };

TEST(FoldArithmetic, Literals) {
  expect_golden(kPass, R"(
input A: f32[4] [0]
table G: f32[2, 2] = {0.0, 1.0, -1.0, 0.5}
output C: f32[4] [0]
flat
main {
  store C[0] = G[0] * A[0] + G[1] * A[1]
  store C[1] = A[0] + G[2] * A[1]
  store C[2] = G[3] * A[0] - G[2] * A[1]
  store C[3] = C[3] + G[0] * A[2]
  store C[0] = 0.0 - A[3]
  for i in 4 {
    store C[i] = select(i < 4, A[i] * 1.0, 0.0) + 0.0
  }
}
)",
                R"(
input A: f32[4] [0]
output C: f32[4] [0]
flat
main {
  store C[0] = A[1]
  store C[1] = A[0] - A[1]
  store C[2] = 0.5 * A[0] + A[1]
  store C[0] = 0.0 - A[3]
  for i in 4 {
    store C[i] = A[i]
  }
}
)");
}

TEST(FoldArithmetic, Bits) {
  expect_golden(kPass, R"(
input A: u8[4] [0]
output C: u8[4] [0]
flat
main {
  store C[0] = bit_and(A[0], u8(255)) + bit_or(u8(0), A[1])
  store C[1] = bit_and(u8(0), A[1])
  store C[2] = shift_left(u8(3), u8(2)) + shift_right(A[2], u8(0))
  store C[3] = bit_xor(A[3], u8(255)) + bit_or(A[3], u8(255))
  store C[0] = shift_left(u8(0), A[0])
}
)",
                R"(
input A: u8[4] [0]
output C: u8[4] [0]
flat
main {
  store C[0] = A[0] + A[1]
  store C[1] = u8(0)
  store C[2] = u8(12) + A[2]
  store C[3] = bit_xor(A[3], u8(255)) + u8(255)
  store C[0] = shift_left(u8(0), A[0])
}
)");
}

TEST(FoldArithmetic, Masks) {
  expect_golden(kPass, R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  for i in 4 {
    store C[8*i; 8 by 1 if ramp(8*i, 1, 8) < broadcast(64, 8)] = A[8*i; 8 by 1 if ramp(8*i, 1, 8) < broadcast(32, 8)]
    store C[8*i; 8 by 1 if ramp(8*i + 80, 1, 8) < broadcast(64, 8)] = broadcast(0.0, 8)
  }
}
)",
                R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  for i in 4 {
    store C[8*i; 8 by 1] = A[8*i; 8 by 1]
  }
}
)");
}

// Quotients are compared by what is divided: vectors can do that, and loops be cut there.
TEST(FoldArithmetic, ComparesWithoutDividing) {
  expect_golden(kPass, R"(
input A: f32[24] [0]
output C: f32[24] [0]
flat
main {
  for i in 24 {
    store C[i] = select(1 <= i/3 && i/3 + 2 < 8, A[i], 0.0)
    store C[i] = select(2 < i/3 && i/3 <= 5, A[i], 1.0)
    store C[i] = select(i/3 < 9 && 0 <= i/3, A[i], 2.0)
  }
}
)",
                R"(
input A: f32[24] [0]
output C: f32[24] [0]
flat
main {
  for i in 24 {
    store C[i] = select(3 <= i && i < 18, A[i], 0.0)
    store C[i] = select(9 <= i && i < 18, A[i], 1.0)
    store C[i] = A[i]
  }
}
)");
}

// Literals of each floating-point type are rounded to it before and after: 2048 is the last whole number that
// f16 tells from the next.
TEST(FoldArithmetic, LiteralsOfEachType) {
  expect_golden(kPass, R"(
output C: f16[4] [0]
output D: f32[4] [0]
output E: f64[4] [0]
flat
main {
  store C[0] = f16(2049.0)
  store D[0] = 16777216.0 + 1.0 + 1.0
  store D[1] = f32(3) * 0.1
  store D[2] = f32(f64(0.1))
  store E[0] = f64(0.1) + f64(16777217)
  store E[1] = f64(0.5) * f64(0.5)
}
)",
                R"(
output C: f16[4] [0]
output D: f32[4] [0]
output E: f64[4] [0]
flat
main {
  store C[0] = f16(2048.0)
  store D[0] = 16777216.0
  store D[1] = 0.30000001192092896
  store D[2] = 0.10000000149011612
  store E[0] = f64(16777217.1)
  store E[1] = f64(0.25)
}
)");
}

// Signs meet, but for the sign of a zero; what is chosen by a truth is taken, of `and`, `or` and `not`.
TEST(FoldArithmetic, SignsAndTruths) {
  expect_golden(kPass, R"(
input A: f32[4] [0]
output C: f32[10] [0]
flat
main {
  for i in 4 {
    store C[0] = A[0] - -A[1]
    store C[1] = -A[0] + A[1]
    store C[2] = -(A[0] - A[1])
    store C[3] = A[0] / 1.0
    store C[4] = select(i < 4 || A[0] < 0.5, A[1], A[2])
    store C[5] = select(A[0] < 0.5 || i > 4, A[1], A[2])
    store C[6] = select(!(i < 4) || !(i > 4) && A[0] < 0.5, A[1], A[2])
    store C[7] = select(i == 5 || i != 5 && i >= 0, A[1], A[2])
    store C[8] = 1.0 / -(A[i] - A[i])
    store C[9] = -1.0 * (A[0] - A[1])
  }
}
)",
                R"(
input A: f32[4] [0]
output C: f32[10] [0]
flat
main {
  for i in 4 {
    store C[0] = A[0] + A[1]
    store C[1] = A[1] - A[0]
    store C[2] = -(A[0] - A[1])
    store C[3] = A[0]
    store C[4] = A[1]
    store C[5] = select(A[0] < 0.5, A[1], A[2])
    store C[6] = select(A[0] < 0.5, A[1], A[2])
    store C[7] = A[1]
    store C[8] = 1.0 / -(A[i] - A[i])
    store C[9] = A[1] - A[0]
  }
}
)");
}

}  // namespace
}  // namespace lathe::testing
