// The neutral conditions that skip_zeros writes, and where it writes none. That lowering keeps the results:
// skip_zeros_test.cpp.
#include "schedule/golden.h"

namespace lathe::testing {
namespace {

// A window over an image of four with a border of one.
Task padded() {
  return task_of(
      "P[x:6] = select(x >= 1 && x < 5, A[x - 1], 0.0)\n"
      "O[x:4] = sum(k:3) P[x + k] * W[k]");
}

// The border's conditions, of a select in the product itself.
TEST(SkipZeros, TheBordersConditions) {
  expect_steps(padded(), "inline P; skip_zeros O", R"(
input A: f32[4] [0]
input W: f32[3] [0]
output O: f32[4] [0]
main {
  for x in 4 {
    for k in 3 {
      block O where -x - k + 1 < 1 neutral, x + k - 5 < 0 neutral {
        x: 4 = x
        reduce k: 3 = k
        O[x] init sum= select(1 <= x + k && x + k < 5, A[x + k - 1], 0.0) * W[k]
      }
    }
  }
}
)");
}

// The zeros are found where another block writes them.
TEST(SkipZeros, ZerosOfAnotherBlock) {
  expect_steps(padded(), "skip_zeros O", R"(
input A: f32[4] [0]
input W: f32[3] [0]
output O: f32[4] [0]
main {
  alloc P: f32[6] workspace [0] {
    for x in 6 {
      block P {
        x: 6 = x
        P[x] = select(1 <= x && x < 5, A[x - 1], 0.0)
      }
    }
    for x in 4 {
      for k in 3 {
        block O where -x - k + 1 < 1 neutral, x + k - 5 < 0 neutral {
          x: 4 = x
          reduce k: 3 = k
          O[x] init sum= P[x + k] * W[k]
        }
      }
    }
  }
}
)");
}

// Tiles: over the loops as they are then, beside the condition of the imperfect tile.
TEST(SkipZeros, ImperfectTiles) {
  expect_steps(padded(), "inline P; split O x [3]; reorder O x.0 k x.1; skip_zeros O", R"(
input A: f32[4] [0]
input W: f32[3] [0]
output O: f32[4] [0]
main {
  for x.0 in 2 {
    for k in 3 {
      for x.1 in 3 {
        block O where 3*x.0 + x.1 < 4 axis 0, -3*x.0 - k - x.1 + 1 < 1 neutral, 3*x.0 + k + x.1 - 5 < 0 neutral {
          x: 4 = 3*x.0 + x.1
          reduce k: 3 = k
          O[x] init sum= select(1 <= x + k && x + k < 5, A[x + k - 1], 0.0) * W[k]
        }
      }
    }
  }
}
)");
}

// A condition on an unrolled or vector loop could not be tested around it; the other axis' is left.
TEST(SkipZeros, LoopsThatNothingTests) {
  expect_steps(
      task_of("O[y:3, x:3] = sum(k:2) select(y + k < 3, select(x + k < 3, A[y + k, x + k], 0.0), 0.0)"),
      "vectorize O x; skip_zeros O", R"(
input A: f32[3, 3] [0][1]
output O: f32[3, 3] [0][1]
main {
  for y in 3 {
    vector x in 3 {
      for k in 2 {
        block O where y + k - 3 < 0 neutral {
          y: 3 = y
          x: 3 = x
          reduce k: 2 = k
          O[y, x] init sum= select(y + k < 3, select(x + k < 3, A[y + k, x + k], 0.0), 0.0)
        }
      }
    }
  }
}
)");
}

// Taken twice it says nothing more; without zeros it says nothing.
TEST(SkipZeros, NothingNew) {
  const Program once = scheduled(padded(), "inline P; skip_zeros O");
  expect_steps(once, "skip_zeros O", "\n" + to_string(once));
  const Task product = task_of("O[i:4] = sum(r:3) A[i, r] * B[r]");
  expect_steps(product, "skip_zeros O", "\n" + to_string(naive_program(product)));
}

TEST(SkipZeros, OtherBlocksAreRefused) {
  expect_illegal(padded(), "skip_zeros X", "there is no block 'X'");
  expect_illegal(padded(), "skip_zeros P", "block 'P' adds nothing up");
  // A largest element may be the zero.
  expect_illegal(task_of("M[x:4] = max(k:3) select(x + k < 5, A[x + k], 0.0)"), "skip_zeros M",
                 "block 'M' adds nothing up");
}

}  // namespace
}  // namespace lathe::testing
