// tail=pad: where there is room, and the sentences where there is none.
#include "lower/blocks/drop_padding.h"

#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) { return drop_padding(program); };

TEST(DropPadding, LocalBuffersGetRoom) {
  expect_golden(kPass, R"(
input A: f32[10] [0]
output C: f32[10] [0]
main {
  alloc T: f32[10] thread [0] {
    for i.0 in 3 {
      for i.1 in 4 {
        block T where 4*i.0 + i.1 < 10 axis 0 {
          i: 10 = 4*i.0 + i.1 pad
          T[i] = 1.0
        }
      }
    }
    for j in 10 {
      block C {
        i: 10 = j
        C[i] = T[i]
      }
    }
  }
}
)",
                R"(
input A: f32[10] [0]
output C: f32[10] [0]
main {
  alloc T: f32[12] thread [0] {
    for i.0 in 3 {
      for i.1 in 4 {
        block T {
          i: 12 = 4*i.0 + i.1 pad
          T[i] = 1.0
        }
      }
    }
    for j in 10 {
      block C {
        i: 10 = j
        C[i] = T[i]
      }
    }
  }
}
)");
}

TEST(DropPadding, PaddedLayoutsHaveRoom) {
  expect_golden(kPass, R"(
input A: f32[10] [0/4][0%4]
output C: f32[10] [0/8][0%8]
main {
  for i.0 in 3 {
    for i.1 in 4 {
      block C where 4*i.0 + i.1 < 10 axis 0 {
        i: 10 = 4*i.0 + i.1 pad
        C[i] = A[i]
      }
    }
  }
}
)",
                R"(
input A: f32[10] [0/4][0%4]
output C: f32[10] [0/8][0%8]
main {
  for i.0 in 3 {
    for i.1 in 4 {
      block C {
        i: 12 = 4*i.0 + i.1 pad
        C[i] = A[i]
      }
    }
  }
}
)");
}

// Vectors of nothing but padding are not computed; the last one with something in it is, whole.
TEST(DropPadding, VectorsThatLieBeyondStayAway) {
  expect_golden(kPass, R"(
input A: f32[18] [0/16][0%16]
output C: f32[18] [0/16][0%16]
main {
  for i.0 in 2 {
    unroll i.1 in 4 {
      vector i.2 in 4 {
        block C where 16*i.0 + 4*i.1 + i.2 < 18 axis 0 {
          i: 18 = 16*i.0 + 4*i.1 + i.2 pad
          C[i] = A[i]
        }
      }
    }
  }
}
)",
                R"(
input A: f32[18] [0/16][0%16]
output C: f32[18] [0/16][0%16]
main {
  for i.0 in 2 {
    unroll i.1 in 4 {
      vector i.2 in 4 {
        block C where 16*i.0 + 4*i.1 < 18 pad {
          i: 32 = 16*i.0 + 4*i.1 + i.2 pad
          C[i] = A[i]
        }
      }
    }
  }
}
)");
}

TEST(DropPadding, SelectedLoadsNeedNoRoom) {
  expect_golden(kPass, R"(
input A: f32[10] [0]
output C: f32[10] [0/4][0%4]
main {
  for i.0 in 3 {
    for i.1 in 4 {
      block C where 4*i.0 + i.1 < 10 axis 0 {
        i: 10 = 4*i.0 + i.1 pad
        C[i] = select(i < 10, A[i], 0.0)
      }
    }
  }
}
)",
                R"(
input A: f32[10] [0]
output C: f32[10] [0/4][0%4]
main {
  for i.0 in 3 {
    for i.1 in 4 {
      block C {
        i: 12 = 4*i.0 + i.1 pad
        C[i] = select(i < 10, A[i], 0.0)
      }
    }
  }
}
)");
}

