// Blocks as stores.
#include "lower/blocks/lower_blocks.h"

#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) { return lower_blocks(program); };

TEST(LowerBlocks, BindsAxesAndKeepsTheTail) {
  expect_golden(kPass, R"(
input A: f32[10, 6] [0][1]
output C: f32[10] [0]
main {
  for i.0 in 3 {
    for i.1 in 4 {
      for r in 6 {
        block C where 4*i.0 + i.1 < 10 axis 0, r < 6 axis 1 {
          i: 10 = 4*i.0 + i.1 peel
          reduce r: 6 = r
          C[i] max= A[i, r] * 2.0
        }
      }
    }
  }
}
)",
                R"(
input A: f32[10, 6] [0][1]
output C: f32[10] [0]
main {
  for i.0 in 3 {
    for i.1 in 4 {
      for r in 6 {
        if 4*i.0 + i.1 < 10 axis 0 peel {
          store C[4*i.0 + i.1] = max(A[4*i.0 + i.1, r] * 2.0, C[4*i.0 + i.1])
        }
      }
    }
  }
}
)");
}

// Where a condition says that a part stays inside, no quotient of it is left; conditions are looked at
// without the loops of one place.
TEST(LowerBlocks, ConditionsSettleDivisions) {
  expect_golden(kPass, R"(
input A: f32[19] [0]
output C: f32[2, 19] [0][1]
main {
  for q in 2 {
    for e in 1 {
      for r.0 in 3 {
        for r.1 in 8 {
          block C where e + 8*r.0 + r.1 < 19 axis 1 {
            i: 2 = q + (8*r.0 + r.1)/19
            j: 19 = (8*r.0 + r.1)%19 peel
            C[i, j] = A[j] * 2.0
          }
        }
      }
    }
  }
}
)",
                R"(
input A: f32[19] [0]
output C: f32[2, 19] [0][1]
main {
  for q in 2 {
    for e in 1 {
      for r.0 in 3 {
        for r.1 in 8 {
          if 8*r.0 + r.1 < 19 axis 1 peel {
            store C[q, 8*r.0 + r.1] = A[8*r.0 + r.1] * 2.0
          }
        }
      }
    }
  }
}
)");
}

// A condition that only saves work may go again: nothing is simplified by it.
TEST(LowerBlocks, PaddingSettlesNoDivision) {
  expect_golden(kPass, R"(
output C: f32[2, 24] [0][1]
main {
  for r.0 in 3 {
    for r.1 in 8 {
      block C where 8*r.0 + r.1 < 19 pad {
        i: 2 = (8*r.0 + r.1)/19
        j: 24 = 8*r.0 + r.1
        C[i, j] = 2.0
      }
    }
  }
}
)",
                R"(
output C: f32[2, 24] [0][1]
main {
  for r.0 in 3 {
    for r.1 in 8 {
      if 8*r.0 + r.1 < 19 pad {
        store C[(8*r.0 + r.1)/19, 8*r.0 + r.1] = 2.0
      }
    }
  }
}
)");
}

// An index that repeats is periodic in the tile only where tiles start at multiples of their size.
TEST(LowerBlocks, TilesOfRepeatingIndicesDoNotOverlap) {
  expect_golden(kPass, R"(
input A: f32[6] [0]
output C: f32[23] [0]
main {
  for i.0 in 2 {
    for i.1 in 12 {
      block C where 12*i.0 + i.1 < 23 axis 0 {
        i: 23 = 12*i.0 + i.1 overlap
        C[i] = A[i%6] * 2.0
      }
    }
  }
}
)",
                R"(
input A: f32[6] [0]
output C: f32[23] [0]
main {
  for i.0 in 2 {
    for i.1 in 12 {
      if 12*i.0 + i.1 < 23 axis 0 peel {
        store C[12*i.0 + i.1] = A[i.1%6] * 2.0
      }
    }
  }
}
)");
}

// Each reduction updates in its own way; without one the value is stored.
TEST(LowerBlocks, EachReduction) {
  expect_golden(kPass, R"(
input A: f32[4] [0]
output S: f32[1] [0]
output M: f32[1] [0]
output N: f32[1] [0]
output P: f32[1] [0]
main {
  for r in 4 {
    block S {
      i: 1 = 0
      reduce r: 4 = r
      S[i] sum= A[r]
    }
    block M {
      i: 1 = 0
      reduce r: 4 = r
      M[i] max= A[r]
    }
    block N {
      i: 1 = 0
      reduce r: 4 = r
      N[i] min= A[r]
    }
    block P {
      i: 1 = 0
      reduce r: 4 = r
      P[i] product= A[r]
    }
  }
}
)",
                R"(
input A: f32[4] [0]
output S: f32[1] [0]
output M: f32[1] [0]
output N: f32[1] [0]
output P: f32[1] [0]
main {
  for r in 4 {
    store S[0] = S[0] + A[r]
    store M[0] = max(A[r], M[0])
    store N[0] = min(A[r], N[0])
    store P[0] = P[0] * A[r]
  }
}
)");
}

}  // namespace
}  // namespace lathe::testing
