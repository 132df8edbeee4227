// Registers lie along their vectors.
#include "lower/order_registers.h"

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

}  // namespace
}  // namespace lathe::testing
