// compute_at: a producer computes in a consumer's loop what an iteration needs. What inlines and prepares:
// inline_test.cpp.
#include <fmt/format.h>

#include "schedule/golden.h"

namespace lathe::testing {
namespace {

Task chain() { return task_of("T[i:4, j:6] = A[i, j] + 1.0\nO[i:4, j:6] = T[i, j] * 2.0"); }
Task sum_and_more() { return task_of("C[i:4] = sum(r:5) A[i, r]\nD[i:4] = C[i] + 1.0"); }

// A row of the producer in each of the consumer's rows; the buffer moves with it.
TEST(ComputeAt, ARow) {
  expect_steps(chain(), "compute_at T O i scope=thread", R"(
input A: f32[4, 6] [0][1]
output O: f32[4, 6] [0][1]
main {
  for i in 4 {
    alloc T: f32[4, 6] thread [0][1] {
      for i_2 in 1 {
        for j in 6 {
          block T {
            i: 4 = i
            j: 6 = j
            T[i, j] = A[i, j] + 1.0
          }
        }
      }
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

// Of a window the places that neighbours share are computed again; the last tile's end has a guard.
TEST(ComputeAt, AWindow) {
  expect_steps(task_of("T[x:8] = A[x] * A[x]\nO[x:6] = T[x] + T[x + 2]"),
               "split O x [4]; compute_at T O x.0 scope=thread", R"(
input A: f32[8] [0]
output O: f32[6] [0]
main {
  for x.0 in 2 {
    alloc T: f32[8] thread [0] {
      for x in 6 {
        block T where 4*x.0 + x < 8 axis 0 {
          x: 8 = 4*x.0 + x
          T[x] = A[x] * A[x]
        }
      }
      for x.1 in 4 {
        block O where 4*x.0 + x.1 < 6 axis 0 {
          x: 6 = 4*x.0 + x.1
          O[x] = T[x] + T[x + 2]
        }
      }
    }
  }
}
)");
}

// Around an image the tile begins before the producer's first element and ends behind its last.
TEST(ComputeAt, APaddedTile) {
  expect_steps(task_of("T[x:6] = A[x] * 2.0\nO[x:8] = select(x >= 1 && x < 7, T[x - 1], 0.0)"),
               "split O x [4]; compute_at T O x.0 scope=thread", R"(
input A: f32[6] [0]
output O: f32[8] [0]
main {
  for x.0 in 2 {
    alloc T: f32[6] thread [0] {
      for x in 4 {
        block T where 4*x.0 + x - 1 < 6 axis 0, -4*x.0 - x + 1 < 1 axis 0 {
          x: 6 = 4*x.0 + x - 1
          T[x] = A[x] * 2.0
        }
      }
      for x.1 in 4 {
        block O {
          x: 8 = 4*x.0 + x.1
          O[x] = select(1 <= x && x < 7, T[x - 1], 0.0)
        }
      }
    }
  }
}
)");
}

// A reduction moves whole, from its beginning, whatever its loops were.
TEST(ComputeAt, AReduction) {
  expect_steps(sum_and_more(),
               "split C r [2]; reorder C r.0 i r.1; split D i [2]; compute_at C D i.0 scope=thread",
               R"(
input A: f32[4, 5] [0][1]
output D: f32[4] [0]
main {
  for i.0 in 2 {
    alloc C: f32[4] thread [0] {
      for i in 2 {
        for r in 5 {
          block C {
            i: 4 = 2*i.0 + i
            reduce r: 5 = r
            C[i] init sum= A[i, r]
          }
        }
      }
      for i.1 in 2 {
        block D {
          i: 4 = 2*i.0 + i.1
          D[i] = C[i] + 1.0
        }
      }
    }
  }
}
)");
}

// What every iteration reads as a whole is computed as a whole in each of them.
TEST(ComputeAt, TheWholeProducer) {
  expect_steps(task_of("T[r:5] = B[r] + 1.0\nO[i:4] = sum(r:5) T[r] * A[i, r]"),
               "compute_at T O i scope=registers", R"(
input B: f32[5] [0]
input A: f32[4, 5] [0][1]
output O: f32[4] [0]
main {
  for i in 4 {
    alloc T: f32[5] registers [0] {
      for r in 5 {
        block T {
          r: 5 = r
          T[r] = B[r] + 1.0
        }
      }
      for r in 5 {
        block O {
          i: 4 = i
          reduce r: 5 = r
          O[i] init sum= T[r] * A[i, r]
        }
      }
    }
  }
}
)");
}

// Two consumers in one loop; the producer stands before the first.
TEST(ComputeAt, TwoConsumers) {
  expect_steps(task_of("T[i:4] = A[i] * 2.0\nP[i:4] = T[i] + 1.0\nQ[i:4] = P[i] * T[i]"),
               "compute_at P Q i scope=registers; compute_at T Q i scope=registers", R"(
input A: f32[4] [0]
output Q: f32[4] [0]
main {
  for i in 4 {
    alloc T: f32[4] registers [0] {
      alloc P: f32[4] registers [0] {
        for i_2 in 1 {
          block T {
            i: 4 = i
            T[i] = A[i] * 2.0
          }
        }
        for i_2 in 1 {
          block P {
            i: 4 = i
            P[i] = T[i] + 1.0
          }
        }
        block Q {
          i: 4 = i
          Q[i] = P[i] * T[i]
        }
      }
    }
  }
}
)");
}

// A producer of the producer, further in.
TEST(ComputeAt, AChain) {
  expect_steps(task_of("S[i:4, j:2] = A[i, j] * 2.0\nT[i:4, j:2] = S[i, j] + 1.0\nO[i:4, j:2] = T[i, 1 - j]"),
               "compute_at T O i scope=thread; compute_at S T j scope=registers", R"(
input A: f32[4, 2] [0][1]
output O: f32[4, 2] [0][1]
main {
  for i in 4 {
    alloc T: f32[4, 2] thread [0][1] {
      for i_2 in 1 {
        for j in 2 {
          alloc S: f32[4, 2] registers [0][1] {
            for i_3 in 1 {
              for j_2 in 1 {
                block S {
                  i: 4 = i
                  j: 2 = j
                  S[i, j] = A[i, j] * 2.0
                }
              }
            }
            block T {
              i: 4 = i
              j: 2 = j
              T[i, j] = S[i, j] + 1.0
            }
          }
        }
      }
      for j in 2 {
        block O {
          i: 4 = i
          j: 2 = j
          O[i, j] = T[i, -j + 1]
        }
      }
    }
  }
}
)");
}

// A consumer's tile in a vector loop and a parallel one: their kinds stay.
TEST(ComputeAt, AnnotatedLoops) {
  expect_steps(chain(), "parallel O i; split O j [2]; vectorize O j.1; compute_at T O j.0 scope=registers",
               R"(
input A: f32[4, 6] [0][1]
output O: f32[4, 6] [0][1]
main {
  parallel i in 4 {
    for j.0 in 3 {
      alloc T: f32[4, 6] registers [0][1] {
        for i_2 in 1 {
          for j in 2 {
            block T {
              i: 4 = i
              j: 6 = 2*j.0 + j
              T[i, j] = A[i, j] + 1.0
            }
          }
        }
        vector j.1 in 2 {
          block O {
            i: 4 = i
            j: 6 = 2*j.0 + j.1
            O[i, j] = T[i, j] * 2.0
          }
        }
      }
    }
  }
}
)");
}

TEST(ComputeAt, Refused) {
  expect_illegal(chain(), "compute_at X O i scope=thread", "there is no block 'X'");
  expect_illegal(chain(), "compute_at T X i scope=thread", "there is no block 'X'");
  expect_illegal(chain(), "compute_at T O x scope=thread", "block 'O' has no loop 'x'; its loops are i, j");
  expect_illegal(chain(), "compute_at O T i scope=thread", "block 'O' writes 'O', which is no intermediate");
  expect_illegal(chain(), "compute_at T O i scope=thread; compute_at T O i scope=thread",
                 "block 'T' lies in loop 'i' already");
  expect_illegal(task_of("T[i:4] = A[i] * 2.0\nP[i:4] = T[i] + 1.0\nQ[i:4] = T[i] + 3.0"),
                 "compute_at T P i scope=thread", "block 'Q' reads 'T' outside of loop 'i'");
  // Another block writes what it writes.
  expect_illegal(sum_and_more(),
                 "split C r [2]; reorder C r.0 i r.1; cache_write C c at=i scope=thread; "
                 "compute_at C c.out i scope=thread",
                 "block 'c.in' writes 'c' as block 'C' does");
  // The consumer waits in the loop of the reduction.
  expect_illegal(sum_and_more(),
                 "reorder C r i; reverse_compute_at D C r scope=workspace; compute_at C D i scope=thread",
                 "loop 'r' of block 'C' holds other statements too");
  expect_illegal(task_of("C[i:4] = sum(r:5) A[i, r]\nD[i:4] = C[i] + 1.0\nE[i:4] = D[i] * 2.0"),
                 "reorder C r i; reverse_compute_at D C r scope=workspace; compute_at D E i scope=thread",
                 "block 'D' depends on loop 'r' by a condition that cannot move with it");
}

// A program with these last lines in a producer and its consumer.
Program pair(const std::string& producer, const std::string& consumer) {
  return program_of(fmt::format(R"(
input A: f32[4] [0]
output O: f32[4] [0]
main {{
  alloc T: f32[4] workspace [0] {{
    for i in 4 {{
      block T {{
        i: 4 = i
        {}
      }}
    }}
    for i in 4 {{
      block O {{
        i: 4 = i
        {}
      }}
    }}
  }}
}}
)",
                                producer, consumer));
}

// What no naive program has.
TEST(ComputeAt, OddProgramsAreRefused) {
  const std::string step = "compute_at T O i scope=thread";
  expect_illegal(pair("T[i] = A[i]", "O[i] = A[i]"), step, "block 'O' reads nothing of 'T'");
  expect_illegal(pair("T[3 - i] = A[i]", "O[i] = T[i]"), step,
                 "block 'T' does not write its output point by point");
  expect_illegal(pair("T[i] sum= A[i]", "O[i] = T[i]"), step, "block 'T' adds to what another block loads");
}

}  // namespace
}  // namespace lathe::testing
