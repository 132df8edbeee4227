// tail=pad in peel_tails: work that is saved where that costs nothing.
#include "lower/golden.h"
#include "lower/loops/peel_tails.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) { return peel_tails(program); };

// What pads is no condition of the last tile: what is left of it there unrolling decides.
TEST(PeelPadding, CutsWhereVectorsOfPaddingBegin) {
  expect_golden(kPass, R"(
input A: f32[18] [0/16][0%16]
output C: f32[18] [0/16][0%16]
main {
  for o in 2 {
    unroll i in 4 {
      if 16*o + 4*i < 18 pad {
        vector l in 4 {
          store C[16*o + 4*i + l] = A[16*o + 4*i + l]
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
  unroll i in 4 {
    vector l in 4 {
      store C[4*i + l] = A[4*i + l]
    }
  }
  unroll i in 4 {
    if 4*i + 16 < 18 pad {
      vector l in 4 {
        store C[4*i + l + 16] = A[4*i + l + 16]
      }
    }
  }
}
)");
}

// Where that would be too many stores there is room to compute them all.
TEST(PeelPadding, WhatPadsIsNeverAGuard) {
  expect_golden(kPass, R"(
input A: f32[5000] [0/4000][0%4000]
output C: f32[5000] [0/4000][0%4000]
main {
  for o in 2 {
    unroll i in 4000 {
      if 4000*o + i < 5000 pad {
        store C[4000*o + i] = A[4000*o + i]
      }
    }
  }
}
)",
                R"(
input A: f32[5000] [0/4000][0%4000]
output C: f32[5000] [0/4000][0%4000]
main {
  for o in 2 {
    unroll i in 4000 {
      store C[4000*o + i] = A[4000*o + i]
    }
  }
}
)");
}

}  // namespace
}  // namespace lathe::testing
