// layout, stream and tail: how buffers lie in memory and how the ends of axes are treated.
#include "schedule/golden.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

Task chain(const std::vector<std::string>& constants = {}) {
  return task_of("T[i:6, j:4] = W[i, j] + 1.0\nO[i:6, j:4] = T[i, j] * A[i, j]", constants);
}

Task with_free_layouts() {
  return make_task("test", parse_dag("O[i:6, j:4] = A[i, j] * 2.0").value(), generic_target("x86-avx2"), {},
                   /*free_layouts=*/true)
      .value();
}

// An intermediate in blocks of four rows, the last of them half used: accesses keep their indices.
TEST(Layout, OfAnIntermediate) {
  expect_steps(chain(), "layout T [0/4][1][0%4]", R"(
input W: f32[6, 4] [0][1]
input A: f32[6, 4] [0][1]
output O: f32[6, 4] [0][1]
main {
  alloc T: f32[6, 4] workspace [0/4][1][0%4] {
    for i in 6 {
      for j in 4 {
        block T {
          i: 6 = i
          j: 4 = j
          T[i, j] = W[i, j] + 1.0
        }
      }
    }
    for i in 6 {
      for j in 4 {
        block O {
          i: 6 = i
          j: 4 = j
          O[i, j] = T[i, j] * A[i, j]
        }
      }
    }
  }
}
)");
}

// A buffer that `prepare` fills.
TEST(Layout, OfAPreparedBuffer) {
  expect_steps(chain({"W"}), "prepare T; layout T [1][0]", R"(
constant W: f32[6, 4] [0][1]
input A: f32[6, 4] [0][1]
output O: f32[6, 4] [0][1]
prepared T: f32[6, 4] [1][0]
prepare {
  for i in 6 {
    for j in 4 {
      block T {
        i: 6 = i
        j: 4 = j
        T[i, j] = W[i, j] + 1.0
      }
    }
  }
}
main {
  for i in 6 {
    for j in 4 {
      block O {
        i: 6 = i
        j: 4 = j
        O[i, j] = T[i, j] * A[i, j]
      }
    }
  }
}
)");
}

// An argument whose layout the schedule may choose, with rows that lie two elements further apart.
TEST(Layout, OfAFreeArgument) {
  expect_steps(with_free_layouts(), "layout A [0][1+2]; layout O [1][0]", R"(
input A: f32[6, 4] [0][1+2] free
output O: f32[6, 4] [1][0] free
main {
  for i in 6 {
    for j in 4 {
      block O {
        i: 6 = i
        j: 4 = j
        O[i, j] = A[i, j] * 2.0
      }
    }
  }
}
)");
}

// A buffer inside of a loop; a later step takes the place of an earlier one.
TEST(Layout, OfALocalBuffer) {
  expect_steps(chain(), "compute_at T O i scope=thread; layout T [1][0]; layout T [0][1/2][1%2]", R"(
input W: f32[6, 4] [0][1]
input A: f32[6, 4] [0][1]
output O: f32[6, 4] [0][1]
main {
  for i in 6 {
    alloc T: f32[6, 4] thread [0][1/2][1%2] {
      for i_2 in 1 {
        for j in 4 {
          block T {
            i: 6 = i
            j: 4 = j
            T[i, j] = W[i, j] + 1.0
          }
        }
      }
      for j in 4 {
        block O {
          i: 6 = i
          j: 4 = j
          O[i, j] = T[i, j] * A[i, j]
        }
      }
    }
  }
}
)");
}

TEST(Layout, Refused) {
  expect_illegal(chain(), "layout X [0][1]", "there is no buffer 'X'");
  expect_illegal(chain(), "layout O [1][0]", "the layout of argument 'O' is fixed");
  expect_illegal(chain({"W"}), "layout W [1][0]", "the layout of argument 'W' is fixed");
  // As task/layout.h has it.
  expect_illegal(chain(), "layout T [0]", "layout [0]: dimension 1 is missing");
  expect_illegal(chain(), "layout T [0][1][2]",
                 "layout [0][1][2]: there is no dimension 2, the tensor has 2");
  expect_illegal(chain(), "layout T [0/4][1][0%2]",
                 "layout [0/4][1][0%2]: the parts of dimension 0 do not chain: one divides by 4, not 2");
  // The copy's block writes zeros up to the end of its blocks of four.
  expect_illegal(chain(), "cache_read O T P at=root scope=workspace layout=[0/4][1][0%4]; layout P [0][1]",
                 "block 'P' writes index 7 of dimension 0 of 'P', the layout has room for 6");
}

