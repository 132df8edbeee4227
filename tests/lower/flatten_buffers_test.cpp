// Offsets.
#include "lower/flatten_buffers.h"

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

}  // namespace
}  // namespace lathe::testing
