// Copies of unrolled loops.
#include "lower/loops/unroll_loops.h"

#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) { return unroll_loops(program, 1000); };

// Conditions that become decided go; buffers are fresh.
TEST(UnrollLoops, CopiesWithConstants) {
  expect_golden(kPass, R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  for i in 15 {
    unroll j in 3 {
      unroll k in 2 {
        if 4*i + j + k < 59 {
          alloc T: f32[1] thread [0] {
            store T[0] = A[i + j]
            store C[4*i + j + k] = T[0]
          }
        }
      }
    }
  }
}
)",
                R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  for i in 15 {
    alloc T: f32[1] thread [0] {
      store T[0] = A[i]
      store C[4*i] = T[0]
    }
    alloc T: f32[1] thread [0] {
      store T[0] = A[i]
      store C[4*i + 1] = T[0]
    }
    alloc T: f32[1] thread [0] {
      store T[0] = A[i + 1]
      store C[4*i + 1] = T[0]
    }
    alloc T: f32[1] thread [0] {
      store T[0] = A[i + 1]
      store C[4*i + 2] = T[0]
    }
    alloc T: f32[1] thread [0] {
      store T[0] = A[i + 2]
      store C[4*i + 2] = T[0]
    }
    if 4*i + 3 < 59 {
      alloc T: f32[1] thread [0] {
        store T[0] = A[i + 2]
        store C[4*i + 3] = T[0]
      }
    }
  }
}
)");
}

TEST(UnrollLoops, TooManyStatements) {
  expect_error(kPass, R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  unroll i in 64 {
    unroll j in 64 {
      store C[i] = A[j]
    }
  }
}
)",
               "the unrolled program has more than 1000 statements; unroll fewer or smaller loops");
}

// Fetches are copied with the loop that they stand in, one of each iteration.
TEST(UnrollLoops, Fetches) {
  expect_golden(kPass, R"(
input A: f32[64] [0]
output C: f32[8] [0]
flat
main {
  for i in 4 {
    prefetch A[i + 4]
    unroll j in 2 {
      prefetch A[16*i + 16*j + 16]
      store C[2*i + j] = A[16*i + j]
    }
  }
}
)",
                R"(
input A: f32[64] [0]
output C: f32[8] [0]
flat
main {
  for i in 4 {
    prefetch A[i + 4]
    prefetch A[16*i + 16]
    store C[2*i] = A[16*i]
    prefetch A[16*i + 32]
    store C[2*i + 1] = A[16*i + 1]
  }
}
)");
}

// A copy for which a condition fails is no code.
TEST(UnrollLoops, CopiesThatNeverRunAreLeftOut) {
  expect_golden(kPass, R"(
input A: f32[64] [0]
output C: f32[64] [0]
flat
main {
  for i in 16 {
    unroll j in 4 {
      if j < 2 {
        store C[4*i + j] = A[i + j]
      }
    }
  }
}
)",
                R"(
input A: f32[64] [0]
output C: f32[64] [0]
flat
main {
  for i in 16 {
    store C[4*i] = A[i]
    store C[4*i + 1] = A[i + 1]
  }
}
)");
}

}  // namespace
}  // namespace lathe::testing
