// cache_write: a block writes a copy, which is stored, and loaded where it goes on.
#include "schedule/golden.h"

namespace lathe::testing {
namespace {

Task product() { return task_of("C[i:4, j:6] = sum(r:5) A[i, r] * B[r, j]"); }
Task chain() { return task_of("T[i:4, j:6] = A[i, j] + 1.0\nO[i:4, j:6] = T[i, j] * 2.0"); }

// A local tile of results, then stored: for a whole reduction it is begun and completed there.
TEST(CacheWrite, AroundAReduction) {
  expect_steps(product(), "cache_write C c at=i scope=registers", R"(
input A: f32[4, 5] [0][1]
input B: f32[5, 6] [0][1]
output C: f32[4, 6] [0][1]
main {
  for i in 4 {
    alloc c: f32[4, 6] registers [0][1] {
      for j in 6 {
        for r in 5 {
          block C {
            i: 4 = i
            j: 6 = j
            reduce r: 5 = r
            c[i, j] init sum= A[i, r] * B[r, j]
          }
        }
      }
      for i_2 in 1 {
        for j in 6 {
          block c.out {
            i: 4 = i
            j: 6 = j
            C[i, j] = c[i, j]
          }
        }
      }
    }
  }
}
)");
}

// The last tile writes as much as there is.
TEST(CacheWrite, OfImperfectTiles) {
  expect_steps(product(), "split C j [4]; reorder C i j.0 r j.1; cache_write C c at=j.0 scope=registers",
               R"(
input A: f32[4, 5] [0][1]
input B: f32[5, 6] [0][1]
output C: f32[4, 6] [0][1]
main {
  for i in 4 {
    for j.0 in 2 {
      alloc c: f32[4, 6] registers [0][1] {
        for r in 5 {
          for j.1 in 4 {
            block C where 4*j.0 + j.1 < 6 axis 1 {
              i: 4 = i
              j: 6 = 4*j.0 + j.1
              reduce r: 5 = r
              c[i, j] init sum= A[i, r] * B[r, j]
            }
          }
        }
        for i_2 in 1 {
          for j in 4 {
            block c.out where 4*j.0 + j < 6 axis 1 {
              i: 4 = i
              j: 6 = 4*j.0 + j
              C[i, j] = c[i, j]
            }
          }
        }
      }
    }
  }
}
)");
}

// Below a reduce loop the copy is loaded, zeros in the first iteration, and stored in each.
TEST(CacheWrite, BelowAReduceLoop) {
  expect_steps(product(), "split C r [2]; reorder C r.0 i j r.1; cache_write C c at=i scope=registers",
               R"(
input A: f32[4, 5] [0][1]
input B: f32[5, 6] [0][1]
output C: f32[4, 6] [0][1]
main {
  for r.0 in 3 {
    for i in 4 {
      alloc c: f32[4, 6] registers [0][1] {
        for i_2 in 1 {
          for j in 6 {
            block c.in {
              i: 4 = i
              j: 6 = j
              reduce r.0: 3 = r.0
              c[i, j] = select(r.0 == 0, 0.0, C[i, j])
            }
          }
        }
        for j in 6 {
          for r.1 in 2 {
            block C where 2*r.0 + r.1 < 5 axis 2 {
              i: 4 = i
              j: 6 = j
              reduce r: 5 = 2*r.0 + r.1
              c[i, j] sum= A[i, r] * B[r, j]
            }
          }
        }
        for i_2 in 1 {
          for j in 6 {
            block c.out {
              i: 4 = i
              j: 6 = j
              reduce r.0: 3 = r.0
              C[i, j] = c[i, j]
            }
          }
        }
      }
    }
  }
}
)");
}

// Of a reduce axis that lies around as a whole the copies have that axis.
TEST(CacheWrite, BelowAWholeReduceAxis) {
  expect_steps(task_of("M[i:4] = max(r:5, s:2) A[i, r, s]"),
               "reorder M r i s; cache_write M m at=i scope=registers", R"(
input A: f32[4, 5, 2] [0][1][2]
output M: f32[4] [0]
main {
  for r in 5 {
    for i in 4 {
      alloc m: f32[4] registers [0] {
        for i_2 in 1 {
          block m.in {
            i: 4 = i
            reduce r: 5 = r
            m[i] = select(r == 0, -inf, M[i])
          }
        }
        for s in 2 {
          block M {
            i: 4 = i
            reduce r: 5 = r
            reduce s: 2 = s
            m[i] max= A[i, r, s]
          }
        }
        for i_2 in 1 {
          block m.out {
            i: 4 = i
            reduce r: 5 = r
            M[i] = m[i]
          }
        }
      }
    }
  }
}
)");
}

constexpr const char* kTwice = R"(
input A: f32[4, 5] [0][1]
input B: f32[5, 6] [0][1]
output C: f32[4, 6] [0][1]
main {
  for r.0 in 3 {
    for i in 4 {
      alloc c: f32[4, 6] thread [0][1] {
        for i_2 in 1 {
          for j in 6 {
            block c.in {
              i: 4 = i
              j: 6 = j
              reduce r.0: 3 = r.0
              c[i, j] = select(r.0 == 0, 0.0, C[i, j])
            }
          }
        }
        for j in 6 {
          alloc d: f32[4, 6] registers [0][1] {
            for i_2 in 1 {
              for j_2 in 1 {
                block d.in {
                  i: 4 = i
                  j: 6 = j
                  reduce r.0: 3 = r.0
                  d[i, j] = c[i, j]
                }
              }
            }
            for r.1 in 2 {
              block C where 2*r.0 + r.1 < 5 axis 2 {
                i: 4 = i
                j: 6 = j
                reduce r: 5 = 2*r.0 + r.1
                d[i, j] sum= A[i, r] * B[r, j]
              }
            }
            for i_2 in 1 {
              for j_2 in 1 {
                block d.out {
                  i: 4 = i
                  j: 6 = j
                  reduce r.0: 3 = r.0
                  c[i, j] = d[i, j]
                }
              }
            }
          }
        }
        for i_2 in 1 {
          for j in 6 {
            block c.out {
              i: 4 = i
              j: 6 = j
              reduce r.0: 3 = r.0
              C[i, j] = c[i, j]
            }
          }
        }
      }
    }
  }
}
)";

// A copy of a copy: the second goes on with what the first has.
TEST(CacheWrite, Twice) {
  expect_steps(product(),
               "split C r [2]; reorder C r.0 i j r.1; cache_write C c at=i scope=thread; "
               "cache_write C d at=j scope=registers",
               kTwice);
}

// What does not reduce is stored only.
TEST(CacheWrite, OfAPointWiseBlock) {
  expect_steps(chain(), "split T j [2]; cache_write T t at=j.0 scope=registers", R"(
input A: f32[4, 6] [0][1]
output O: f32[4, 6] [0][1]
main {
  alloc T: f32[4, 6] workspace [0][1] {
    for i in 4 {
      for j.0 in 3 {
        alloc t: f32[4, 6] registers [0][1] {
          for j.1 in 2 {
            block T {
              i: 4 = i
              j: 6 = 2*j.0 + j.1
              t[i, j] = A[i, j] + 1.0
            }
          }
          for i_2 in 1 {
            for j in 2 {
              block t.out {
                i: 4 = i
                j: 6 = 2*j.0 + j
                T[i, j] = t[i, j]
              }
            }
          }
        }
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

// Fused loops of a tile write no box: its loops are copied.
TEST(CacheWrite, OfWhatIsNoBox) {
  expect_steps(task_of("O[i:3, j:4] = A[i, j] * 2.0"),
               "fuse O i j; split O i_j [2 3]; cache_write O o at=i_j.0 scope=thread", R"(
input A: f32[3, 4] [0][1]
output O: f32[3, 4] [0][1]
main {
  for i_j.0 in 2 {
    alloc o: f32[3, 4] thread [0][1] {
      for i_j.1 in 2 {
        for i_j.2 in 3 {
          block O {
            i: 3 = (6*i_j.0 + 3*i_j.1 + i_j.2)/4
            j: 4 = (6*i_j.0 + 3*i_j.1 + i_j.2)%4
            o[i, j] = A[i, j] * 2.0
          }
        }
      }
      for i_j.1 in 2 {
        for i_j.2 in 3 {
          block o.out {
            i: 3 = (6*i_j.0 + 3*i_j.1 + i_j.2)/4
            j: 4 = (6*i_j.0 + 3*i_j.1 + i_j.2)%4
            O[i, j] = o[i, j]
          }
        }
      }
    }
  }
}
)");
}

TEST(CacheWrite, Refused) {
  expect_illegal(product(), "cache_write C c at=x scope=registers",
                 "block 'C' has no loop 'x'; its loops are i, j, r");
  expect_illegal(product(), "cache_write C C at=i scope=registers", "there is a 'C' already");
  expect_illegal(product(), "fuse C j r; cache_write C c at=j_r scope=registers",
                 "loop 'j_r' drives a spatial and a reduce axis of block 'C'");
  expect_illegal(task_of("C[i:4] = sum(r:5) A[i, r]\nD[i:4] = C[i] + 1.0"),
                 "reverse_compute_at D C i scope=workspace; cache_write C c at=i scope=registers",
                 "block 'D' below loop 'i' uses 'C' too");
  // Below a reduce loop no loop further in may be mixed either: which iteration is the first?
  expect_illegal(product(),
                 "split C r [2]; reorder C r.0 i j r.1; fuse C j r.1; cache_write C c at=i scope=thread",
                 "loop 'j_r.1' drives a spatial and a reduce axis of block 'C'");
}

// Places that hang on more than one axis each.
TEST(CacheWrite, OfOtherPlacesThanItsAxesIsRefused) {
  expect_illegal(program_of(R"(
input A: f32[3, 4] [0][1]
output O: f32[12] [0]
main {
  for i in 3 {
    for j in 4 {
      block O {
        i: 3 = i
        j: 4 = j
        O[4*i + j] = A[i, j]
      }
    }
  }
}
)"),
                 "cache_write O o at=i scope=thread", "block 'O' does not write its output point by point");
}

}  // namespace
}  // namespace lathe::testing
