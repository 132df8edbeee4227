// Conditions at the outermost place.
#include "lower/blocks/hoist_guards.h"

#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) { return hoist_guards(program); };

TEST(HoistGuards, MovesToTheLoopThatFixesIt) {
  expect_golden(kPass, R"(
input A: f32[10] [0]
output C: f32[10] [0]
main {
  for i in 12 {
    for j in 4 {
      if i < 10, 4*i + j < 33 {
        store C[i] = A[i]
      }
    }
  }
}
)",
                R"(
input A: f32[10] [0]
output C: f32[10] [0]
main {
  for i in 12 {
    if i < 10 {
      for j in 4 {
        if 4*i + j < 33 {
          store C[i] = A[i]
        }
      }
    }
  }
}
)");
}

// Where nothing is computed there is nothing to fetch for.
TEST(HoistGuards, TakesFetchesAlong) {
  expect_golden(kPass, R"(
input A: f32[40] [0]
output C: f32[10] [0]
main {
  for i in 12 {
    for j in 4 {
      prefetch A[j + 4]
      if i < 10 {
        store C[i] = A[j]
      }
    }
  }
}
)",
                R"(
input A: f32[40] [0]
output C: f32[10] [0]
main {
  for i in 12 {
    if i < 10 {
      for j in 4 {
        prefetch A[j + 4]
        store C[i] = A[j]
      }
    }
  }
}
)");
}

// What nobody reads need not be computed, unless the buffer outlives the statements that leave it out.
TEST(HoistGuards, LeavesOutWhatServesWhatDoesNotRun) {
  expect_golden(kPass, R"(
input A: f32[15] [0]
output C: f32[10] [0]
main {
  for i in 12 {
    alloc T: f32[1] registers [0] {
      store T[0] = 0.0
      for j in 4 {
        store T[0] = T[0] + A[i + j]
      }
      if i < 10 {
        store C[i] = T[0]
      }
    }
  }
}
)",
                R"(
input A: f32[15] [0]
output C: f32[10] [0]
main {
  for i in 12 {
    if i < 10 {
      alloc T: f32[1] registers [0] {
        store T[0] = 0.0
        for j in 4 {
          store T[0] = T[0] + A[i + j]
        }
        store C[i] = T[0]
      }
    }
  }
}
)");
}

TEST(HoistGuards, KeepsWhatOthersRead) {
  const char* text = R"(
input A: f32[12] [0]
output C: f32[10] [0]
main {
  alloc T: f32[1] workspace [0] {
    store T[0] = 0.0
    for i in 12 {
      store T[0] = T[0] + A[i]
      if i < 10 {
        store C[i] = T[0]
      }
    }
  }
}
)";
  expect_golden(kPass, text, text);
}

TEST(HoistGuards, JoinsWhatSiblingsShare) {
  expect_golden(kPass, R"(
input A: f32[10] [0]
output C: f32[10] [0]
main {
  for i in 12 {
    for j in 4 {
      if i < 10 {
        store C[i] = 0.0
      }
    }
    for j in 4 {
      if i < 10, j < 3 {
        store C[i] = C[i] + A[i]
      }
    }
  }
}
)",
                R"(
input A: f32[10] [0]
output C: f32[10] [0]
main {
  for i in 12 {
    if i < 10 {
      for j in 4 {
        store C[i] = 0.0
      }
      for j in 4 {
        if j < 3 {
          store C[i] = C[i] + A[i]
        }
      }
    }
  }
}
)");
}

}  // namespace
}  // namespace lathe::testing
