// A reduction's start as a block of its own.
#include "lower/blocks/decompose_reductions.h"

#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) { return decompose_reductions(program); };

// The loops that drive spatial axes are repeated, with their kinds.
TEST(DecomposeReductions, StartsBeforeTheOutermostReduceLoop) {
  expect_golden(kPass, R"(
input A: f32[8, 6] [0][1]
output C: f32[8] [0]
main {
  for r.0 in 2 {
    unroll i in 8 {
      for r.1 in 3 {
        block C {
          i: 8 = i
          reduce r: 6 = 3*r.0 + r.1
          C[i] init sum= A[i, r]
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
  unroll i in 8 {
    block C.init {
      i: 8 = i
      C[i] = 0.0
    }
  }
  for r.0 in 2 {
    unroll i in 8 {
      for r.1 in 3 {
        block C {
          i: 8 = i
          reduce r: 6 = 3*r.0 + r.1
          C[i] sum= A[i, r]
        }
      }
    }
  }
}
)");
}

TEST(DecomposeReductions, KeepsSpatialConditionsAndDropsReduceOnes) {
  expect_golden(kPass, R"(
input A: f32[10, 6] [0][1]
output C: f32[10] [0]
main {
  for i.0 in 3 {
    for r in 2 {
      for i.1 in 4 {
        for r.1 in 4 {
          block C where 4*i.0 + i.1 < 10 axis 0, 4*r + r.1 < 6 axis 1 {
            i: 10 = 4*i.0 + i.1 mask
            reduce r: 6 = 4*r + r.1 bound
            C[i] init max= A[i, r]
          }
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
      block C.init where 4*i.0 + i.1 < 10 axis 0 {
        i: 10 = 4*i.0 + i.1 mask
        C[i] = -inf
      }
    }
    for r in 2 {
      for i.1 in 4 {
        for r.1 in 4 {
          block C where 4*i.0 + i.1 < 10 axis 0, 4*r + r.1 < 6 axis 1 {
            i: 10 = 4*i.0 + i.1 mask
            reduce r: 6 = 4*r + r.1 bound
            C[i] max= A[i, r]
          }
        }
      }
    }
  }
}
)");
}

TEST(DecomposeReductions, StaysInPlaceWithoutAReduceLoop) {
  expect_golden(kPass, R"(
input A: f32[8, 1] [0][1]
output C: f32[8] [0]
main {
  for i in 8 {
    block C {
      i: 8 = i
      reduce r: 1 = 0
      C[i] init sum= A[i, r]
    }
  }
}
)",
                R"(
input A: f32[8, 1] [0][1]
output C: f32[8] [0]
main {
  for i in 8 {
    block C.init {
      i: 8 = i
      C[i] = 0.0
    }
    block C {
      i: 8 = i
      reduce r: 1 = 0
      C[i] sum= A[i, r]
    }
  }
}
)");
}

// Where a condition on the sum lets no part of it in, nothing starts.
TEST(DecomposeReductions, KeepsWhatAConditionOnTheSumSaysOfOtherLoops) {
  expect_golden(kPass, R"(
input A: f32[8, 4] [0][1]
output C: f32[8] [0]
main {
  for i in 8 {
    for r in 4 {
      block C where 2*i + r < 11 axis 1, r < 3 axis 1 {
        i: 8 = i
        reduce r: 4 = r
        C[i] init sum= A[i, r]
      }
    }
  }
}
)",
                R"(
input A: f32[8, 4] [0][1]
output C: f32[8] [0]
main {
  for i in 8 {
    block C.init where 2*i < 11 {
      i: 8 = i
      C[i] = 0.0
    }
    for r in 4 {
      block C where 2*i + r < 11 axis 1, r < 3 axis 1 {
        i: 8 = i
        reduce r: 4 = r
        C[i] sum= A[i, r]
      }
    }
  }
}
)");
}

// Integers have no infinity: the type's end is what every other value replaces.
TEST(DecomposeReductions, IntegersStartAtTheirTypesEnd) {
  expect_golden(kPass, R"(
input A: i32[8, 6] [0][1]
output C: i32[8] [0]
main {
  for i in 8 {
    for r in 6 {
      block C {
        i: 8 = i
        reduce r: 6 = r
        C[i] init max= -A[i, r] - 9
      }
    }
  }
}
)",
                R"(
input A: i32[8, 6] [0][1]
output C: i32[8] [0]
main {
  for i in 8 {
    block C.init {
      i: 8 = i
      C[i] = i32(-2147483648)
    }
    for r in 6 {
      block C {
        i: 8 = i
        reduce r: 6 = r
        C[i] max= -A[i, r] - 9
      }
    }
  }
}
)");
}

}  // namespace
}  // namespace lathe::testing
