// Buffers of the size that is used.
#include "lower/buffers/compact_buffers.h"

#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) { return compact_buffers(program); };

TEST(CompactBuffers, ShrinksAndRebases) {
  expect_golden(kPass, R"(
input A: f32[34] [0]
output C: f32[32] [0]
main {
  for i in 4 {
    alloc T: f32[34] thread [0] {
      for j in 10 {
        store T[8*i + j] = A[8*i + j]
      }
      for j in 8 {
        store C[8*i + j] = T[8*i + j] + T[8*i + j + 2]
      }
    }
  }
}
)",
                R"(
input A: f32[34] [0]
output C: f32[32] [0]
main {
  for i in 4 {
    alloc T: f32[10] thread [0] {
      for j in 10 {
        store T[j] = A[8*i + j]
      }
      for j in 8 {
        store C[8*i + j] = T[j] + T[j + 2]
      }
    }
  }
}
)");
}

TEST(CompactBuffers, KeepsWhatIsUsedWhole) {
  expect_golden(kPass, R"(
input A: f32[8] [0]
output C: f32[8] [0]
main {
  alloc T: f32[8] workspace [0] {
    for j in 8 {
      store T[j] = A[j]
    }
    for j in 8 {
      store C[j] = T[j]
    }
  }
}
)",
                R"(
input A: f32[8] [0]
output C: f32[8] [0]
main {
  alloc T: f32[8] workspace [0] {
    for j in 8 {
      store T[j] = A[j]
    }
    for j in 8 {
      store C[j] = T[j]
    }
  }
}
)");
}

// A part that begins where the buffer does is shorter all the same.
TEST(CompactBuffers, ShrinksWhatNeedsNoRebasing) {
  expect_golden(kPass, R"(
input A: f32[8] [0]
output C: f32[8] [0]
main {
  alloc T: f32[8, 16] workspace [0][1] {
    for j in 8 {
      store T[0, j] = A[j]
    }
    for j in 8 {
      store C[j] = T[0, j]
    }
  }
}
)",
                R"(
input A: f32[8] [0]
output C: f32[8] [0]
main {
  alloc T: f32[1, 8] workspace [0][1] {
    for j in 8 {
      store T[0, j] = A[j]
    }
    for j in 8 {
      store C[j] = T[0, j]
    }
  }
}
)");
}

// Fetches follow what they fetch; those of other tensors stay.
TEST(CompactBuffers, RebasesFetches) {
  expect_golden(kPass, R"(
input A: f32[32] [0]
output C: f32[32] [0]
main {
  for i in 4 {
    alloc T: f32[32] thread [0] {
      prefetch A[8*i + 8]
      for j in 8 {
        prefetch T[8*i + j + 1]
        store T[8*i + j] = A[8*i + j]
      }
      for j in 8 {
        store C[8*i + j] = T[8*i + j]
      }
    }
  }
}
)",
                R"(
input A: f32[32] [0]
output C: f32[32] [0]
main {
  for i in 4 {
    alloc T: f32[8] thread [0] {
      prefetch A[8*i + 8]
      for j in 8 {
        prefetch T[j + 1]
        store T[j] = A[8*i + j]
      }
      for j in 8 {
        store C[8*i + j] = T[j]
      }
    }
  }
}
)");
}

}  // namespace
}  // namespace lathe::testing
