// rfactor: a part of a reduction becomes a spatial axis of partial results.
#include "schedule/golden.h"

namespace lathe::testing {
namespace {

Task dot() { return task_of("C[i:2] = sum(r:10) A[i, r] * B[r]"); }

// Four partial sums of each row, then their sum.
TEST(Rfactor, TheInnerLoop) {
  expect_steps(task_of("C[i:2] = sum(r:12) A[i, r] * B[r]"), "split C r [4]; rfactor C r.1", R"(
input A: f32[2, 12] [0][1]
input B: f32[12] [0]
output C: f32[2] [0]
main {
  alloc C.rf: f32[2, 4] workspace [0][1] {
    for i in 2 {
      for r.0 in 3 {
        for r.1 in 4 {
          block C.rf {
            i: 2 = i
            r.1: 4 = r.1
            reduce r.0: 3 = r.0
            C.rf[i, r.1] init sum= A[i, r.1 + 4*r.0] * B[r.1 + 4*r.0]
          }
        }
      }
    }
    for i in 2 {
      for r.1 in 4 {
        block C {
          i: 2 = i
          reduce r.1: 4 = r.1
          C[i] init sum= C.rf[i, r.1]
        }
      }
    }
  }
}
)");
}

// A sum over blocks: the outer loop gives the parts; in the last of them the condition leaves two elements.
TEST(Rfactor, TheOuterLoopOfImperfectTiles) {
  expect_steps(dot(), "split C r [4]; reorder C r.0 i r.1; rfactor C r.0", R"(
input A: f32[2, 10] [0][1]
input B: f32[10] [0]
output C: f32[2] [0]
main {
  alloc C.rf: f32[2, 3] workspace [0][1] {
    for r.0 in 3 {
      for i in 2 {
        for r.1 in 4 {
          block C.rf where 4*r.0 + r.1 < 10 {
            i: 2 = i
            r.0: 3 = r.0
            reduce r.1: 4 = r.1
            C.rf[i, r.0] init sum= A[i, 4*r.0 + r.1] * B[4*r.0 + r.1]
          }
        }
      }
    }
    for i in 2 {
      for r.0 in 3 {
        block C {
          i: 2 = i
          reduce r.0: 3 = r.0
          C[i] init sum= C.rf[i, r.0]
        }
      }
    }
  }
}
)");
}

// All of the axis: no loop of it is left to the partial results, which are single products.
TEST(Rfactor, AWholeAxis) {
  expect_steps(task_of("M[i:2] = max(r:3) A[i, r]"), "rfactor M r", R"(
input A: f32[2, 3] [0][1]
output M: f32[2] [0]
main {
  alloc M.rf: f32[2, 3] workspace [0][1] {
    for i in 2 {
      for r in 3 {
        block M.rf {
          i: 2 = i
          r: 3 = r
          M.rf[i, r] init max= A[i, r]
        }
      }
    }
    for i in 2 {
      for r in 3 {
        block M {
          i: 2 = i
          reduce r: 3 = r
          M[i] init max= M.rf[i, r]
        }
      }
    }
  }
}
)");
}

// The other axis of the reduction stays one of the partial results.
TEST(Rfactor, OneOfTwoAxes) {
  expect_steps(task_of("C[i:2] = sum(r:3, s:4) A[i, r, s]"), "rfactor C s", R"(
input A: f32[2, 3, 4] [0][1][2]
output C: f32[2] [0]
main {
  alloc C.rf: f32[2, 4] workspace [0][1] {
    for i in 2 {
      for r in 3 {
        for s in 4 {
          block C.rf {
            i: 2 = i
            s: 4 = s
            reduce r: 3 = r
            C.rf[i, s] init sum= A[i, r, s]
          }
        }
      }
    }
    for i in 2 {
      for s in 4 {
        block C {
          i: 2 = i
          reduce s: 4 = s
          C[i] init sum= C.rf[i, s]
        }
      }
    }
  }
}
)");
}

// The other loops of the axis are reduce axes of their own, outermost first.
TEST(Rfactor, TheMiddleLoop) {
  expect_steps(task_of("C[i:2] = sum(r:12) A[i, r]"),
               "split C r [2 3]; reorder C r.2 i r.1 r.0; rfactor C r.1",
               R"(
input A: f32[2, 12] [0][1]
output C: f32[2] [0]
main {
  alloc C.rf: f32[2, 2] workspace [0][1] {
    for r.2 in 3 {
      for i in 2 {
        for r.1 in 2 {
          for r.0 in 2 {
            block C.rf {
              i: 2 = i
              r.1: 2 = r.1
              reduce r.2: 3 = r.2
              reduce r.0: 2 = r.0
              C.rf[i, r.1] init sum= A[i, 3*r.1 + r.2 + 6*r.0]
            }
          }
        }
      }
    }
    for i in 2 {
      for r.1 in 2 {
        block C {
          i: 2 = i
          reduce r.1: 2 = r.1
          C[i] init sum= C.rf[i, r.1]
        }
      }
    }
  }
}
)");
}

// Where the tile is longer than the axis, its last iterations have nothing to reduce and give no part.
TEST(Rfactor, MoreIterationsThanElements) {
  expect_steps(task_of("C[i:2] = sum(r:3) A[i, r]"), "split C r [8]; rfactor C r.1", R"(
input A: f32[2, 3] [0][1]
output C: f32[2] [0]
main {
  alloc C.rf: f32[2, 3] workspace [0][1] {
    for i in 2 {
      for r.0 in 1 {
        for r.1 in 8 {
          block C.rf where 8*r.0 + r.1 < 3, r.1 < 3 axis 1 {
            i: 2 = i
            r.1: 3 = r.1
            reduce r.0: 1 = r.0
            C.rf[i, r.1] init sum= A[i, r.1 + 8*r.0]
          }
        }
      }
    }
    for i in 2 {
      for r.1 in 3 {
        block C {
          i: 2 = i
          reduce r.1: 3 = r.1
          C[i] init sum= C.rf[i, r.1]
        }
      }
    }
  }
}
)");
}

// A reduction in its consumer's loop: the partial results are local to that.
TEST(Rfactor, InALoopOfAnother) {
  expect_steps(task_of("C[i:2] = sum(r:6) A[i, r]\nD[i:2, j:3] = C[i] * B[j]"),
               "reorder D j i; compute_at C D j scope=thread; split C r [3]; rfactor C r.1", R"(
input A: f32[2, 6] [0][1]
input B: f32[3] [0]
output D: f32[2, 3] [0][1]
main {
  for j in 3 {
    alloc C: f32[2] thread [0] {
      alloc C.rf: f32[2, 3] workspace [0][1] {
        for i in 2 {
          for r.0 in 2 {
            for r.1 in 3 {
              block C.rf {
                i: 2 = i
                r.1: 3 = r.1
                reduce r.0: 2 = r.0
                C.rf[i, r.1] init sum= A[i, r.1 + 3*r.0]
              }
            }
          }
        }
        for i in 2 {
          for r.1 in 3 {
            block C {
              i: 2 = i
              reduce r.1: 3 = r.1
              C[i] init sum= C.rf[i, r.1]
            }
          }
        }
      }
      for i in 2 {
        block D {
          i: 2 = i
          j: 3 = j
          D[i, j] = C[i] * B[j]
        }
      }
    }
  }
}
)");
}

// What partial results are for: vectors along the reduction, further steps on either block.
TEST(Rfactor, ThenInVectors) {
  expect_steps(task_of("C[i:2] = sum(r:8) A[i, r]"),
               "split C r [4]; rfactor C r.1; vectorize C.rf r.1; compute_at C.rf C i scope=registers", R"(
input A: f32[2, 8] [0][1]
output C: f32[2] [0]
main {
  for i in 2 {
    alloc C.rf: f32[2, 4] registers [0][1] {
      for i_2 in 1 {
        for r.1 in 4 {
          for r.0 in 2 {
            block C.rf {
              i: 2 = i
              r.1: 4 = r.1
              reduce r.0: 2 = r.0
              C.rf[i, r.1] init sum= A[i, r.1 + 4*r.0]
            }
          }
        }
      }
      for r.1 in 4 {
        block C {
          i: 2 = i
          reduce r.1: 4 = r.1
          C[i] init sum= C.rf[i, r.1]
        }
      }
    }
  }
}
)");
}

TEST(Rfactor, Refused) {
  expect_illegal(dot(), "rfactor C x", "block 'C' has no loop 'x'; its loops are i, r");
  expect_illegal(dot(), "rfactor C i", "loop 'i' drives no reduce axis of block 'C'");
  expect_illegal(task_of("O[i:4] = A[i] + 1.0"), "rfactor O i",
                 "block 'O' does not reduce from its beginning");
  // It goes on with what its copy has loaded.
  expect_illegal(dot(),
                 "split C r [5]; reorder C r.0 i r.1; cache_write C c at=i scope=thread; rfactor C r.1",
                 "block 'C' does not reduce from its beginning");
  expect_illegal(task_of("S[i:2] = sum(k:4) W[i, k]\nO[i:2] = S[i] * A[i]", {"W"}), "prepare S; rfactor S k",
                 "rfactor works on main only");
  expect_illegal(dot(), "split C r [5]; rfactor C r.1; rfactor C r.1", "there is a 'C.rf' already");
  expect_illegal(dot(), "fuse C i r; rfactor C i_r", "loop 'i_r' drives a spatial axis of block 'C' too");
  // Each iteration of its consumer's loop has a row of its own.
  expect_illegal(task_of("C[i:2] = sum(r:6) A[i, r]\nD[i:2] = C[i] + 1.0"),
                 "compute_at C D i scope=registers; rfactor C r",
                 "loop 'i' of block 'C' holds other statements too");
  // A consumer waits in the loop.
  expect_illegal(task_of("C[i:2] = sum(r:6) A[i, r]\nD[i:2] = C[i] + 1.0"),
                 "split C r [3]; reorder C r.0 i r.1; reverse_compute_at D C r.0 scope=thread; rfactor C r.1",
                 "loop 'r.0' of block 'C' holds other statements too");
}

// Which iterations of a fused loop are beyond the axis is not looked into.
TEST(Rfactor, EmptyPartsAreRefused) {
  expect_illegal(dot(), "split C r [4 2]; fuse C r.0 r.1; rfactor C r.0_r.1",
                 "an iteration of loop 'r.0_r.1' may have nothing to reduce");
}

}  // namespace
}  // namespace lathe::testing