TEST(Stream, AnOutput) {
  expect_steps(chain(), "stream O", R"(
input W: f32[6, 4] [0][1]
input A: f32[6, 4] [0][1]
output O: f32[6, 4] [0][1] streams
main {
  alloc T: f32[6, 4] workspace [0][1] {
    for i in 6 {
      for j in 4 {
        block T {
          i: 6 = i
          j: 4 = j
          T[i, j] = W[i, j] + 1.0
        }
      }
    }
    for i in 6 {
      for j in 4 {
        block O {
          i: 6 = i
          j: 4 = j
          O[i, j] = T[i, j] * A[i, j]
        }
      }
    }
  }
}
)");
}

TEST(Stream, Refused) {
  expect_illegal(chain(), "stream T", "there is no output 'T'");
  expect_illegal(chain(), "stream A", "there is no output 'A'");
  expect_illegal(chain(), "stream X", "there is no output 'X'");
}

// Each policy stands with its axis, whole tiles or not; `guard` is what is not written.
TEST(SetTail, EachPolicy) {
  expect_steps(
      task_of("O[a:7, b:7, c:7, d:7, e:8] = A[a, b, c, d, e] * 2.0"),
      "split O a [2]; tail O a bound; tail O b peel; split O c [4]; tail O c mask; tail O d overlap; "
      "tail O e peel; tail O e guard",
      R"(
input A: f32[7, 7, 7, 7, 8] [0][1][2][3][4]
output O: f32[7, 7, 7, 7, 8] [0][1][2][3][4]
main {
  for a.0 in 4 {
    for a.1 in 2 {
      for b in 7 {
        for c.0 in 2 {
          for c.1 in 4 {
            for d in 7 {
              for e in 8 {
                block O where 2*a.0 + a.1 < 7 axis 0, 4*c.0 + c.1 < 7 axis 2 {
                  a: 7 = 2*a.0 + a.1 bound
                  b: 7 = b peel
                  c: 7 = 4*c.0 + c.1 mask
                  d: 7 = d overlap
                  e: 8 = e
                  O[a, b, c, d, e] = A[a, b, c, d, e] * 2.0
                }
              }
            }
          }
        }
      }
    }
  }
}
)");
}

// The condition of `pad` stays, too, until lowering drops it.
TEST(SetTail, Pad) {
  expect_steps(chain(), "layout T [0/4][0%4][1]; split T i [4]; tail T i pad", R"(
input W: f32[6, 4] [0][1]
input A: f32[6, 4] [0][1]
output O: f32[6, 4] [0][1]
main {
  alloc T: f32[6, 4] workspace [0/4][0%4][1] {
    for i.0 in 2 {
      for i.1 in 4 {
        for j in 4 {
          block T where 4*i.0 + i.1 < 6 axis 0 {
            i: 6 = 4*i.0 + i.1 pad
            j: 4 = j
            T[i, j] = W[i, j] + 1.0
          }
        }
      }
    }
    for i in 6 {
      for j in 4 {
        block O {
          i: 6 = i
          j: 4 = j
          O[i, j] = T[i, j] * A[i, j]
        }
      }
    }
  }
}
)");
}

TEST(SetTail, Refused) {
  expect_illegal(chain(), "tail X i peel", "there is no block 'X'");
  expect_illegal(chain(), "tail T x peel", "block 'T' has no axis 'x'");
  // Axes are the block's; its loops are not.
  expect_illegal(chain(), "split T i [4]; tail T i.0 peel", "block 'T' has no axis 'i.0'");
}

}  // namespace
}  // namespace lathe::testing
