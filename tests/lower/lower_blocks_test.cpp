// Blocks as stores.
#include "lower/lower_blocks.h"

#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) { return lower_blocks(program); };

TEST(LowerBlocks, BindsAxesAndKeepsTheTail) {
  expect_golden(kPass, R"(
input A: f32[10, 6] [0][1]
output C: f32[10] [0]
main {
  for i.0 in 3 {
    for i.1 in 4 {
      for r in 6 {
        block C where 4*i.0 + i.1 < 10 axis 0, r < 6 axis 1 {
          i: 10 = 4*i.0 + i.1 peel
          reduce r: 6 = r
          C[i] max= A[i, r] * 2.0
        }
      }
    }
  }
}
)",
                R"(
input A: f32[10, 6] [0][1]
output C: f32[10] [0]
main {
  for i.0 in 3 {
    for i.1 in 4 {
      for r in 6 {
        if 4*i.0 + i.1 < 10 axis 0 peel {
          store C[4*i.0 + i.1] = max(C[4*i.0 + i.1], A[4*i.0 + i.1, r] * 2.0)
        }
      }
    }
  }
}
)");
}

}  // namespace
}  // namespace lathe::testing
