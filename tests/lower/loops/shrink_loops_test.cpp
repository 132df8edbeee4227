// tail=bound.
#include "lower/loops/shrink_loops.h"

#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) { return shrink_loops(program); };

TEST(ShrinkLoops, BoundsBecomeExtents) {
  expect_golden(kPass, R"(
input A: f32[999] [0]
output C: f32[1] [0]
main {
  for o in 4 {
    for r in 256 {
      if 256*o + r < 999 bound {
        store C[0] = C[0] + A[256*o + r]
      }
    }
  }
}
)",
                R"(
input A: f32[999] [0]
output C: f32[1] [0]
main {
  for o in 4 {
    for r in min(256, -256*o + 999) {
      store C[0] = C[0] + A[256*o + r]
    }
  }
}
)");
}

TEST(ShrinkLoops, UnrolledLoopsAreLeftToPeeling) {
  expect_golden(kPass, R"(
input A: f32[999] [0]
output C: f32[1] [0]
main {
  for o in 250 {
    unroll r in 4 {
      if 4*o + r < 999 bound {
        store C[0] = C[0] + A[4*o + r]
      }
    }
  }
}
)",
                R"(
input A: f32[999] [0]
output C: f32[1] [0]
main {
  for o in 250 {
    unroll r in 4 {
      if 4*o + r < 999 peel {
        store C[0] = C[0] + A[4*o + r]
      }
    }
  }
}
)");
}

// A loop whose body the bound does not guard as a whole keeps its extent.
TEST(ShrinkLoops, SiblingsStay) {
  expect_golden(kPass, R"(
input A: f32[10] [0]
output C: f32[10] [0]
main {
  for i in 12 {
    if i < 10 bound {
      store C[i] = 0.0
    }
    store C[0] = 1.0
  }
}
)",
                R"(
input A: f32[10] [0]
output C: f32[10] [0]
main {
  for i in 12 {
    if i < 10 bound {
      store C[i] = 0.0
    }
    store C[0] = 1.0
  }
}
)");
}

}  // namespace
}  // namespace lathe::testing
