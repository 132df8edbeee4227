// The running example of [A], figure 1: C[y, x] = sum over k of A[k, y] * B[k, x], as three programs that
// compute the same: by default, in tiles, and in tiles that are mapped to a micro-kernel. The figure's
// intrinsic gemm8x8 is here eight rows of one vector in registers, to which eight terms are added at a time.
#include <fmt/format.h>

#include "schedule/golden.h"
#include "space/templates/template_case.h"

namespace lathe::testing {
namespace {

constexpr const char* kTiles = "split C y [32]; split C x [64]; reorder C y.0 x.0 k y.1 x.1";
constexpr const char* kMicroKernel =
    "split C y [8]; split C x [8]; split C k [8]; reorder C y.0 x.0 k.0 k.1 y.1 x.1; unroll C k.1; "
    "unroll C y.1; vectorize C x.1; cache_write C C.tile at=x.0 scope=registers; unroll C.tile.out y; "
    "vectorize C.tile.out x";

Task example(int size) {
  return task_of_formula(fmt::format("C[y:{0}, x:{0}] = sum(k:{0}) A[k, y] * B[k, x]", size));
}

// The figure's size as text, a smaller one as numbers.
void expect_example(const std::string& steps, const std::string& after) {
  const Result<Program> program = apply_trace(example(1024), steps_of(steps));
  ASSERT_TRUE(program) << program.error().to_string();
  EXPECT_EQ("\n" + to_string(*program), after);
  expect_right(example(64), steps_of(steps));
}

TEST(Figure1, Default) {
  expect_example("", R"(
input A: f32[1024, 1024] [0][1]
input B: f32[1024, 1024] [0][1]
output C: f32[1024, 1024] [0][1]
main {
  for y in 1024 {
    for x in 1024 {
      for k in 1024 {
        block C {
          y: 1024 = y
          x: 1024 = x
          reduce k: 1024 = k
          C[y, x] init sum= A[k, y] * B[k, x]
        }
      }
    }
  }
}
)");
}

TEST(Figure1, Tiles) {
  expect_example(kTiles, R"(
input A: f32[1024, 1024] [0][1]
input B: f32[1024, 1024] [0][1]
output C: f32[1024, 1024] [0][1]
main {
  for y.0 in 32 {
    for x.0 in 16 {
      for k in 1024 {
        for y.1 in 32 {
          for x.1 in 64 {
            block C {
              y: 1024 = 32*y.0 + y.1
              x: 1024 = 64*x.0 + x.1
              reduce k: 1024 = k
              C[y, x] init sum= A[k, y] * B[k, x]
            }
          }
        }
      }
    }
  }
}
)");
}

TEST(Figure1, TilesMappedToAMicroKernel) {
  expect_example(kMicroKernel, R"(
input A: f32[1024, 1024] [0][1]
input B: f32[1024, 1024] [0][1]
output C: f32[1024, 1024] [0][1]
main {
  for y.0 in 128 {
    for x.0 in 128 {
      alloc C.tile: f32[1024, 1024] registers [0][1] {
        for k.0 in 128 {
          unroll k.1 in 8 {
            unroll y.1 in 8 {
              vector x.1 in 8 {
                block C {
                  y: 1024 = 8*y.0 + y.1
                  x: 1024 = 8*x.0 + x.1
                  reduce k: 1024 = 8*k.0 + k.1
                  C.tile[y, x] init sum= A[k, y] * B[k, x]
                }
              }
            }
          }
        }
        unroll y in 8 {
          vector x in 8 {
            block C.tile.out {
              y: 1024 = 8*y.0 + y
              x: 1024 = 8*x.0 + x
              C[y, x] = C.tile[y, x]
            }
          }
        }
      }
    }
  }
}
)");
}

// What is left of the template's program when its loops of one iteration are gone.
TEST(Figure1, TheMicroKernelIsAPointOfTheTemplate) {
  const Task task = example(1024);
  const Result<Trace> point = trace_with(task, {{"C.split.y", {1, 8}},
                                                {"C.split.x", {1, 8}},
                                                {"C.split.k", {8}},
                                                {"C.annotate.rows", {1}},
                                                {"C.annotate.columns", {2}},
                                                {"C.annotate.terms", {1}}});
  ASSERT_TRUE(point) << point.error().to_string();
  const auto lowered = [&](const Trace& trace) {
    return to_string(lower(apply_trace(task, trace).value(), task.target).value().program);
  };
  std::string kernel = lowered(steps_of(kMicroKernel));
  for (size_t at = 0; (at = kernel.find("C.tile", at)) != std::string::npos;) kernel.replace(at, 6, "C.acc");
  EXPECT_EQ(lowered(*point), kernel);
}

}  // namespace
}  // namespace lathe::testing
