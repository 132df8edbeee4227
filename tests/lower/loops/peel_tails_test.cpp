// tail=peel and tail=overlap.
#include "lower/loops/peel_tails.h"

#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) { return peel_tails(program); };

TEST(PeelTails, CutsTheLastTile) {
  expect_golden(kPass, R"(
input A: f32[1000] [0]
output C: f32[1000] [0]
main {
  for o in 84 {
    unroll i in 12 {
      if 12*o + i < 1000 peel {
        store C[12*o + i] = A[12*o + i]
      }
    }
  }
}
)",
                R"(
input A: f32[1000] [0]
output C: f32[1000] [0]
main {
  for o in 83 {
    unroll i in 12 {
      store C[12*o + i] = A[12*o + i]
    }
  }
  unroll i in 12 {
    if i + 996 < 1000 peel {
      store C[i + 996] = A[i + 996]
    }
  }
}
)");
}

// The outer loop stays whole: the partial tile is at i.1 = 83 - 12*i.0.
TEST(PeelTails, ConditionOverThreeLoops) {
  expect_golden(kPass, R"(
input A: f32[1000] [0]
output C: f32[1000] [0]
main {
  for i.0 in 7 {
    for i.1 in 12 {
      unroll i.2 in 12 {
        if 144*i.0 + 12*i.1 + i.2 < 1000 peel {
          store C[144*i.0 + 12*i.1 + i.2] = A[144*i.0 + 12*i.1 + i.2]
        }
      }
    }
  }
}
)",
                R"(
input A: f32[1000] [0]
output C: f32[1000] [0]
main {
  for i.0 in 7 {
    for i.1 in min(12, -12*i.0 + 83) {
      unroll i.2 in 12 {
        store C[144*i.0 + 12*i.1 + i.2] = A[144*i.0 + 12*i.1 + i.2]
      }
    }
    if -12*i.0 + 71 < 0 {
      unroll i.2 in 12 {
        if i.2 + 996 < 1000 peel {
          store C[i.2 + 996] = A[i.2 + 996]
        }
      }
    }
  }
}
)");
}

constexpr const char* kTwoAxes = R"(
input A: f32[10, 20] [0][1]
output C: f32[10, 20] [0][1]
main {
  for i in 3 {
    for j in 3 {
      unroll ii in 4 {
        vector jj in 8 {
          if 4*i + ii < 10 peel, 8*j + jj < 20 peel {
            store C[4*i + ii, 8*j + jj] = A[4*i + ii, 8*j + jj]
          }
        }
      }
    }
  }
}
)";

constexpr const char* kFourCases = R"(
input A: f32[10, 20] [0][1]
output C: f32[10, 20] [0][1]
main {
  for i in 2 {
    for j in 2 {
      unroll ii in 4 {
        vector jj in 8 {
          store C[4*i + ii, 8*j + jj] = A[4*i + ii, 8*j + jj]
        }
      }
    }
    unroll ii in 4 {
      vector jj in 8 {
        if jj + 16 < 20 peel {
          store C[4*i + ii, jj + 16] = A[4*i + ii, jj + 16]
        }
      }
    }
  }
  for j in 2 {
    unroll ii in 4 {
      vector jj in 8 {
        if ii + 8 < 10 peel {
          store C[ii + 8, 8*j + jj] = A[ii + 8, 8*j + jj]
        }
      }
    }
  }
  unroll ii in 4 {
    vector jj in 8 {
      if ii + 8 < 10 peel, jj + 16 < 20 peel {
        store C[ii + 8, jj + 16] = A[ii + 8, jj + 16]
      }
    }
  }
}
)";

// Vectors keep their width: the last becomes a mask.
TEST(PeelTails, TwoAxesGiveFourCases) { expect_golden(kPass, kTwoAxes, kFourCases); }