// A copy that writes zeros beyond the bound makes the padding neutral.
TEST(DropPadding, ReduceAxisOverZeros) {
  expect_golden(kPass, R"(
input A: f32[8, 6] [0][1]
output C: f32[8] [0]
main {
  alloc T: f32[8, 8] thread [0][1] {
    for d0 in 8 {
      for d1 in 8 {
        block T {
          d0: 8 = d0
          d1: 8 = d1
          T[d0, d1] = select(d1 < 6, A[d0, d1], 0.0)
        }
      }
    }
    for i in 8 {
      for r.0 in 2 {
        for r.1 in 4 {
          block C where 4*r.0 + r.1 < 6 axis 1 {
            i: 8 = i
            reduce r: 6 = 4*r.0 + r.1 pad
            C[i] sum= T[i, r] * T[i, r]
          }
        }
      }
    }
  }
}
)",
                R"(
input A: f32[8, 6] [0][1]
output C: f32[8] [0]
main {
  alloc T: f32[8, 8] thread [0][1] {
    for d0 in 8 {
      for d1 in 8 {
        block T {
          d0: 8 = d0
          d1: 8 = d1
          T[d0, d1] = select(d1 < 6, A[d0, d1], 0.0)
        }
      }
    }
    for i in 8 {
      for r.0 in 2 {
        for r.1 in 4 {
          block C {
            i: 8 = i
            reduce r: 8 = 4*r.0 + r.1 pad
            C[i] sum= T[i, r] * T[i, r]
          }
        }
      }
    }
  }
}
)");
}

TEST(DropPadding, NoRoomInAnArgument) {
  expect_error(kPass, R"(
input A: f32[10] [0]
output C: f32[10] [0]
main {
  for i.0 in 3 {
    for i.1 in 4 {
      block C where 4*i.0 + i.1 < 10 axis 0 {
        i: 10 = 4*i.0 + i.1 pad
        C[i] = 1.0
      }
    }
  }
}
)",
               "tail pad on axis 'i' of block 'C' touches index 11 of dimension 0 of 'C', which has room for "
               "10; use another tail or a padded layout");
}

TEST(DropPadding, ReduceAxisOverWhatIsNotZero) {
  expect_error(
      kPass, R"(
input A: f32[8, 6] [0][1]
output C: f32[8] [0]
main {
  alloc T: f32[8, 8] thread [0][1] {
    for d0 in 8 {
      for d1 in 8 {
        block T {
          d0: 8 = d0
          d1: 8 = d1
          T[d0, d1] = 1.0
        }
      }
    }
    for i in 8 {
      for r.0 in 2 {
        for r.1 in 4 {
          block C where 4*r.0 + r.1 < 6 axis 1 {
            i: 8 = i
            reduce r: 6 = 4*r.0 + r.1 pad
            C[i] sum= T[i, r]
          }
        }
      }
    }
  }
}
)",
      "tail pad on reduce axis 'r' of block 'C' needs 'T' to be padded with zeros there; use another tail");
}

// Zeros are not the identity of a maximum.
TEST(DropPadding, MaximumOverZeros) {
  expect_error(kPass, R"(
input A: f32[8, 6] [0][1]
output C: f32[8] [0]
main {
  alloc T: f32[8, 8] thread [0][1] {
    for d0 in 8 {
      for d1 in 8 {
        block T {
          d0: 8 = d0
          d1: 8 = d1
          T[d0, d1] = select(d1 < 6, A[d0, d1], 0.0)
        }
      }
    }
    for i in 8 {
      for r.0 in 2 {
        for r.1 in 4 {
          block C where 4*r.0 + r.1 < 6 axis 1 {
            i: 8 = i
            reduce r: 6 = 4*r.0 + r.1 pad
            C[i] max= T[i, r]
          }
        }
      }
    }
  }
}
)",
               "tail pad on reduce axis 'r' of block 'C' needs a body that gives the reduction's identity "
               "for zeros; use another tail");
}

// Nor is one the identity of a sum of integers.
TEST(DropPadding, SumOfOnes) {
  expect_error(kPass, R"(
output C: i32[8] [0]
main {
  for i in 8 {
    for r.0 in 2 {
      for r.1 in 4 {
        block C where 4*r.0 + r.1 < 6 axis 1 {
          i: 8 = i
          reduce r: 6 = 4*r.0 + r.1 pad
          C[i] sum= i32(1)
        }
      }
    }
  }
}
)",
               "tail pad on reduce axis 'r' of block 'C' needs a body that gives the reduction's identity "
               "for zeros; use another tail");
}

}  // namespace
}  // namespace lathe::testing
