// Vectorised loops.
#include "lower/loops/vectorize_loops.h"

#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) { return vectorize_loops(program); };

TEST(VectorizeLoops, ContiguousBroadcastAndStrided) {
  expect_golden(kPass, R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  for i in 4 {
    vector j in 8 {
      store C[16*i + j] = A[i] * B[8*i + j] + A[2*j]
    }
  }
}
)",
                R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  for i in 4 {
    store C[16*i; 8 by 1] = broadcast(A[i], 8) * B[8*i; 8 by 1] + A[0; 8 by 2]
  }
}
)");
}

// Loads that stay inside their buffer need none.
TEST(VectorizeLoops, ConditionsBecomeMasks) {
  expect_golden(kPass, R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  for i in 4 {
    vector j in 8 {
      if 8*i + j < 30 mask {
        store C[8*i + j] = A[8*i + j] + B[16*i + 2*j + 2]
      }
    }
  }
}
)",
                R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  for i in 4 {
    store C[8*i; 8 by 1 if ramp(8*i, 1, 8) < broadcast(30, 8)] = A[8*i; 8 by 1] + B[16*i + 2; 8 by 2 if ramp(8*i, 1, 8) < broadcast(30, 8)]
  }
}
)");
}

TEST(VectorizeLoops, RegistersAreStoredWhole) {
  expect_golden(kPass, R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  alloc T: f32[8] registers [0] {
    vector j in 8 {
      if j < 5 mask {
        store T[j] = A[59 + j]
      }
    }
    vector j in 8 {
      if j < 5 mask {
        store C[j] = T[j]
      }
    }
  }
}
)",
                R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  alloc T: f32[8] registers [0] {
    store T[0; 8 by 1] = A[59; 8 by 1 if ramp(0, 1, 8) < broadcast(5, 8)]
    store C[0; 8 by 1 if ramp(0, 1, 8) < broadcast(5, 8)] = T[0; 8 by 1]
  }
}
)");
}

// Three elements of eight are read as eight. Where others are written behind them they stay three.
TEST(VectorizeLoops, ShortLoopsFillTheirRowsOfRegisters) {
  const std::string head = R"(
input A: f32[64] [0]
output C: f32[64] [0]
flat
main {
  alloc T: f32[16] registers [0] {
)";
  const auto program = [&head](const std::string& body) { return head + body + "  }\n}\n"; };
  const std::string two_rows = R"(
input A: f32[64] [0]
output C: f32[64] [0]
flat
main {
  alloc T: f32[2, 8] registers [0][1] {
)";
  expect_golden(kPass, two_rows + R"(    for i in 2 {
      vector j in 3 {
        store T[8*i + j] = A[58 + 3*i + j]
      }
    }
    vector j in 8 {
      if j < 3 mask {
        store C[j] = T[j] + T[8 + j]
      }
    }
  }
}
)",
                two_rows + R"(    for i in 2 {
      store T[8*i; 8 by 1] = A[3*i + 58; 8 by 1 if ramp(0, 1, 8) < broadcast(3, 8)]
    }
    store C[0; 8 by 1 if ramp(0, 1, 8) < broadcast(3, 8)] = T[0; 8 by 1] + T[8; 8 by 1]
  }
}
)");
  expect_golden(kPass, program(R"(    vector j in 3 {
      store T[j] = A[j]
    }
    vector j in 3 {
      store T[3 + j] = A[j]
    }
    vector j in 16 {
      if j < 6 mask {
        store C[j] = T[j]
      }
    }
)"),
                program(R"(    store T[0; 3 by 1] = A[0; 3 by 1]
    store T[3; 3 by 1] = A[0; 3 by 1]
    store C[0; 16 by 1 if ramp(0, 1, 16) < broadcast(6, 16)] = T[0; 16 by 1]
)"));
}

// What they read has no room for as many lanes.
TEST(VectorizeLoops, ShortLoopsThatReadShortRowsStayShort) {
  const std::string head = R"(
input A: f32[64] [0]
output C: f32[64] [0]
flat
main {
  alloc S: f32[3] registers [0] {
    alloc T: f32[8] registers [0] {
)";
  const std::string tail = "    }\n  }\n}\n";
  expect_golden(kPass, head + R"(      vector j in 3 {
        store S[j] = A[j]
      }
      vector j in 3 {
        store T[j] = S[j]
      }
      vector j in 8 {
        if j < 3 mask {
          store C[j] = T[j]
        }
      }
)" + tail,
                head + R"(      store S[0; 3 by 1] = A[0; 3 by 1]
      store T[0; 3 by 1] = S[0; 3 by 1]
      store C[0; 8 by 1 if ramp(0, 1, 8) < broadcast(3, 8)] = T[0; 8 by 1]
)" + tail);
}

// A diagonal begins no row, though its places are their own numbers modulo the rows' width.
TEST(VectorizeLoops, DiagonalsStayShort) {
  const std::string head = R"(
input A: f32[64] [0]
output C: f32[64] [0]
flat
main {
  alloc T: f32[3, 8] registers [0][1] {
)";
  expect_golden(kPass, head + R"(    vector j in 3 {
      store T[9 * j] = A[j]
    }
    store C[0] = T[0]
  }
}
)",
                head + R"(    store T[0; 3 by 9] = A[0; 3 by 1]
    store C[0] = T[0]
  }
}
)");
}