constexpr const char* kTile = R"(
input A: f32[10, 6] [0][1]
output C: f32[10] [0]
main {
  for i in 3 {
    alloc T: f32[4] registers [0] {
      unroll a in 4 {
        store T[a] = 0.0
      }
      for r in 6 {
        unroll b in 4 {
          if 4*i + b < 10 peel {
            store T[b] = T[b] + A[4*i + b, r]
          }
        }
      }
      unroll c in 4 {
        if 4*i + c < 10 peel {
          store C[4*i + c] = T[c]
        }
      }
    }
  }
}
)";

constexpr const char* kTwoTiles = R"(
input A: f32[10, 6] [0][1]
output C: f32[10] [0]
main {
  for i in 2 {
    alloc T: f32[4] registers [0] {
      unroll a in 4 {
        store T[a] = 0.0
      }
      for r in 6 {
        unroll b in 4 {
          store T[b] = T[b] + A[4*i + b, r]
        }
      }
      unroll c in 4 {
        store C[4*i + c] = T[c]
      }
    }
  }
  alloc T: f32[4] registers [0] {
    unroll a in 4 {
      store T[a] = 0.0
    }
    for r in 6 {
      unroll b in 4 {
        if b + 8 < 10 peel {
          store T[b] = T[b] + A[b + 8, r]
        }
      }
    }
    unroll c in 4 {
      if c + 8 < 10 peel {
        store C[c + 8] = T[c]
      }
    }
  }
}
)";

// A tile with copy-in, reduction and copy-out.
TEST(PeelTails, SiblingsGoAlong) { expect_golden(kPass, kTile, kTwoTiles); }

TEST(PeelTails, ParallelLoopsStayWhole) {
  expect_golden(kPass, R"(
input A: f32[10] [0]
output C: f32[10] [0]
main {
  parallel o in 3 {
    unroll i in 4 {
      if 4*o + i < 10 peel {
        store C[4*o + i] = A[4*o + i]
      }
    }
  }
}
)",
                R"(
input A: f32[10] [0]
output C: f32[10] [0]
main {
  parallel o in 3 {
    if o < 2 {
      unroll i in 4 {
        store C[4*o + i] = A[4*o + i]
      }
    }
    if -o < -1 {
      unroll i in 4 {
        if i + 8 < 10 peel {
          store C[i + 8] = A[i + 8]
        }
      }
    }
  }
}
)");
}

TEST(PeelTails, FusedParallelLoop) {
  expect_golden(kPass, R"(
input A: f32[6, 10] [0][1]
output C: f32[6, 10] [0][1]
main {
  parallel f in 18 {
    unroll i in 4 {
      if 4*(f%3) + i < 10 peel {
        store C[f/3, 4*(f%3) + i] = A[f/3, 4*(f%3) + i]
      }
    }
  }
}
)",
                R"(
input A: f32[6, 10] [0][1]
output C: f32[6, 10] [0][1]
main {
  parallel f in 18 {
    if f%3 < 2 {
      unroll i in 4 {
        store C[f/3, i + 4*(f%3)] = A[f/3, i + 4*(f%3)]
      }
    }
    if -(f%3) < -1 {
      unroll i in 4 {
        if i + 8 < 10 peel {
          store C[f/3, i + 8] = A[f/3, i + 8]
        }
      }
    }
  }
}
)");
}

TEST(PeelTails, SerialTailsGetConstantExtents) {
  expect_golden(kPass, R"(
input A: f32[10] [0]
output C: f32[10] [0]
main {
  for o in 3 {
    for i in 4 {
      if 4*o + i < 10 peel {
        store C[4*o + i] = A[4*o + i]
      }
    }
  }
}
)",
                R"(
input A: f32[10] [0]
output C: f32[10] [0]
main {
  for o in 2 {
    for i in 4 {
      store C[4*o + i] = A[4*o + i]
    }
  }
  for i in 2 {
    store C[i + 8] = A[i + 8]
  }
}
)");
}

