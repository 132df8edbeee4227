// Buffers as large as what their blocks reach.
#include "lower/buffers/grow_buffers.h"

#include "expr/print.h"
#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) {
  Program result = program;
  result.main = grow_buffers(program.main);
  return result;
};

constexpr const char* kTiles = R"(
input A: f32[6] [0]
output C: f32[6] [0]
main {
  alloc T: f32[6] thread [0] {
    for i.0 in 2 {
      for i.1 in 4 {
        block T {
          i: 8 = 4*i.0 + i.1
          T[i] = 2.0
        }
      }
    }
    for i in 6 {
      prefetch T[i]
      block C {
        i: 6 = i
        C[i] = T[i] * A[i]
      }
    }
  }
}
)";

constexpr const char* kGrown = R"(
input A: f32[6] [0]
output C: f32[6] [0]
main {
  alloc T: f32[8] thread [0] {
    for i.0 in 2 {
      for i.1 in 4 {
        block T {
          i: 8 = 4*i.0 + i.1
          T[i] = 2.0
        }
      }
    }
    for i in 6 {
      prefetch T[i]
      block C {
        i: 6 = i
        C[i] = T[i] * A[i]
      }
    }
  }
}
)";

// The writer runs on to the end of its tiles; reader, fetch and Alloc go along, the argument does not.
// Before, it left its buffer.
TEST(GrowBuffers, ToTheEndOfTheTiles) {
  const Program result = kPass(parsed(kTiles));
  EXPECT_EQ("\n" + to_string(result), kGrown);
  EXPECT_FALSE(interpret(parsed(kTiles), inputs_of(result)).has_value());
  EXPECT_EQ(run(result, "grown").size(), 1u);
}

// What a select keeps out counts as well; each buffer grows in the dimension where it is reached.
TEST(GrowBuffers, UnderConditions) {
  expect_golden(kPass, R"(
output C: f32[8] [0]
main {
  alloc T: f32[2, 6] thread [0][1] {
    alloc U: f32[2] thread [0] {
      for i in 2 {
        block U {
          i: 2 = i
          U[i] = 1.0
        }
        for j in 6 {
          block T {
            i: 2 = i
            j: 6 = j
            T[i, j] = U[i] + 2.0
          }
        }
      }
      for j in 8 {
        block C {
          j: 8 = j
          C[j] = select(j < 6, T[1, j], 0.0)
        }
      }
    }
  }
}
)",
                R"(
output C: f32[8] [0]
main {
  alloc T: f32[2, 8] thread [0][1] {
    alloc U: f32[2] thread [0] {
      for i in 2 {
        block U {
          i: 2 = i
          U[i] = 1.0
        }
        for j in 6 {
          block T {
            i: 2 = i
            j: 6 = j
            T[i, j] = U[i] + 2.0
          }
        }
      }
      for j in 8 {
        block C {
          j: 8 = j
          C[j] = select(j < 6, T[1, j], 0.0)
        }
      }
    }
  }
}
)");
}

// Where all is inside, the tree is the one that was given.
TEST(GrowBuffers, NothingToDo) {
  const Program program = scheduled(task_of("T[i:4] = A[i] * 2.0\nO[i:4] = T[i] + 1.0"), "");
  EXPECT_EQ(grow_buffers(program.main), program.main);
}

// An index over axes is one over the loops that drive them.
TEST(GrowBuffers, BoundIndex) {
  const Program program = scheduled(task_of("O[i:8] = A[i] * 2.0"), "split O i [4]");
  const Block& block = *blocks_of(program.main)[0];
  EXPECT_EQ(to_string(bound_index(block.output_index[0] * 2 + 1, block)), "8*i.0 + 2*i.1 + 1");
}

}  // namespace
}  // namespace lathe::testing
