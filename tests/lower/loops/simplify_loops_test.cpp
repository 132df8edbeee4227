// What ranges decide.
#include "lower/loops/simplify_loops.h"

#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) { return simplify_loops(program); };

TEST(SimplifyLoops, SubstitutesSingleIterations) {
  expect_golden(kPass, R"(
input A: f32[8] [0]
output C: f32[8] [0]
main {
  for i in 8 {
    for j in 1 {
      if i + j < 9 {
        store C[i + j] = A[i + j]
      }
    }
    for k in 0 {
      store C[i + k] = 1.0
    }
    if -i < -8 {
      store C[i] = 2.0
    }
  }
}
)",
                R"(
input A: f32[8] [0]
output C: f32[8] [0]
main {
  for i in 8 {
    store C[i] = A[i]
  }
}
)");
}

TEST(SimplifyLoops, DropsExtentsThatNeverCount) {
  expect_golden(kPass, R"(
input A: f32[8] [0]
output C: f32[8] [0]
main {
  for i in 2 {
    for j in min(4, 8 - 4*i) {
      store C[4*i + j] = select(4*i + j < 8, A[4*i + j], 0.0)
    }
  }
}
)",
                R"(
input A: f32[8] [0]
output C: f32[8] [0]
main {
  for i in 2 {
    for j in 4 {
      store C[4*i + j] = A[4*i + j]
    }
  }
}
)");
}

TEST(SimplifyLoops, DropsBuffersThatNobodyReads) {
  expect_golden(kPass, R"(
input A: f32[8] [0]
output C: f32[8] [0]
main {
  for i in 8 {
    alloc T: f32[1] thread [0] {
      store T[0] = 0.0
      store T[0] = T[0] + A[i]
      store C[i] = A[i]
    }
  }
}
)",
                R"(
input A: f32[8] [0]
output C: f32[8] [0]
main {
  for i in 8 {
    store C[i] = A[i]
  }
}
)");
}

// Fetches lose single iterations, too; those of a buffer that goes go with it.
TEST(SimplifyLoops, Fetches) {
  expect_golden(kPass, R"(
input A: f32[32] [0]
output C: f32[4] [0]
main {
  alloc T: f32[4] thread [0] {
    for i in 4 {
      for k in 1 {
        prefetch A[8*i + k + 8]
        prefetch T[i + 1]
        store T[i] = A[8*i + k]
        store C[i + k] = A[i]
      }
    }
  }
}
)",
                R"(
input A: f32[32] [0]
output C: f32[4] [0]
main {
  for i in 4 {
    prefetch A[8*i + 8]
    store C[i] = A[i]
  }
}
)");
}

// A loop that has no iteration by one of its bounds has none, whatever the others say.
TEST(SimplifyLoops, TheLeastBoundMayBeZero) {
  expect_golden(kPass, R"(
output C: f32[8] [0]
main {
  for i in 4 {
    for j in min(0, 8 - 2*i) {
      store C[i + j] = 1.0
    }
    for j in min(4, 2 - i) {
      store C[i + j] = 2.0
    }
  }
}
)",
                R"(
output C: f32[8] [0]
main {
  for i in 4 {
    for j in min(4, -i + 2) {
      store C[i + j] = 2.0
    }
  }
}
)");
}

}  // namespace
}  // namespace lathe::testing
