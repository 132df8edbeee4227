// Barriers where one thread touches what another has written or read since the last one, and nowhere else.
#include "lower/threads/insert_barriers.h"

#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) { return insert_barriers(program); };

// The next iteration overwrites what this one reads.
TEST(InsertBarriers, BeforeReadingAndRoundTheLoop) {
  expect_golden(kPass, R"(
input A: f32[5, 8] [0][1]
output C: f32[8] [0]
main {
  blocks b in 1 {
    alloc S: f32[8] shared [0] {
      threads t in 8 {
        store C[t] = 0.0
      }
      for k in 5 {
        threads t in 8 {
          store S[t] = A[k, t]
        }
        threads t in 8 {
          store C[t] = C[t] + S[7 - t]
        }
      }
    }
  }
}
)",
                R"(
input A: f32[5, 8] [0][1]
output C: f32[8] [0]
main {
  blocks b in 1 {
    alloc S: f32[8] shared [0] {
      threads t in 8 {
        store C[t] = 0.0
      }
      for k in 5 {
        barrier shared
        threads t in 8 {
          store S[t] = A[k, t]
        }
        barrier shared
        threads t in 8 {
          store C[t] = C[t] + S[-t + 7]
        }
      }
    }
  }
}
)");
}

std::string between(const std::string& scope, const std::string& write, const std::string& read) {
  return "input A: f32[4, 4] [0][1]\noutput C: f32[4, 4] [0][1]\nmain {\n  blocks b in 1 {\n    alloc S: "
         "f32[4, 4] " +
         scope + " [0][1] {\n      threads t in 4 {\n        for i in 4 {\n          store S[" + write +
         "] = A[t, i]\n        }\n      }\n      threads t in 4 {\n        for i in 4 {\n          store "
         "C[t, i] = S[" +
         read + "]\n        }\n      }\n    }\n  }\n}\n";
}

size_t barriers(const std::string& text) { return all<Barrier>(insert_barriers(parsed(text)).main).size(); }

TEST(InsertBarriers, NoneWhereEachElementIsOneThreads) {
  EXPECT_EQ(barriers(between("shared", "t, i", "t, i")), 0u);
  EXPECT_EQ(barriers(between("shared", "i, t", "i, t")), 0u);
  EXPECT_EQ(barriers(between("shared", "t, i", "i, t")), 1u);
  EXPECT_EQ(barriers(between("shared", "t, i", "t, 3 - i")), 1u);  // the proof looks at sums alone
}

TEST(InsertBarriers, OfOtherBuffersOnesAreGlobal) {
  // Around the block, in the memory of the device.
  const std::string text = R"(
input A: f32[4] [0]
output C: f32[4] [0]
output D: f32[4] [0]
main {
  blocks b in 1 {
    threads t in 4 {
      store C[t] = A[t]
    }
    threads t in 4 {
      store D[t] = C[3 - t]
    }
  }
}
)";
  const std::vector<Barrier> found = all<Barrier>(insert_barriers(parsed(text)).main);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].is_global);
}

// Each waits for the end of the one before it.
TEST(InsertBarriers, KernelsNeedNoneBetweenThem) {
  EXPECT_EQ(barriers(R"(
input A: f32[4] [0]
output C: f32[4] [0]
output D: f32[4] [0]
main {
  blocks b in 1 {
    threads t in 4 {
      store C[t] = A[t]
    }
  }
  threads t in 4 {
    store D[t] = C[3 - t]
  }
}
)"),
            0u);
}

}  // namespace
}  // namespace lathe::testing