// Beyond a tile that is imperfect in itself lies the next one, which has values of its own.
TEST(VectorizeLoops, RegistersOfTheNextTileStay) {
  expect_golden(kPass, R"(
input A: f32[64] [0]
output C: f32[20] [0]
flat
main {
  alloc T: f32[22] registers [0] {
    for t in 2 {
      for u in 3 {
        vector j in 4 {
          if 4*u + j < 10 mask, 10*t + 4*u + j < 19 mask {
            store T[10*t + 4*u + j] = A[10*t + 4*u + j]
          }
        }
      }
    }
    for t in 19 {
      store C[t] = T[t]
    }
  }
}
)",
                R"(
input A: f32[64] [0]
output C: f32[20] [0]
flat
main {
  alloc T: f32[22] registers [0] {
    for t in 2 {
      for u in 3 {
        store T[10*t + 4*u; 4 by 1 if ramp(4*u, 1, 4) < broadcast(10, 4)] = A[10*t + 4*u; 4 by 1]
      }
    }
    for t in 19 {
      store C[t] = T[t]
    }
  }
}
)");
}

// Another store writes there what may be read.
TEST(VectorizeLoops, RegistersThatAnotherStoreWritesStay) {
  expect_golden(kPass, R"(
input A: f32[64] [0]
output C: f32[8] [0]
flat
main {
  alloc T: f32[8] registers [0] {
    for j in 8 {
      store T[j] = 0.0
    }
    vector j in 8 {
      if j < 5 mask {
        store T[j] = A[j]
      }
    }
    for j in 8 {
      store C[j] = T[j]
    }
  }
}
)",
                R"(
input A: f32[64] [0]
output C: f32[8] [0]
flat
main {
  alloc T: f32[8] registers [0] {
    for j in 8 {
      store T[j] = 0.0
    }
    store T[0; 8 by 1 if ramp(0, 1, 8) < broadcast(5, 8)] = A[0; 8 by 1]
    for j in 8 {
      store C[j] = T[j]
    }
  }
}
)");
}

TEST(VectorizeLoops, SelectsMaskTheirLoads) {
  expect_golden(kPass, R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  vector j in 8 {
    store C[j] = select(j < 3, A[j + 61], B[j])
  }
}
)",
                R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  store C[0; 8 by 1] = select(ramp(0, 1, 8) < broadcast(3, 8), A[61; 8 by 1 if ramp(0, 1, 8) < broadcast(3, 8)], B[0; 8 by 1])
}
)");
}

TEST(VectorizeLoops, SerialLoopsInside) {
  expect_golden(kPass, R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  vector j in 8 {
    store C[j] = 0.0
    for r in 7 {
      store C[j] = C[j] + A[r] * B[8*r + j]
    }
  }
}
)",
                R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  store C[0; 8 by 1] = broadcast(0.0, 8)
  for r in 7 {
    store C[0; 8 by 1] = C[0; 8 by 1] + broadcast(A[r], 8) * B[8*r; 8 by 1]
  }
}
)");
}

TEST(VectorizeLoops, DivisionsAreUnrolled) {
  expect_golden(kPass, R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  vector j in 8 {
    store C[j] = A[j/3]
  }
}
)",
                R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  unroll j in 8 {
    store C[j] = A[j/3]
  }
}
)");
}

// No lane may run, and A is read beyond its end then.
TEST(VectorizeLoops, ScalarLoadsAreGuarded) {
  expect_golden(kPass, R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  for i in 9 {
    vector j in 8 {
      if 8*i + j < 64 guard {
        store C[8*i + j] = A[8*i]
      }
    }
  }
}
)",
                R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  for i in 9 {
    if 8*i < 64 {
      store C[8*i; 8 by 1 if ramp(8*i, 1, 8) < broadcast(64, 8)] = broadcast(A[8*i], 8)
    }
  }
}
)");
}

TEST(VectorizeLoops, BuffersInsideGetALaneEach) {
  expect_golden(kPass, R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  vector j in 8 {
    alloc T: f32[2] thread [0] {
      store T[0] = A[j]
      store T[1] = B[j]
      store C[j] = T[0] * T[1]
    }
  }
}
)",
                R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
flat
main {
  alloc T: f32[16] thread [0] {
    store T[0; 8 by 1] = A[0; 8 by 1]
    store T[8; 8 by 1] = B[0; 8 by 1]
    store C[0; 8 by 1] = T[0; 8 by 1] * T[8; 8 by 1]
  }
}
)");
}

// A condition that all lanes share stays one; a fetch is made once, for the first lane.
TEST(VectorizeLoops, WhatLanesShare) {
  expect_golden(kPass, R"(
input A: f32[40] [0]
output C: f32[32] [0]
flat
main {
  for i in 4 {
    vector j in 8 {
      prefetch A[8*i + j + 8]
      if i < 3, 8*i + j < 21 {
        store C[8*i + j] = A[8*i + j + 1]
      }
    }
  }
}
)",
                R"(
input A: f32[40] [0]
output C: f32[32] [0]
flat
main {
  for i in 4 {
    prefetch A[8*i + 8]
    if i < 3 {
      store C[8*i; 8 by 1 if ramp(8*i, 1, 8) < broadcast(21, 8)] = A[8*i + 1; 8 by 1]
    }
  }
}
)");
}

}  // namespace
}  // namespace lathe::testing
