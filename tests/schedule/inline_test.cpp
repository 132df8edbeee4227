// inline: a producer's formula takes the place of its tensor. prepare: what reads constants alone leaves the
// timed program.
#include "schedule/golden.h"

namespace lathe::testing {
namespace {

Task chain(const std::vector<std::string>& constants = {}) {
  return task_of("T[i:4, j:6] = W[i, j] + 1.0\nO[i:4, j:6] = T[i, j] * A[i, j]", constants);
}

// The indices of the read take the places of the axes.
TEST(Inline, IndicesAreReplaced) {
  expect_steps(task_of("T[i:6, j:4] = A[i, j] + B[j]\nO[i:4, j:6] = T[j, 3 - i] * 2.0"), "inline T", R"(
input A: f32[6, 4] [0][1]
input B: f32[4] [0]
output O: f32[4, 6] [0][1]
main {
  for i in 4 {
    for j in 6 {
      block O {
        i: 4 = i
        j: 6 = j
        O[i, j] = (A[j, -i + 3] + B[-i + 3]) * 2.0
      }
    }
  }
}
)");
}

// Every consumer has the formula, for each of its reads, however its own loops are scheduled.
TEST(Inline, SeveralConsumers) {
  expect_steps(task_of("T[i:4] = exp(A[i])\nP[i:4] = T[i] + T[3 - i]\nQ[i:4] = sum(r:4) T[r] * P[i]"),
               "split P i [3]; inline T", R"(
input A: f32[4] [0]
output Q: f32[4] [0]
main {
  alloc P: f32[4] workspace [0] {
    for i.0 in 2 {
      for i.1 in 3 {
        block P where 3*i.0 + i.1 < 4 axis 0 {
          i: 4 = 3*i.0 + i.1
          P[i] = exp(A[i]) + exp(A[-i + 3])
        }
      }
    }
    for i in 4 {
      for r in 4 {
        block Q {
          i: 4 = i
          reduce r: 4 = r
          Q[i] init sum= exp(A[r]) * P[i]
        }
      }
    }
  }
}
)");
}

// Padding: the read may lie outside of the producer where the select keeps it out.
TEST(Inline, UnderASelect) {
  expect_steps(task_of("T[x:6] = A[x] * 2.0\nO[x:8] = select(x >= 1 && x < 7, T[x - 1], 0.0)"), "inline T",
               R"(
input A: f32[6] [0]
output O: f32[8] [0]
main {
  for x in 8 {
    block O {
      x: 8 = x
      O[x] = select(1 <= x && x < 7, A[x - 1] * 2.0, 0.0)
    }
  }
}
)");
}

// Whole tiles, fused loops and a place inside of the consumer's loop are no hindrance.
TEST(Inline, AScheduledProducer) {
  expect_steps(chain(), "compute_at T O i scope=thread; split T j [3]; vectorize T j.1; inline T", R"(
input W: f32[4, 6] [0][1]
input A: f32[4, 6] [0][1]
output O: f32[4, 6] [0][1]
main {
  for i in 4 {
    for j in 6 {
      block O {
        i: 4 = i
        j: 6 = j
        O[i, j] = (W[i, j] + 1.0) * A[i, j]
      }
    }
  }
}
)");
}

TEST(Inline, Refused) {
  const Task product = task_of("C[i:4] = sum(r:5) A[i, r]\nD[i:4] = C[i] + 1.0");
  expect_illegal(product, "inline X", "there is no block 'X'");
  expect_illegal(product, "inline C", "block 'C' reduces");
  expect_illegal(product, "inline D", "block 'D' writes 'D', which is no intermediate");
  expect_illegal(product,
                 "split C r [2]; reorder C r.0 i r.1; cache_write C c at=i scope=thread; inline c.in",
                 "block 'c.in' is a part of a reduction");
  expect_illegal(chain(), "split T j [4]; inline T", "block 'T' is split imperfectly already");
}

constexpr const char* kOdd = R"(
input A: f32[4] [0]
output O: f32[4] [0]
main {
  alloc T: f32[4] workspace [0] {
    alloc U: f32[4] workspace [0] {
      for i in 4 {
        block T {
          i: 4 = i
          T[3 - i] = A[i]
        }
      }
      for i in 2 {
        block U {
          i: 2 = i
          U[i] = A[i]
        }
      }
      for i in 2 {
        block V {
          i: 2 = i
          U[i + 2] = A[i]
        }
      }
      for i in 4 {
        block O {
          i: 4 = i
          O[i] = T[i] + U[i]
        }
      }
    }
  }
}
)";

// What no naive program has.
TEST(Inline, OddProgramsAreRefused) {
  expect_illegal(program_of(kOdd), "inline T", "block 'T' does not write its output point by point");
  expect_illegal(program_of(kOdd), "inline U", "block 'V' writes 'U' as block 'U' does");
}

// The nest as it is scheduled, and the buffer in its layout.
TEST(Prepare, ANest) {
  expect_steps(chain({"W"}), "layout T [1][0]; split T i [3]; reorder T j i.0 i.1; prepare T", R"(
constant W: f32[4, 6] [0][1]
input A: f32[4, 6] [0][1]
output O: f32[4, 6] [0][1]
prepared T: f32[4, 6] [1][0]
prepare {
  for j in 6 {
    for i.0 in 2 {
      for i.1 in 3 {
        block T where 3*i.0 + i.1 < 4 axis 0 {
          i: 4 = 3*i.0 + i.1
          j: 6 = j
          T[i, j] = W[i, j] + 1.0
        }
      }
    }
  }
}
main {
  for i in 4 {
    for j in 6 {
      block O {
        i: 4 = i
        j: 6 = j
        O[i, j] = T[i, j] * A[i, j]
      }
    }
  }
}
)");
}

// What reads what is prepared is a constant as well; so is a table.
TEST(Prepare, OneAfterAnother) {
  expect_steps(task_of("table G[2, 2] = {1.0, 0.5, 0.5, 1.0}\n"
                       "S[i:2] = sum(k:2) G[i, k] * W[k]\nT[i:2] = S[i] + W[i]\nO[i:2] = T[i] * A[i]",
                       {"W"}),
               "prepare S; prepare T", R"(
constant W: f32[2] [0]
input A: f32[2] [0]
output O: f32[2] [0]
prepared S: f32[2] [0]
prepared T: f32[2] [0]
table G: f32[2, 2] = {1.0, 0.5, 0.5, 1.0}
prepare {
  for i in 2 {
    for k in 2 {
      block S {
        i: 2 = i
        reduce k: 2 = k
        S[i] init sum= G[i, k] * W[k]
      }
    }
  }
  for i in 2 {
    block T {
      i: 2 = i
      T[i] = S[i] + W[i]
    }
  }
}
main {
  for i in 2 {
    block O {
      i: 2 = i
      O[i] = T[i] * A[i]
    }
  }
}
)");
}

TEST(Prepare, Refused) {
  expect_illegal(chain({"W"}), "prepare X", "there is no block 'X'");
  expect_illegal(chain({"W"}), "prepare O", "block 'O' writes 'O', which is no intermediate");
  expect_illegal(chain(), "prepare T", "block 'T' reads 'W', which is no constant");
  // Its producer has to go first.
  expect_illegal(task_of("S[i:4] = W[i] * 2.0\nT[i:4] = S[i] + 1.0\nO[i:4] = T[i] * A[i]", {"W"}),
                 "prepare T", "block 'T' reads 'S', which is no constant");
  // It computes no more than an iteration needs.
  expect_illegal(chain({"W"}), "compute_at T O i scope=thread; prepare T", "block 'T' would leave loop 'i'");
}

}  // namespace
}  // namespace lathe::testing
