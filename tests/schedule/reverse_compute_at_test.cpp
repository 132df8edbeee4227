// reverse_compute_at: a consumer moves to where its producer's values have just been written.
#include "schedule/golden.h"

namespace lathe::testing {
namespace {

Task sum_and_more() { return task_of("C[i:4] = sum(r:5) A[i, r]\nD[i:4] = C[i] + 1.0"); }
Task product() {
  return task_of("C[i:4, j:6] = sum(r:5) A[i, r] * B[r, j]\nD[i:4, j:6] = max(C[i, j] + bias[j], 0.0)");
}

// At the end of each row's iteration; the buffer moves into the loop.
TEST(ReverseComputeAt, ARow) {
  expect_steps(product(), "reverse_compute_at D C i scope=thread", R"(
input A: f32[4, 5] [0][1]
input B: f32[5, 6] [0][1]
input bias: f32[6] [0]
output D: f32[4, 6] [0][1]
main {
  for i in 4 {
    alloc C: f32[4, 6] thread [0][1] {
      for j in 6 {
        for r in 5 {
          block C {
            i: 4 = i
            j: 6 = j
            reduce r: 5 = r
            C[i, j] init sum= A[i, r] * B[r, j]
          }
        }
      }
      for i_2 in 1 {
        for j in 6 {
          block D {
            i: 4 = i
            j: 6 = j
            D[i, j] = max(C[i, j] + bias[j], 0.0)
          }
        }
      }
    }
  }
}
)");
}

// The consumer goes through what the imperfect tile wrote, to its end.
TEST(ReverseComputeAt, AnImperfectTile) {
  expect_steps(product(), "split C j [4]; reorder C i j.0 r j.1; reverse_compute_at D C j.0 scope=registers",
               R"(
input A: f32[4, 5] [0][1]
input B: f32[5, 6] [0][1]
input bias: f32[6] [0]
output D: f32[4, 6] [0][1]
main {
  for i in 4 {
    for j.0 in 2 {
      alloc C: f32[4, 6] registers [0][1] {
        for r in 5 {
          for j.1 in 4 {
            block C where 4*j.0 + j.1 < 6 axis 1 {
              i: 4 = i
              j: 6 = 4*j.0 + j.1
              reduce r: 5 = r
              C[i, j] init sum= A[i, r] * B[r, j]
            }
          }
        }
        for i_2 in 1 {
          for j in 4 {
            block D where 4*j.0 + j < 6 axis 1 {
              i: 4 = i
              j: 6 = 4*j.0 + j
              D[i, j] = max(C[i, j] + bias[j], 0.0)
            }
          }
        }
      }
    }
  }
}
)");
}

// Below reduce loops it waits for their last iterations, and the sums stay in a buffer outside.
TEST(ReverseComputeAt, InAReduceLoop) {
  expect_steps(sum_and_more(), "split C r [3]; reorder C r.0 i r.1; reverse_compute_at D C i scope=thread",
               R"(
input A: f32[4, 5] [0][1]
output D: f32[4] [0]
main {
  alloc C: f32[4] workspace [0] {
    for r.0 in 2 {
      for i in 4 {
        for r.1 in 3 {
          block C where 3*r.0 + r.1 < 5 axis 1 {
            i: 4 = i
            reduce r: 5 = 3*r.0 + r.1
            C[i] init sum= A[i, r]
          }
        }
        for i_2 in 1 {
          block D where -r.0 + 1 < 1 {
            i: 4 = i
            D[i] = C[i] + 1.0
          }
        }
      }
    }
  }
}
)");
}

// The last iteration may lie beyond the reduction's end and add nothing: the sums are complete there.
TEST(ReverseComputeAt, BehindTheEndOfTheReduction) {
  expect_steps(sum_and_more(), "split C r [3]; reorder C r.0 r.1 i; reverse_compute_at D C i scope=thread",
               R"(
input A: f32[4, 5] [0][1]
output D: f32[4] [0]
main {
  alloc C: f32[4] workspace [0] {
    for r.0 in 2 {
      for r.1 in 3 {
        for i in 4 {
          block C where 3*r.0 + r.1 < 5 axis 1 {
            i: 4 = i
            reduce r: 5 = 3*r.0 + r.1
            C[i] init sum= A[i, r]
          }
          for i_2 in 1 {
            block D where -r.0 + 1 < 1, -r.1 + 2 < 1 {
              i: 4 = i
              D[i] = C[i] + 1.0
            }
          }
        }
      }
    }
  }
}
)");
}

// The tiles that Winograd's transforms write: a pixel is a quotient and a remainder.
TEST(ReverseComputeAt, QuotientsAndRemainders) {
  expect_steps(task_of("T[t:3, u:2] = A[t] * B[u]\nO[y:5] = T[y / 2, y % 2] + 1.0"),
               "reverse_compute_at O T t scope=registers", R"(
input A: f32[3] [0]
input B: f32[2] [0]
output O: f32[5] [0]
main {
  for t in 3 {
    alloc T: f32[3, 2] registers [0][1] {
      for u in 2 {
        block T {
          t: 3 = t
          u: 2 = u
          T[t, u] = A[t] * B[u]
        }
      }
      for y in 1 {
        for y_d1 in 2 {
          block O where 2*t + y_d1 < 5 axis 0 {
            y: 5 = 2*t + y_d1
            O[y] = T[y/2, y%2] + 1.0
          }
        }
      }
    }
  }
}
)");
}

// A digit of the producer's place is an axis of the consumer; one that it does not read has a loop of its
// own.
TEST(ReverseComputeAt, DigitsAndOtherAxes) {
  expect_steps(task_of("T[p:6] = A[p] * 2.0\nO[a:2, b:3, k:4] = T[3*a + b] * W[k]"),
               "split T p [3]; reverse_compute_at O T p.0 scope=registers", R"(
input A: f32[6] [0]
input W: f32[4] [0]
output O: f32[2, 3, 4] [0][1][2]
main {
  for p.0 in 2 {
    alloc T: f32[6] registers [0] {
      for p.1 in 3 {
        block T {
          p: 6 = 3*p.0 + p.1
          T[p] = A[p] * 2.0
        }
      }
      for a in 3 {
        for k in 4 {
          block O {
            a: 2 = p.0
            b: 3 = a
            k: 4 = k
            O[a, b, k] = T[3*a + b] * W[k]
          }
        }
      }
    }
  }
}
)");
}

// Digits do not keep to the producer's domain by themselves: the last tile's end is a condition on the place.
TEST(ReverseComputeAt, DigitsOfAnImperfectTile) {
  expect_steps(task_of("T[p:6] = A[p] * 2.0\nO[a:2, b:3] = T[3*a + b] + 1.0"),
               "split T p [4]; reverse_compute_at O T p.0 scope=thread", R"(
input A: f32[6] [0]
output O: f32[2, 3] [0][1]
main {
  for p.0 in 2 {
    alloc T: f32[6] thread [0] {
      for p.1 in 4 {
        block T where 4*p.0 + p.1 < 6 axis 0 {
          p: 6 = 4*p.0 + p.1
          T[p] = A[p] * 2.0
        }
      }
      for a in 4 {
        block O where 4*p.0 + a < 6, (4*p.0 + a)/3 < 2 axis 0 {
          a: 2 = (4*p.0 + a)/3
          b: 3 = (4*p.0 + a)%3
          O[a, b] = T[3*a + b] + 1.0
        }
      }
    }
  }
}
)");
}

// A consumer that reads a part of it, from some place on.
TEST(ReverseComputeAt, APartFromSomePlaceOn) {
  expect_steps(task_of("T[i:8] = A[i] * 2.0\nO[i:5] = T[i + 2] + 1.0\noutput O"),
               "split T i [4]; reverse_compute_at O T i.0 scope=thread", R"(
input A: f32[8] [0]
output O: f32[5] [0]
main {
  for i.0 in 2 {
    alloc T: f32[8] thread [0] {
      for i.1 in 4 {
        block T {
          i: 8 = 4*i.0 + i.1
          T[i] = A[i] * 2.0
        }
      }
      for i in 4 {
        block O where 4*i.0 + i - 2 < 5 axis 0, -4*i.0 - i + 2 < 1 axis 0 {
          i: 5 = 4*i.0 + i - 2
          O[i] = T[i + 2] + 1.0
        }
      }
    }
  }
}
)");
}

// One consumer behind another; what the second also reads is written in the same iteration.
TEST(ReverseComputeAt, AChain) {
  expect_steps(task_of("C[i:4] = sum(r:5) A[i, r]\nD[i:4] = exp(C[i])\nE[i:4] = C[i] + D[i]"),
               "reverse_compute_at D C i scope=registers; reverse_compute_at E D i scope=registers", R"(
input A: f32[4, 5] [0][1]
output E: f32[4] [0]
main {
  alloc C: f32[4] workspace [0] {
    for i in 4 {
      for r in 5 {
        block C {
          i: 4 = i
          reduce r: 5 = r
          C[i] init sum= A[i, r]
        }
      }
      for i_2 in 1 {
        alloc D: f32[4] registers [0] {
          block D {
            i: 4 = i
            D[i] = exp(C[i])
          }
          for i_3 in 1 {
            block E {
              i: 4 = i
              E[i] = C[i] + D[i]
            }
          }
        }
      }
    }
  }
}
)");
}

// A fused tile is no box: its loops are copied.
TEST(ReverseComputeAt, OfWhatIsNoBox) {
  expect_steps(task_of("T[i:3, j:4] = A[i, j] * 2.0\nO[i:3, j:4] = T[i, j] + 1.0"),
               "fuse T i j; split T i_j [6]; reverse_compute_at O T i_j.0 scope=workspace", R"(
input A: f32[3, 4] [0][1]
output O: f32[3, 4] [0][1]
main {
  for i_j.0 in 2 {
    alloc T: f32[3, 4] workspace [0][1] {
      for i_j.1 in 6 {
        block T {
          i: 3 = (6*i_j.0 + i_j.1)/4
          j: 4 = (6*i_j.0 + i_j.1)%4
          T[i, j] = A[i, j] * 2.0
        }
      }
      for i_j.1 in 6 {
        block O {
          i: 3 = (6*i_j.0 + i_j.1)/4
          j: 4 = (6*i_j.0 + i_j.1)%4
          O[i, j] = T[i, j] + 1.0
        }
      }
    }
  }
}
)");
}

TEST(ReverseComputeAt, TheConsumerIsRefused) {
  const Task task = task_of("T[i:4] = A[i] * 2.0\nC[i:4] = sum(r:4) T[r] * W[i, r]\nD[i:4] = C[i] + T[i]");
  expect_illegal(task, "reverse_compute_at C T i scope=thread", "block 'C' reduces");
  expect_illegal(sum_and_more(), "reverse_compute_at D X i scope=thread", "there is no block 'X'");
  expect_illegal(sum_and_more(), "reverse_compute_at D C x scope=thread",
                 "block 'C' has no loop 'x'; its loops are i, r");
  expect_illegal(task_of("S[i:4] = A[i] * 2.0\nT[i:4] = A[i] * 3.0\nO[i:4] = S[i] + 1.0\noutput O\noutput T"),
                 "reverse_compute_at O T i scope=thread", "block 'O' does not read 'T'");
  expect_illegal(sum_and_more(),
                 "reverse_compute_at D C i scope=thread; reverse_compute_at D C i scope=thread",
                 "block 'D' lies in loop 'i' already");
  // A part of the reduction's copy.
  expect_illegal(sum_and_more(),
                 "split C r [2]; reorder C r.0 i r.1; cache_write C c at=i scope=thread; "
                 "reverse_compute_at c.out C r.1 scope=thread",
                 "loop 'r.0' of block 'c.out' holds other statements too");
  // It waits for the last iteration already.
  expect_illegal(
      sum_and_more(),
      "reorder C r i; reverse_compute_at D C r scope=thread; reverse_compute_at D C i scope=thread",
      "block 'D' runs under a condition");
  // The producer's loop ends no row and no sum.
  expect_illegal(sum_and_more(), "fuse C i r; reverse_compute_at D C i_r scope=thread",
                 "loop 'i_r' drives a spatial and a reduce axis of block 'C'");
}

// The index of the read must tell the consumer's place.
TEST(ReverseComputeAt, TheReadIsRefused) {
  const std::string step = "reverse_compute_at O T i scope=thread";
  expect_illegal(task_of("T[i:4] = A[i] * 2.0\nO[i:4] = T[i] + T[3 - i]"), step,
                 "block 'O' reads 'T' in several ways");
  expect_illegal(task_of("T[i:8] = A[i] * 2.0\nO[i:4] = T[2*i]"), step,
                 "block 'O' reads at '2*i', which cannot be inverted");
  expect_illegal(task_of("T[i:4] = A[i] * 2.0\nO[i:8] = select(i < 4, T[i], 0.0)"), step,
                 "block 'O' has elements for which it reads none of 'T'");
  expect_illegal(task_of("T[i:4] = A[i] * 2.0\nO[i:8] = select(i >= 4, T[i - 4], 0.0)"), step,
                 "block 'O' has elements for which it reads none of 'T'");
  expect_illegal(task_of("T[i:4] = A[i] * 2.0\nO[i:8] = T[i / 2]"), step,
                 "block 'O' does not read every 'i' of 'T'");
}

// All else that it reads has to be written before.
TEST(ReverseComputeAt, WhatIsNotThereYetIsRefused) {
  expect_illegal(task_of("C[i:4] = A[i] * 2.0\nF[i:4] = B[i] * 3.0\nE[i:4] = C[i] + F[i]"),
                 "reverse_compute_at E C i scope=thread", "block 'E' needs 'F' before it is there");
  // In the same loop, but another element.
  expect_illegal(task_of("C[i:4] = A[i] * 2.0\nF[i:4] = C[i] * 3.0\nE[i:4] = C[i] + F[3 - i]"),
                 "reverse_compute_at F C i scope=thread; reverse_compute_at E C i scope=thread",
                 "block 'E' needs 'F' before it is there");
}

// Moving again, further in, where the places of the loop around are no box.
TEST(ReverseComputeAt, GapsAreRefused) {
  expect_illegal(task_of("T[i:3, j:4] = A[i, j] * 2.0\nO[i:3, j:4] = T[i, j] + 1.0"),
                 "fuse T i j; split T i_j [2 3]; reverse_compute_at O T i_j.0 scope=workspace; "
                 "reverse_compute_at O T i_j.1 scope=workspace",
                 "block 'O' leaves gaps in 'O' in an iteration of loop 'i_j.0'");
}

constexpr const char* kTwoWriters = R"(
input A: f32[4] [0]
output O: f32[4] [0]
main {
  alloc T: f32[2] workspace [0] {
    for i in 2 {
      block T {
        i: 2 = i
        T[i] = A[i]
      }
    }
    for i in 2 {
      block O {
        i: 2 = i
        O[i] = T[i]
      }
    }
    for i in 2 {
      block P {
        i: 2 = i
        O[i + 2] = A[i]
      }
    }
  }
}
)";

TEST(ReverseComputeAt, OneOfTwoWritersIsRefused) {
  expect_illegal(program_of(kTwoWriters), "reverse_compute_at O T i scope=thread",
                 "block 'P' writes 'O' as block 'O' does");
}

}  // namespace
}  // namespace lathe::testing
