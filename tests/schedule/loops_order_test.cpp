// reorder and the annotations: the order of loops, and how they run.
#include <regex>

#include "schedule/golden.h"

namespace lathe::testing {
namespace {

Task product() { return task_of("C[i:4, j:6] = sum(r:5) A[i, r] * B[r, j]"); }
Task chain() { return task_of("T[i:4, j:6] = A[i, j] + 1.0\nO[i:4, j:6] = T[i, j] * 2.0"); }

// All loops in a new order.
TEST(Reorder, AllLoops) {
  expect_steps(product(), "reorder C r j i", R"(
input A: f32[4, 5] [0][1]
input B: f32[5, 6] [0][1]
output C: f32[4, 6] [0][1]
main {
  for r in 5 {
    for j in 6 {
      for i in 4 {
        block C {
          i: 4 = i
          j: 6 = j
          reduce r: 5 = r
          C[i, j] init sum= A[i, r] * B[r, j]
        }
      }
    }
  }
}
)");
}

// Loops that are not named keep their places.
TEST(Reorder, SomeLoops) {
  expect_steps(product(), "reorder C r i", R"(
input A: f32[4, 5] [0][1]
input B: f32[5, 6] [0][1]
output C: f32[4, 6] [0][1]
main {
  for r in 5 {
    for j in 6 {
      for i in 4 {
        block C {
          i: 4 = i
          j: 6 = j
          reduce r: 5 = r
          C[i, j] init sum= A[i, r] * B[r, j]
        }
      }
    }
  }
}
)");
}

// A tile's loops around those of another, conditions and all; annotations travel with their loops.
TEST(Reorder, ImperfectTiles) {
  expect_steps(task_of("C[i:5, j:7] = A[j, i]"),
               "split C i [2]; split C j [4]; vectorize C j.1; reorder C j.0 i.0 j.1 i.1", R"(
input A: f32[7, 5] [0][1]
output C: f32[5, 7] [0][1]
main {
  for j.0 in 2 {
    for i.0 in 3 {
      vector j.1 in 4 {
        for i.1 in 2 {
          block C where 2*i.0 + i.1 < 5 axis 0, 4*j.0 + j.1 < 7 axis 1 {
            i: 5 = 2*i.0 + i.1
            j: 7 = 4*j.0 + j.1
            C[i, j] = A[j, i]
          }
        }
      }
    }
  }
}
)");
}

// One loop, or none, is in order already.
TEST(Reorder, OfOneLoopChangesNothing) {
  const std::string naive = to_string(naive_program(product()));
  expect_steps(product(), "reorder C r", "\n" + naive);
  expect_steps(product(), "reorder C", "\n" + naive);
}

// A consumer that waits for the very last iteration of a whole reduction does so in every order.
TEST(Reorder, TheVeryLastIterationStaysTheLast) {
  expect_steps(task_of("C[i:4] = sum(r:6) A[i, r]\nD[i:4] = C[i] + 1.0"),
               "reorder C r i; reverse_compute_at D C i scope=workspace; reorder C i r", R"(
input A: f32[4, 6] [0][1]
output D: f32[4] [0]
main {
  alloc C: f32[4] workspace [0] {
    for i in 4 {
      for r in 6 {
        block C {
          i: 4 = i
          reduce r: 6 = r
          C[i] init sum= A[i, r]
        }
        for i_2 in 1 {
          block D where -r + 5 < 1 {
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

TEST(Reorder, Refused) {
  expect_illegal(product(), "reorder C i i", "loop 'i' is named twice");
  expect_illegal(product(), "reorder C i x", "block 'C' has no loop 'x'; its loops are i, j, r");
  expect_illegal(chain(), "compute_at T O i scope=thread; reorder O j i",
                 "between loops 'i' and 'j' of block 'O' lie other statements");
  // The halves of a reduction that shares a loop with another axis.
  expect_illegal(product(), "split C r [2]; reorder C i r.0 j r.1; fuse C r.0 j; reorder C r.1 r.0_j",
                 "the reduction of block 'C' would not begin at its first element");
}

// What waits for the last of 5 iterations in tiles of 2 waits for the one at (2, 0), the last of all in this
// order only.
TEST(Reorder, TheLastIterationOfAnImperfectTile) {
  expect_illegal(task_of("C[i:4] = sum(r:5) A[i, r]\nD[i:4] = C[i] + 1.0"),
                 "reorder C r i; reverse_compute_at D C i scope=workspace; split C r [2]; reorder C r.1 r.0",
                 "block 'D' would no longer wait for the last iteration of loop 'r.0'");
}

TEST(Annotate, Vectorize) {
  expect_steps(product(), "vectorize C j", R"(
input A: f32[4, 5] [0][1]
input B: f32[5, 6] [0][1]
output C: f32[4, 6] [0][1]
main {
  for i in 4 {
    vector j in 6 {
      for r in 5 {
        block C {
          i: 4 = i
          j: 6 = j
          reduce r: 5 = r
          C[i, j] init sum= A[i, r] * B[r, j]
        }
      }
    }
  }
}
)");
}

TEST(Annotate, Parallel) {
  expect_steps(product(), "parallel C i", R"(
input A: f32[4, 5] [0][1]
input B: f32[5, 6] [0][1]
output C: f32[4, 6] [0][1]
main {
  parallel i in 4 {
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
  }
}
)");
}

// Reduce loops may be unrolled, and loops inside of others.
TEST(Annotate, Unroll) {
  expect_steps(product(), "unroll C j; unroll C r", R"(
input A: f32[4, 5] [0][1]
input B: f32[5, 6] [0][1]
output C: f32[4, 6] [0][1]
main {
  for i in 4 {
    unroll j in 6 {
      unroll r in 5 {
        block C {
          i: 4 = i
          j: 6 = j
          reduce r: 5 = r
          C[i, j] init sum= A[i, r] * B[r, j]
        }
      }
    }
  }
}
)");
}

// `serial` takes an annotation back.
TEST(Annotate, Serial) {
  expect_steps(product(), "vectorize C j; serial C j", "\n" + to_string(naive_program(product())));
}

// A vector loop inside of a parallel one, over blocks whose local buffer each iteration has for itself.
TEST(Annotate, LocalBuffersMayBeWrittenByEveryIteration) {
  expect_steps(task_of("T[j:6] = B[j] + 1.0\nO[i:4, j:6] = T[j] * A[i]"),
               "compute_at T O i scope=thread; parallel O i; vectorize O j", R"(
input B: f32[6] [0]
input A: f32[4] [0]
output O: f32[4, 6] [0][1]
main {
  parallel i in 4 {
    alloc T: f32[6] thread [0] {
      for j in 6 {
        block T {
          j: 6 = j
          T[j] = B[j] + 1.0
        }
      }
      vector j in 6 {
        block O {
          i: 4 = i
          j: 6 = j
          O[i, j] = T[j] * A[i]
        }
      }
    }
  }
}
)");
}

TEST(Annotate, Refused) {
  expect_illegal(product(), "vectorize C x", "block 'C' has no loop 'x'; its loops are i, j, r");
  expect_illegal(product(), "vectorize C r", "loop 'r' drives a reduce axis of block 'C'; rfactor it first");
  expect_illegal(product(), "parallel C r", "loop 'r' drives a reduce axis of block 'C'; rfactor it first");
  // Inside, and around.
  expect_illegal(product(), "vectorize C i; vectorize C j",
                 "loop 'j' lies around or inside another loop of that kind");
  expect_illegal(product(), "parallel C j; parallel C i",
                 "loop 'i' lies around or inside another loop of that kind");
}

// T runs in an imperfect tile that it does not depend on, and waits for no iteration of it.
TEST(Reorder, WhatWaitsForNothingMayChangePlaces) {
  const Task task = task_of("T[i:4] = A[i] + 1.0\nO[i:4, j:5] = T[i] * B[j]");
  const Result<Program> program =
      apply_trace(task, steps_of("compute_at T O j scope=thread; split O j [2]; reorder O j.1 j.0"));
  ASSERT_TRUE(program) << program.error().to_string();
  expect_same_result(naive_program(task), *program);
}

constexpr const char* kShared = R"(
input A: f32[4] [0]
output O: f32[4] [0]
main {
  alloc T: f32[1] workspace [0] {
    for i in 4 {
      block T {
        z: 1 = 0
        T[z] = 3.0
      }
      block O {
        i: 4 = i
        O[i] = A[i] + T[0]
      }
    }
  }
}
)";

// Iterations side by side that write one element of a buffer they share.
TEST(Annotate, SharedElementsAreWrittenOneAfterTheOther) {
  expect_illegal(program_of(kShared), "parallel O i",
                 "iterations of loop 'i' would write the same elements of 'T'");
  const auto shared_by = [](const std::string& count) {
    return program_of(std::regex_replace(kShared, std::regex("4"), count));
  };
  expect_illegal(shared_by("2"), "parallel O i",
                 "iterations of loop 'i' would write the same elements of 'T'");
  EXPECT_TRUE(applied(shared_by("1"), steps_of("parallel O i"))) << "one iteration has no other beside it";
}

// Blocks outermost and directly inside each other, threads inside of them.
TEST(Bind, LoopsBecomeBlocksAndThreads) {
  expect_steps(product(), "bind C i block; bind C j thread", R"(
input A: f32[4, 5] [0][1]
input B: f32[5, 6] [0][1]
output C: f32[4, 6] [0][1]
main {
  blocks i in 4 {
    threads j in 6 {
      for r in 5 {
        block C {
          i: 4 = i
          j: 6 = j
          reduce r: 5 = r
          C[i, j] init sum= A[i, r] * B[r, j]
        }
      }
    }
  }
}
)");
}

TEST(Bind, RefusesWhatNoDeviceRuns) {
  expect_illegal(product(), "bind C r thread",
                 "loop 'r' drives a reduce axis of block 'C'; rfactor it first");
  expect_illegal(product(), "bind C j block", "loop 'j' of blocks would lie inside a loop of another kind");
  expect_illegal(product(), "bind C i thread; bind C j block",
                 "loop 'j' of blocks would lie inside a loop of threads");
  expect_illegal(product(), "bind C i block; bind C j block; bind C i thread",
                 "loop 'i' of threads would lie around a loop of blocks");
  expect_illegal(program_of(kShared), "bind O i block",
                 "iterations of loop 'i' would write the same elements of 'T'");
}

}  // namespace
}  // namespace lathe::testing
