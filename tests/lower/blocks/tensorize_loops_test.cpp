// Tensorized loops.
#include "lower/blocks/tensorize_loops.h"

#include "lower/golden.h"
#include "lower/loops/vectorize_loops.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) { return tensorize_loops(program); };
constexpr auto kBoth = [](const Program& program) { return vectorize_loops(tensorize_loops(program)); };

std::string matmul(const std::string& body) {
  return R"(
input A: u8[64] [0]
input B: i8[512] [0]
output C: i32[8] [0]
flat
main {
  for j in 8 {
    store C[j] = i32(0)
  }
  for r in 16 {
)" + body +
         R"(  }
}
)";
}

TEST(TensorizeLoops, AGroupIsOneCall) {
  expect_golden(kPass, matmul(R"(    vector j in 8 {
      tensor t in 4 by dot4_u8_i8 {
        store C[j] = C[j] + i32(A[4*r + t]) * i32(B[32*r + 4*j + t])
      }
    }
)"),
                matmul(R"(    vector j in 8 {
      store C[j] = call(dot4_u8_i8, C[j], A[4*r; 4 by 1], B[32*r + 4*j; 4 by 1])
    }
)"));
}

// The other factor may be the one that fills the lanes.
TEST(TensorizeLoops, VectorsHoldTheGroupsOfAllLanes) {
  expect_golden(
      kBoth, matmul(R"(    vector j in 8 {
      tensor t in 4 by dot4_u8_i8 {
        store C[j] = C[j] + i32(A[4*r + t]) * i32(B[32*r + 4*j + t])
      }
    }
)"),
      matmul(R"(    store C[0; 8 by 1] = call(dot4_u8_i8, C[0; 8 by 1], A[4*r; 4 by 1], B[32*r; 32 by 1])
)"));
  expect_golden(
      kBoth, matmul(R"(    vector j in 2 {
      tensor t in 4 by dot4_u8_i8 {
        store C[j] = C[j] + i32(B[r + t]) * i32(A[2*r + 4*j + t])
      }
    }
)"),
      matmul(R"(    store C[0; 2 by 1] = call(dot4_u8_i8, C[0; 2 by 1], A[2*r; 8 by 1], B[r; 4 by 1])
)"));
}

// Around an image are zeros.
TEST(TensorizeLoops, AConditionStaysOne) {
  expect_golden(
      kBoth, matmul(R"(    vector j in 8 {
      tensor t in 4 by dot4_u8_i8 {
        store C[j] = C[j] + i32(select(r < 9, A[4*r + t], u8(0))) * i32(B[32*r + 4*j + t])
      }
    }
)"),
      matmul(
          R"(    store C[0; 8 by 1] = call(dot4_u8_i8, C[0; 8 by 1], select(r < 9, A[4*r; 4 by 1], broadcast(u8(0), 4)), B[32*r; 32 by 1])
)"));
}

// Groups that do not lie side by side, or are not whole, are no call.
TEST(TensorizeLoops, OtherLoopsAreUnrolled) {
  expect_golden(kPass, matmul(R"(    vector j in 8 {
      tensor t in 4 by dot4_u8_i8 {
        store C[j] = C[j] + i32(A[4*r + t]) * i32(B[32*r + j + 8*t])
      }
    }
)"),
                matmul(R"(    vector j in 8 {
      unroll t in 4 {
        store C[j] = C[j] + i32(A[4*r + t]) * i32(B[32*r + j + 8*t])
      }
    }
)"));
  expect_golden(kPass, matmul(R"(    vector j in 8 {
      tensor t in 4 by dot4_u8_i8 {
        if 4*r + t < 63 {
          store C[j] = C[j] + i32(A[4*r + t]) * i32(B[32*r + 4*j + t])
        }
      }
    }
)"),
                matmul(R"(    vector j in 8 {
      unroll t in 4 {
        if 4*r + t < 63 {
          store C[j] = C[j] + i32(A[4*r + t]) * i32(B[32*r + 4*j + t])
        }
      }
    }
)"));
}

// Groups whose elements lie apart are no vector's neighbours, though lanes move by as many elements.
TEST(TensorizeLoops, ElementsThatLieApartAreNoGroup) {
  expect_golden(kPass, matmul(R"(    vector j in 8 {
      tensor t in 4 by dot4_u8_i8 {
        store C[j] = C[j] + i32(A[4*r + t]) * i32(B[4*j + 32*t])
      }
    }
)"),
                matmul(R"(    vector j in 8 {
      unroll t in 4 {
        store C[j] = C[j] + i32(A[4*r + t]) * i32(B[4*j + 32*t])
      }
    }
)"));
}

}  // namespace
}  // namespace lathe::testing
