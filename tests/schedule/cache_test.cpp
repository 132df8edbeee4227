// cache_read: a block reads a copy. cache_write: cache_write_test.cpp.
#include "schedule/golden.h"

namespace lathe::testing {
namespace {

Task product(const std::vector<std::string>& constants = {}) {
  return task_of("C[i:4, j:6] = sum(r:5) A[i, r] * B[r, j]", constants);
}
Task chain() { return task_of("T[i:4, j:6] = A[i, j] + 1.0\nO[i:4, j:6] = T[i, j] * 2.0"); }

// A constant in panels of four columns: two of them lie beyond the tensor and are zeros.
TEST(CacheRead, InPrepareWithALayout) {
  expect_steps(product({"B"}), "cache_read C B P at=prepare scope=workspace layout=[1/4][0][1%4]", R"(
input A: f32[4, 5] [0][1]
constant B: f32[5, 6] [0][1]
output C: f32[4, 6] [0][1]
prepared P: f32[5, 6] [1/4][0][1%4]
prepare {
  for d0 in 5 {
    for d1 in 8 {
      block P {
        d0: 5 = d0
        d1: 8 = d1
        P[d0, d1] = select(d1 < 6, B[d0, d1], 0.0)
      }
    }
  }
}
main {
  for i in 4 {
    for j in 6 {
      for r in 5 {
        block C {
          i: 4 = i
          j: 6 = j
          reduce r: 5 = r
          C[i, j] init sum= A[i, r] * P[r, j]
        }
      }
    }
  }
}
)");
}

// A copy of a copy: both are made beforehand, the first one first.
TEST(CacheRead, InPrepareTwice) {
  expect_steps(product({"B"}),
               "cache_read C B P at=prepare scope=workspace; cache_read P B Q at=prepare scope=workspace "
               "layout=[1][0]",
               R"(
input A: f32[4, 5] [0][1]
constant B: f32[5, 6] [0][1]
output C: f32[4, 6] [0][1]
prepared P: f32[5, 6] [0][1]
prepared Q: f32[5, 6] [1][0]
prepare {
  for d0 in 5 {
    for d1 in 6 {
      block Q {
        d0: 5 = d0
        d1: 6 = d1
        Q[d0, d1] = B[d0, d1]
      }
    }
  }
  for d0 in 5 {
    for d1 in 6 {
      block P {
        d0: 5 = d0
        d1: 6 = d1
        P[d0, d1] = Q[d0, d1]
      }
    }
  }
}
main {
  for i in 4 {
    for j in 6 {
      for r in 5 {
        block C {
          i: 4 = i
          j: 6 = j
          reduce r: 5 = r
          C[i, j] init sum= A[i, r] * P[r, j]
        }
      }
    }
  }
}
)");
}

// At the root an intermediate is copied before its first use, behind its producer: in the workspace, whatever
// the scope, for all threads read it.
TEST(CacheRead, AtTheRoot) {
  expect_steps(chain(), "cache_read O T P at=root scope=thread layout=[1][0]", R"(
input A: f32[4, 6] [0][1]
output O: f32[4, 6] [0][1]
main {
  alloc P: f32[4, 6] workspace [1][0] {
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
      for d0 in 4 {
        for d1 in 6 {
          block P {
            d0: 4 = d0
            d1: 6 = d1
            P[d0, d1] = T[d0, d1]
          }
        }
      }
      for i in 4 {
        for j in 6 {
          block O {
            i: 4 = i
            j: 6 = j
            O[i, j] = P[i, j] * 2.0
          }
        }
      }
    }
  }
}
)");
}

// In a loop: what one of its iterations reads, in the place where it lies in the tensor.
TEST(CacheRead, InALoop) {
  expect_steps(product(), "cache_read C A a at=i scope=thread", R"(
input A: f32[4, 5] [0][1]
input B: f32[5, 6] [0][1]
output C: f32[4, 6] [0][1]
main {
  for i in 4 {
    alloc a: f32[4, 5] thread [0][1] {
      for d0 in 1 {
        for d1 in 5 {
          block a {
            d0: 4 = i
            d1: 5 = d1
            a[d0, d1] = A[d0, d1]
          }
        }
      }
      for j in 6 {
        for r in 5 {
          block C {
            i: 4 = i
            j: 6 = j
            reduce r: 5 = r
            C[i, j] init sum= a[i, r] * B[r, j]
          }
        }
      }
    }
  }
}
)");
}

// Where the last tile reads beyond the tensor, under a condition, the copy has zeros and room for them.
TEST(CacheRead, OfImperfectTiles) {
  expect_steps(product(), "split C j [4]; reorder C j.0 i r j.1; cache_read C B b at=j.0 scope=thread",
               R"(
input A: f32[4, 5] [0][1]
input B: f32[5, 6] [0][1]
output C: f32[4, 6] [0][1]
main {
  for j.0 in 2 {
    alloc b: f32[5, 8] thread [0][1] {
      for d0 in 5 {
        for d1 in 4 {
          block b {
            d0: 5 = d0
            d1: 8 = 4*j.0 + d1
            b[d0, d1] = select(d1 < 6, B[d0, d1], 0.0)
          }
        }
      }
      for i in 4 {
        for r in 5 {
          for j.1 in 4 {
            block C where 4*j.0 + j.1 < 6 axis 1 {
              i: 4 = i
              j: 6 = 4*j.0 + j.1
              reduce r: 5 = r
              C[i, j] init sum= A[i, r] * b[r, j]
            }
          }
        }
      }
    }
  }
}
)");
}

// A window reads what neighbours read, too: the copy has all of it.
TEST(CacheRead, OfAWindow) {
  expect_steps(task_of("O[x:6] = sum(k:3) A[x + k] * W[k]"),
               "split O x [2]; cache_read O A a at=x.0 scope=registers", R"(
input A: f32[8] [0]
input W: f32[3] [0]
output O: f32[6] [0]
main {
  for x.0 in 3 {
    alloc a: f32[8] registers [0] {
      for d0 in 4 {
        block a {
          d0: 8 = 2*x.0 + d0
          a[d0] = A[d0]
        }
      }
      for x.1 in 2 {
        for k in 3 {
          block O {
            x: 6 = 2*x.0 + x.1
            reduce k: 3 = k
            O[x] init sum= a[x + k] * W[k]
          }
        }
      }
    }
  }
}
)");
}

// All loads of the tensor in that block go to the copy, those of other blocks stay.
TEST(CacheRead, OfSeveralLoads) {
  expect_steps(task_of("P[i:4] = A[i] * A[3 - i]\nQ[i:4] = A[i] + P[i]"),
               "cache_read P A a at=root scope=workspace", R"(
input A: f32[4] [0]
output Q: f32[4] [0]
main {
  alloc a: f32[4] workspace [0] {
    alloc P: f32[4] workspace [0] {
      for d0 in 4 {
        block a {
          d0: 4 = d0
          a[d0] = A[d0]
        }
      }
      for i in 4 {
        block P {
          i: 4 = i
          P[i] = a[i] * a[-i + 3]
        }
      }
      for i in 4 {
        block Q {
          i: 4 = i
          Q[i] = A[i] + P[i]
        }
      }
    }
  }
}
)");
}

// Numbers of u8 and i8 are numbers of i16 too.
TEST(CacheRead, AsAWiderType) {
  expect_steps(task_of("input A[2, 4] u8\nC[i:2] = sum(r:4) i32(select(r < 3, A[i, r], u8(0)))"),
               "cache_read C A a at=root scope=workspace type=i16", R"(
input A: u8[2, 4] [0][1]
output C: i32[2] [0]
main {
  alloc a: i16[2, 4] workspace [0][1] {
    for d0 in 2 {
      for d1 in 4 {
        block a {
          d0: 2 = d0
          d1: 4 = d1
          a[d0, d1] = i16(A[d0, d1])
        }
      }
    }
    for i in 2 {
      for r in 4 {
        block C {
          i: 2 = i
          reduce r: 4 = r
          C[i] init sum= i32(select(r < 3, a[i, r], i16(0)))
        }
      }
    }
  }
}
)");
}

TEST(CacheRead, AnotherTypeMustHoldTheNumbersAndBeCast) {
  const Task task = task_of("input A[4] u8\nC[i:4] = i32(A[i])\nD[i:4] = A[i] + 1");
  expect_illegal(task, "cache_read C A a at=root scope=workspace type=i8",
                 "i8 does not hold all numbers of 'A', which is u8");
  expect_illegal(task, "cache_read D A a at=root scope=workspace type=i16",
                 "block 'D' does more with elements of 'A' than to cast them, so a copy has their type");
}

TEST(CacheRead, Refused) {
  expect_illegal(product(), "cache_read C X x at=root scope=workspace", "block 'C' does not read 'X'");
  expect_illegal(chain(), "cache_read O A a at=root scope=workspace", "block 'O' does not read 'A'");
  expect_illegal(product(), "cache_read C A C at=root scope=workspace", "there is a 'C' already");
  expect_illegal(product(), "cache_read C A a at=x scope=workspace",
                 "block 'C' has no loop 'x'; its loops are i, j, r");
  expect_illegal(product(), "cache_read C A a at=prepare scope=workspace",
                 "'A' is no constant, so it cannot be copied beforehand");
  expect_illegal(product(), "cache_read C A a at=root scope=workspace layout=[0]",
                 "layout [0]: dimension 1 is missing");
}

// What is written in the loop behind the place of the copy would not be in it.
TEST(CacheRead, OfWhatIsNotThereYetIsRefused) {
  expect_illegal(chain(), "compute_at T O i scope=workspace; cache_read O T t at=root scope=workspace",
                 "block 'T' writes 'T' after it would be copied");
  expect_illegal(product(),
                 "split C r [2]; reorder C r.0 i j r.1; cache_write C c at=i scope=thread; "
                 "cache_read c.in C d at=r.0 scope=thread",
                 "block 'c.out' writes 'C' after it would be copied");
}

}  // namespace
}  // namespace lathe::testing