TEST(PeelTails, OtherStatementsRunBeyondTheBound) {
  expect_golden(kPass, R"(
input A: f32[12] [0]
output C: f32[10] [0]
output D: f32[16] [0]
main {
  for o in 4 {
    for i in 4 {
      if 4*o + i < 10 peel {
        store C[4*o + i] = 1.0
      }
      store D[4*o + i] = 2.0
    }
  }
}
)",
                R"(
input A: f32[12] [0]
output C: f32[10] [0]
output D: f32[16] [0]
main {
  for o in 2 {
    for i in 4 {
      store C[4*o + i] = 1.0
      store D[4*o + i] = 2.0
    }
  }
  for i in 2 {
    store C[i + 8] = 1.0
    store D[i + 8] = 2.0
  }
  for i in 2 {
    store D[i + 10] = 2.0
  }
  for i in 4 {
    store D[i + 12] = 2.0
  }
}
)");
}

TEST(PeelTails, OverlapsTheLastTile) {
  expect_golden(kPass, R"(
input A: f32[10] [0]
output C: f32[10] [0]
main {
  for o in 3 {
    vector i in 4 {
      if 4*o + i < 10 overlap {
        store C[4*o + i] = A[4*o + i]
      }
    }
  }
}
)",
                R"(
input A: f32[10] [0]
output C: f32[10] [0]
main {
  for o in 2 {
    vector i in 4 {
      store C[4*o + i] = A[4*o + i]
    }
  }
  vector i in 4 {
    store C[i + 6] = A[i + 6]
  }
}
)");
}

// Adding twice would be wrong, so it peels.
TEST(PeelTails, DoesNotOverlapUpdates) {
  expect_golden(kPass, R"(
input A: f32[10] [0]
output C: f32[10] [0]
main {
  for o in 3 {
    unroll i in 4 {
      if 4*o + i < 10 overlap {
        store C[4*o + i] = C[4*o + i] + A[4*o + i]
      }
    }
  }
}
)",
                R"(
input A: f32[10] [0]
output C: f32[10] [0]
main {
  for o in 2 {
    unroll i in 4 {
      store C[4*o + i] = C[4*o + i] + A[4*o + i]
    }
  }
  unroll i in 4 {
    if i + 8 < 10 overlap {
      store C[i + 8] = C[i + 8] + A[i + 8]
    }
  }
}
)");
}

// A cut that would add too many unrolled stores leaves a guard.
TEST(PeelTails, GrowthIsBounded) {
  expect_golden(kPass, R"(
input A: f32[5000] [0]
output C: f32[5000] [0]
main {
  for o in 2 {
    unroll i in 4000 {
      if 4000*o + i < 5000 peel {
        store C[4000*o + i] = A[4000*o + i]
      }
    }
  }
}
)",
                R"(
input A: f32[5000] [0]
output C: f32[5000] [0]
main {
  for o in 2 {
    unroll i in 4000 {
      if 4000*o + i < 5000 peel {
        store C[4000*o + i] = A[4000*o + i]
      }
    }
  }
}
)");
}

// Parallel iterations that lie wholly beyond the bound keep what stands beside the condition.
TEST(PeelTails, ParallelIterationsBeyondTheBound) {
  expect_golden(kPass, R"(
output C: f32[20] [0]
output D: f32[4] [0]
main {
  parallel i.0 in 4 {
    unroll i.1 in 8 {
      if 8*i.0 + i.1 < 20 peel {
        store C[8*i.0 + i.1] = 2.0
      }
    }
    store D[i.0] = 1.0
  }
}
)",
                R"(
output C: f32[20] [0]
output D: f32[4] [0]
main {
  parallel i.0 in 4 {
    if i.0 < 2 {
      unroll i.1 in 8 {
        store C[8*i.0 + i.1] = 2.0
      }
      store D[i.0] = 1.0
    }
    if i.0 < 3, -i.0 < -1 {
      unroll i.1 in 8 {
        if i.1 + 16 < 20 peel {
          store C[i.1 + 16] = 2.0
        }
      }
      store D[2] = 1.0
    }
    if -i.0 < -2 {
      store D[i.0] = 1.0
    }
  }
}
)");
}

}  // namespace
}  // namespace lathe::testing
