// Offsets.
#include "lower/buffers/flatten_buffers.h"

#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) { return flatten_buffers(program); };

TEST(FlattenBuffers, LayoutsBecomeOffsets) {
  expect_golden(kPass, R"(
input A: f32[20, 30] [1/16][0][1%16]
output C: f32[20, 30] [0][1]
main {
  for i in 20 {
    for j in 2 {
      for l in 15 {
        store C[i, 15*j + l] = A[i, l] + A[i, 16*j + 3]
      }
    }
  }
}
)",
                R"(
input A: f32[20, 30] [1/16][0][1%16]
output C: f32[20, 30] [0][1]
flat
main {
  for i in 20 {
    for j in 2 {
      for l in 15 {
        store C[30*i + 15*j + l] = A[16*i + l] + A[16*i + 320*j + 3]
      }
    }
  }
}
)");
}

// Rows that lie apart, dimensions in another order, and a middle part; fetches and what selects choose alike.
TEST(FlattenBuffers, EveryKindOfLayout) {
  expect_golden(kPass, R"(
input A: f32[6, 5] [0][1+3]
output C: f32[6, 5] [0][1]
main {
  alloc T: f32[16, 2] thread [1][0/8][0%2][0/2%4] {
    for i in 6 {
      for j in 5 {
        prefetch A[i + 1, j]
        store T[i, 1] = A[i, j]
        store C[i, j] = select(j < 4, T[i, 1], A[i, 0])
      }
    }
  }
}
)",
                R"(
input A: f32[6, 5] [0][1+3]
output C: f32[6, 5] [0][1]
flat
main {
  alloc T: f32[16, 2] thread [1][0/8][0%2][0/2%4] {
    for i in 6 {
      for j in 5 {
        prefetch A[8*i + j + 8]
        store T[i/2 + 4*(i%2) + 16] = A[8*i + j]
        store C[5*i + j] = select(j < 4, T[i/2 + 4*(i%2) + 16], A[8*i])
      }
    }
  }
}
)");
}

}  // namespace
}  // namespace lathe::testing
