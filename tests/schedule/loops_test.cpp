// split and fuse: loops change, the blocks' bindings follow. What is common to all steps on loops.
// Their order and annotations: loops_order_test.cpp.
#include "schedule/golden.h"

namespace lathe::testing {
namespace {

Task doubled() { return task_of("B[i:10] = A[i] * 2.0"); }
Task product() { return task_of("C[i:4, j:6] = sum(r:5) A[i, r] * B[r, j]"); }
Task chain() { return task_of("T[i:4, j:6] = A[i, j] + 1.0\nO[i:4, j:6] = T[i, j] * 2.0"); }

// Factors that divide the extent leave no condition.
TEST(Split, WholeTiles) {
  expect_steps(doubled(), "split B i [5]", R"(
input A: f32[10] [0]
output B: f32[10] [0]
main {
  for i.0 in 2 {
    for i.1 in 5 {
      block B {
        i: 10 = 5*i.0 + i.1
        B[i] = A[i] * 2.0
      }
    }
  }
}
)");
}

// The outer extent is the ceiling, and the block guards the axis that the loop drove.
TEST(Split, AnImperfectTileIsGuarded) {
  expect_steps(doubled(), "split B i [4]", R"(
input A: f32[10] [0]
output B: f32[10] [0]
main {
  for i.0 in 3 {
    for i.1 in 4 {
      block B where 4*i.0 + i.1 < 10 axis 0 {
        i: 10 = 4*i.0 + i.1
        B[i] = A[i] * 2.0
      }
    }
  }
}
)");
}

// Several factors make one condition, on the sum.
TEST(Split, SeveralFactors) {
  expect_steps(doubled(), "split B i [2 3]", R"(
input A: f32[10] [0]
output B: f32[10] [0]
main {
  for i.0 in 2 {
    for i.1 in 2 {
      for i.2 in 3 {
        block B where 6*i.0 + 3*i.1 + i.2 < 10 axis 0 {
          i: 10 = 6*i.0 + 3*i.1 + i.2
          B[i] = A[i] * 2.0
        }
      }
    }
  }
}
)");
}

// Each imperfect split adds a condition of its own.
TEST(Split, ATileIsSplitAgain) {
  expect_steps(doubled(), "split B i [4]; split B i.1 [3]", R"(
input A: f32[10] [0]
output B: f32[10] [0]
main {
  for i.0 in 3 {
    for i.1.0 in 2 {
      for i.1.1 in 3 {
        block B where 4*i.0 + 3*i.1.0 + i.1.1 < 10 axis 0, 3*i.1.0 + i.1.1 < 4 axis 0 {
          i: 10 = 4*i.0 + 3*i.1.0 + i.1.1
          B[i] = A[i] * 2.0
        }
      }
    }
  }
}
)");
}

// A tile beyond the whole axis, and tiles of one.
TEST(Split, TilesAtTheBounds) {
  expect_steps(doubled(), "split B i [16]; split B i.1 [1]", R"(
input A: f32[10] [0]
output B: f32[10] [0]
main {
  for i.0 in 1 {
    for i.1.0 in 16 {
      for i.1.1 in 1 {
        block B where 16*i.0 + i.1.0 + i.1.1 < 10 axis 0 {
          i: 10 = 16*i.0 + i.1.0 + i.1.1
          B[i] = A[i] * 2.0
        }
      }
    }
  }
}
)");
}

// The condition on a reduce axis names that axis.
TEST(Split, AReduceLoop) {
  expect_steps(product(), "split C r [2]", R"(
input A: f32[4, 5] [0][1]
input B: f32[5, 6] [0][1]
output C: f32[4, 6] [0][1]
main {
  for i in 4 {
    for j in 6 {
      for r.0 in 3 {
        for r.1 in 2 {
          block C where 2*r.0 + r.1 < 5 axis 2 {
            i: 4 = i
            j: 6 = j
            reduce r: 5 = 2*r.0 + r.1
            C[i, j] init sum= A[i, r] * B[r, j]
          }
        }
      }
    }
  }
}
)");
}

// All blocks below the loop are guarded, each on the axis that the loop drives there.
TEST(Split, ALoopOverTwoBlocks) {
  expect_steps(chain(), "compute_at T O i scope=thread; split O i [3]", R"(
input A: f32[4, 6] [0][1]
output O: f32[4, 6] [0][1]
main {
  for i.0 in 2 {
    for i.1 in 3 {
      alloc T: f32[4, 6] thread [0][1] {
        for i in 1 {
          for j in 6 {
            block T where 3*i.0 + i.1 < 4 axis 0 {
              i: 4 = 3*i.0 + i.1
              j: 6 = j
              T[i, j] = A[i, j] + 1.0
            }
          }
        }
        for j in 6 {
          block O where 3*i.0 + i.1 < 4 axis 0 {
            i: 4 = 3*i.0 + i.1
            j: 6 = j
            O[i, j] = T[i, j] * 2.0
          }
        }
      }
    }
  }
}
)");
}

// A loop of a block in `prepare`.
TEST(Split, InPrepare) {
  expect_steps(task_of("T[i:4] = W[i] + 1.0\nO[i:4] = T[i] * A[i]", {"W"}), "prepare T; split T i [2]",
               R"(
constant W: f32[4] [0]
input A: f32[4] [0]
output O: f32[4] [0]
prepared T: f32[4] [0]
prepare {
  for i.0 in 2 {
    for i.1 in 2 {
      block T {
        i: 4 = 2*i.0 + i.1
        T[i] = W[i] + 1.0
      }
    }
  }
}
main {
  for i in 4 {
    block O {
      i: 4 = i
      O[i] = T[i] * A[i]
    }
  }
}
)");
}

TEST(Split, Refused) {
  expect_illegal(doubled(), "split X i [2]", "there is no block 'X'");
  expect_illegal(product(), "split C k [2]", "block 'C' has no loop 'k'; its loops are i, j, r");
  expect_illegal(doubled(), "vectorize B i; split B i [2]", "loop 'i' is annotated already");
  expect_illegal(doubled(), "split B i []", "splitting loop 'i' needs a factor");
  expect_illegal(doubled(), "split B i [0]", "a factor of loop 'i' is 0, it must lie in 1 .. 2^31");
  expect_illegal(doubled(), "split B i [4294967296]",
                 "a factor of loop 'i' is 4294967296, it must lie in 1 .. 2^31");
  // So must the product of those before it.
  expect_illegal(doubled(), "split B i [2147483648 2 3]",
                 "a factor of loop 'i' is 3, it must lie in 1 .. 2^31");
}

// The fused loop counts in the order of the two; its quotient and remainder take their places.
TEST(Fuse, TwoLoops) {
  expect_steps(chain(), "fuse T i j", R"(
input A: f32[4, 6] [0][1]
output O: f32[4, 6] [0][1]
main {
  alloc T: f32[4, 6] workspace [0][1] {
    for i_j in 24 {
      block T {
        i: 4 = i_j/6
        j: 6 = i_j%6
        T[i, j] = A[i, j] + 1.0
      }
    }
    for i in 4 {
      for j in 6 {
        block O {
          i: 4 = i
          j: 6 = j
          O[i, j] = T[i, j] * 2.0
        }
      }
    }
  }
}
)");
}

// Of three loops the middle one is a remainder of a quotient.
TEST(Fuse, ThreeLoops) {
  expect_steps(task_of("B[i:2, j:3, k:5] = A[k, j, i]"), "fuse B i j k", R"(
input A: f32[5, 3, 2] [0][1][2]
output B: f32[2, 3, 5] [0][1][2]
main {
  for i_j_k in 30 {
    block B {
      i: 2 = i_j_k/15
      j: 3 = (i_j_k/5)%3
      k: 5 = i_j_k%5
      B[i, j, k] = A[k, j, i]
    }
  }
}
)");
}

// The condition of an imperfect tile stays, over the fused loop.
TEST(Fuse, ImperfectTiles) {
  expect_steps(chain(), "split O i [3]; fuse O i.0 i.1", R"(
input A: f32[4, 6] [0][1]
output O: f32[4, 6] [0][1]
main {
  alloc T: f32[4, 6] workspace [0][1] {
    for i in 4 {
      for j in 6 {
        block T {
          i: 4 = i
          j: 6 = j
          T[i, j] = A[i, j] + 1.0
        }
      }
    }
    for i.0_i.1 in 6 {
      for j in 6 {
        block O where 3*(i.0_i.1/3) + i.0_i.1%3 < 4 axis 0 {
          i: 4 = 3*(i.0_i.1/3) + i.0_i.1%3
          j: 6 = j
          O[i, j] = T[i, j] * 2.0
        }
      }
    }
  }
}
)");
}

// A spatial and a reduce loop: the sums begin where all reduce axes are 0.
TEST(Fuse, WithAReduceLoop) {
  expect_steps(product(), "fuse C j r", R"(
input A: f32[4, 5] [0][1]
input B: f32[5, 6] [0][1]
output C: f32[4, 6] [0][1]
main {
  for i in 4 {
    for j_r in 30 {
      block C {
        i: 4 = i
        j: 6 = j_r/5
        reduce r: 5 = j_r%5
        C[i, j] init sum= A[i, r] * B[r, j]
      }
    }
  }
}
)");
}

// All blocks below read the same loop.
TEST(Fuse, OverTwoBlocks) {
  expect_steps(chain(), "compute_at T O j scope=registers; fuse O i j", R"(
input A: f32[4, 6] [0][1]
output O: f32[4, 6] [0][1]
main {
  for i_j in 24 {
    alloc T: f32[4, 6] registers [0][1] {
      for i in 1 {
        for j in 1 {
          block T {
            i: 4 = i_j/6
            j: 6 = i_j%6
            T[i, j] = A[i, j] + 1.0
          }
        }
      }
      block O {
        i: 4 = i_j/6
        j: 6 = i_j%6
        O[i, j] = T[i, j] * 2.0
      }
    }
  }
}
)");
}

TEST(Fuse, Refused) {
  expect_illegal(product(), "fuse C i", "fusing needs two loops or more");
  expect_illegal(product(), "fuse C i r", "loop 'r' is not directly inside loop 'i'");
  expect_illegal(product(), "fuse C j i", "loop 'i' is not directly inside loop 'j'");
  expect_illegal(product(), "fuse C i x", "block 'C' has no loop 'x'; its loops are i, j, r");
  expect_illegal(product(), "unroll C j; fuse C i j", "loop 'j' is annotated already");
  expect_illegal(chain(), "compute_at T O i scope=thread; fuse O i j",
                 "loop 'j' is not directly inside loop 'i'");
}

constexpr const char* kTriangle = R"(
input A: f32[4, 4] [0][1]
output O: f32[4, 4] [0][1]
main {
  for i in 4 {
    for j in i + 1 {
      block O {
        i: 4 = i
        j: 4 = j
        O[i, j] = A[i, j]
      }
    }
  }
}
)";

// What needs to know how often a loop runs.
TEST(Loops, WithoutAConstantExtentAreRefused) {
  const Program triangle = program_of(kTriangle);
  const std::string sentence = "loop 'j' has no constant extent";
  for (const char* step : {"split O j [2]", "fuse O i j", "unroll O j", "vectorize O j", "parallel O j"}) {
    expect_illegal(triangle, step, sentence);
  }
}

}  // namespace
}  // namespace lathe::testing
