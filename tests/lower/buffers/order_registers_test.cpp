// Registers lie along their vectors.
#include "lower/buffers/order_registers.h"

#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) { return order_registers(program); };

constexpr const char* kAlongTheOuterDimension = R"(
input A: f32[8, 3] [0][1]
output C: f32[8, 3] [0][1]
main {
  alloc T: f32[8, 3] registers [0][1] {
    unroll j in 3 {
      vector i in 8 {
        store T[i, j] = A[i, j]
      }
    }
    unroll j in 3 {
      vector i in 8 {
        store C[i, j] = T[i, j]
      }
    }
  }
}
)";

TEST(OrderRegisters, TheVectorDimensionComesLast) {
  std::string text = kAlongTheOuterDimension;
  text.replace(text.find("registers [0][1]"), 16, "registers [1][0]");
  expect_golden(kPass, kAlongTheOuterDimension, text);
}

TEST(OrderRegisters, MemoryKeepsItsLayout) {
  std::string text = kAlongTheOuterDimension;
  text.replace(text.find("registers"), 9, "thread");
  expect_golden(kPass, text, text);
}

// Vectors in other buffers' bodies count, loads alike; without vectors there is nothing to order.
TEST(OrderRegisters, NestedBuffers) {
  expect_golden(kPass, R"(
input A: f32[8, 3] [0][1]
output C: f32[8, 3] [0][1]
main {
  alloc T: f32[8, 3] registers [0][1] {
    alloc U: f32[8, 3] registers [0][1] {
      for j in 3 {
        for i in 8 {
          store U[i, j] = A[i, j]
          store T[i, j] = U[i, j]
        }
        if j < 3 {
          vector i in 8 {
            store C[i, j] = T[i, j]
          }
        }
      }
    }
  }
}
)",
                R"(
input A: f32[8, 3] [0][1]
output C: f32[8, 3] [0][1]
main {
  alloc T: f32[8, 3] registers [1][0] {
    alloc U: f32[8, 3] registers [0][1] {
      for j in 3 {
        for i in 8 {
          store U[i, j] = A[i, j]
          store T[i, j] = U[i, j]
        }
        if j < 3 {
          vector i in 8 {
            store C[i, j] = T[i, j]
          }
        }
      }
    }
  }
}
)");
}

}  // namespace
}  // namespace lathe::testing
