// What a device launches for a program.
#include "lower/threads/kernels.h"

#include "lower/golden.h"

namespace lathe::testing {
namespace {

TEST(Kernels, LieUnderBlocksAndBesideThem) {
  const Program program = parsed(R"(
input A: f32[6, 8] [0][1]
output C: f32[6, 8] [0][1]
main {
  alloc T: f32[6, 8] workspace [0][1] {
    blocks i in 2 {
      blocks j in 3 {
        alloc S: f32[8] shared [0] {
          threads t in 8 {
            store S[t] = A[3*i + j, t]
          }
          threads t in 4 {
            store T[3*i + j, t] = S[t]
          }
        }
      }
    }
    threads t in 1 {
      store C[0, 0] = T[0, 0]
    }
  }
}
)");
  const std::vector<Kernel> kernels = kernels_of(program.main);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].blocks.size(), 2u);
  EXPECT_EQ(kernels[0].block_count, 6);
  EXPECT_EQ(kernels[0].threads, 8);
  EXPECT_EQ(kernels[0].shared.size(), 1u);
  EXPECT_EQ(kernels[0].shared_bytes, 32);
  EXPECT_TRUE(kernels[1].blocks.empty());
  EXPECT_EQ(kernels[1].block_count, 1);
  EXPECT_EQ(kernels[1].threads, 1);
  EXPECT_TRUE(kernels_of(nullptr).empty());

  int mapped = 0;
  const Stmt same = map_kernels(program.main, [&](const Stmt& kernel) {
    ++mapped;
    return kernel;
  });
  EXPECT_EQ(mapped, 2);
  EXPECT_EQ(same, program.main);
}

}  // namespace
}  // namespace lathe::testing
