// Thread loops become one a nest; what cannot be one nest is refused by name.
#include "lower/threads/merge_threads.h"

#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) { return merge_threads(program); };

TEST(MergeThreads, ANestIsOneLoopWithItsConditionsInside) {
  expect_golden(kPass, R"(
input A: f32[3, 4, 10] [0][1][2]
output C: f32[3, 4, 10] [0][1][2]
main {
  blocks b in 3 {
    threads i in 4 {
      if i < 3 {
        threads j in 8 {
          for k in 10 {
            store C[b, i, k] = A[b, i, k]
          }
        }
      }
    }
  }
}
)",
                R"(
input A: f32[3, 4, 10] [0][1][2]
output C: f32[3, 4, 10] [0][1][2]
main {
  blocks b in 3 {
    threads thread in 32 {
      if thread/8 < 3 {
        for k in 10 {
          store C[b, thread/8, k] = A[b, thread/8, k]
        }
      }
    }
  }
}
)");
}

TEST(MergeThreads, WhatNoThreadIsAroundRunsOnOne) {
  expect_golden(kPass, R"(
input A: f32[4, 8] [0][1]
output C: f32[4] [0]
main {
  blocks b in 4 {
    alloc S: f32[8] shared [0] {
      threads i in 8 {
        store S[i] = A[b, i]
      }
      store C[b] = 0.0
      for k in 8 {
        store C[b] = C[b] + S[k]
      }
    }
  }
}
)",
                R"(
input A: f32[4, 8] [0][1]
output C: f32[4] [0]
main {
  blocks b in 4 {
    alloc S: f32[8] shared [0] {
      threads thread in 8 {
        store S[thread] = A[b, thread]
      }
      threads thread in 1 {
        store C[b] = 0.0
      }
      threads thread in 1 {
        for k in 8 {
          store C[b] = C[b] + S[k]
        }
      }
    }
  }
}
)");
}

constexpr const char* kAround = R"(
input A: f32[4, 8] [0][1]
output C: f32[4, 8] [0][1]
main {
  $ {
    # {
      store C[i, j] = A[i, j]
    }
  }
}
)";

std::string nested(const std::string& outer, const std::string& inner) {
  std::string text = kAround;
  text.replace(text.find('$'), 1, outer);
  return text.replace(text.find('#'), 1, inner);
}

TEST(MergeThreads, RefusesWhatNoDeviceRuns) {
  expect_error(kPass, nested("for i in 4", "blocks j in 8"), "loops of blocks lie inside of loop 'i'");
  expect_error(kPass, nested("parallel i in 4", "threads j in 8"),
               "loops of threads lie inside of loop 'i', which is parallel");
  expect_error(kPass, nested("vector i in 4", "threads j in 8"),
               "loops of threads lie inside of loop 'i', which is vectorized");
  expect_error(kPass, R"(
input A: f32[4, 5, 8] [0][1][2]
output C: f32[4, 5, 8] [0][1][2]
main {
  threads i in 4 {
    for k in 5 {
      threads j in 8 {
        store C[i, k, j] = A[i, k, j]
      }
    }
  }
}
)",
               "other statements lie between the loop 'i' of threads and one inside of it");
}

TEST(MergeThreads, FindsLoopsOfAKind) {
  const Program program = parsed(nested("blocks i in 4", "threads j in 8"));
  EXPECT_TRUE(has_loop(program.main, LoopKind::block));
  EXPECT_TRUE(has_loop(program.main, LoopKind::thread));
  EXPECT_FALSE(has_loop(program.main, LoopKind::parallel));
}

}  // namespace
}  // namespace lathe::testing
