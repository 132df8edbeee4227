// Loop programs as text, in the printer's own form: scheduled with tails, packing and a late init; lowered
// with vectors, masks and every other statement.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "expr/parse.h"
#include "loop/interpret.h"
#include "loop/parse.h"
#include "loop/print.h"
#include "target/all.h"

namespace lathe::loop_testing {

// 10 x 11 x 9, tiles of 4 x 8 that do not divide, B packed beforehand, K split and accumulated in registers.
inline constexpr const char* kTiledMatmul = R"(input A: f32[10, 9] [0][1]
constant B: f32[9, 11] [0][1]
output C: f32[10, 11] [0][1]
prepared B.pack: f32[9, 11] [1/8][0][1%8]
prepare {
  for r in 9 {
    for j in 11 {
      block B.pack {
        a: 9 = r
        b: 11 = j
        B.pack[a, b] = B[a, b]
      }
    }
  }
}
main {
  parallel i.0 in 3 {
    for j.0 in 2 {
      for r.0 in 3 {
        alloc C.reg: f32[10, 11] registers [0][1] {
          for i.2 in 4 {
            vector j.2 in 8 {
              block C.in where 4*i.0 + i.2 < 10 axis 0, 8*j.0 + j.2 < 11 axis 1 {
                i: 10 = 4*i.0 + i.2
                j: 11 = 8*j.0 + j.2 mask
                first: 3 = r.0
                C.reg[i, j] = select(first == 0, 0.0, C[i, j])
              }
            }
          }
          for r.1 in 4 {
            unroll i.1 in 4 {
              vector j.1 in 8 {
                block C where 4*i.0 + i.1 < 10 axis 0, 8*j.0 + j.1 < 11 axis 1, 4*r.0 + r.1 < 9 axis 2 {
                  i: 10 = 4*i.0 + i.1 peel
                  j: 11 = 8*j.0 + j.1 mask
                  reduce r: 9 = 4*r.0 + r.1 bound
                  C.reg[i, j] sum= A[i, r] * B.pack[r, j]
                }
              }
            }
          }
          for i.3 in 4 {
            for j.3 in 8 {
              block C.out where 4*i.0 + i.3 < 10 axis 0, 8*j.0 + j.3 < 11 axis 1 {
                i: 10 = 4*i.0 + i.3
                j: 11 = 8*j.0 + j.3
                C[i, j] = C.reg[i, j]
              }
            }
          }
        }
      }
    }
  }
}
)";

// Out = 2 * X + G over 10 elements: vectors of 4, the last one masked; a buffer, a condition and a prefetch.
inline constexpr const char* kLowered = R"(input X: f32[10] [0]
input At: i32[10] [0]
output Out: f32[10] [0]
table G: f32[2] = {0.5, -1.0}
flat
main {
  alloc T: f32[16] thread [0] {
    for i.0 in min(3, 3) {
      store T[4*i.0; 4 by 1 if ramp(4*i.0, 1, 4) < broadcast(10, 4)] = X[4*i.0; 4 by 1 if ramp(4*i.0, 1, 4) < broadcast(10, 4)] * f32x4(2.0)
      prefetch X[4*i.0 + 64]
    }
    for i in 10 {
      if i < 9, i%2 < 5 axis 0 peel {
        store Out[i] = T[i] + G[i/5] + 0.0 * X[At[i]]
      }
    }
    store Out[9] = T[9] + G[1]
  }
}
)";

inline Program parsed(const std::string& text) {
  Result<Program> program = parse_program(text);
  EXPECT_TRUE(program.has_value()) << program.error().to_string();
  return program ? *program : Program();
}

inline Task task_of(const std::string& text, const std::vector<std::string>& constants = {}) {
  const Result<Dag> dag = parse_dag(text);
  EXPECT_TRUE(dag.has_value()) << dag.error().to_string();
  Result<Task> task = make_task("test", *dag, generic_target("x86-avx2"), constants);
  EXPECT_TRUE(task.has_value()) << task.error().to_string();
  return *task;
}

inline std::vector<HostTensor> random_inputs(const Program& program, uint64_t seed = 1) {
  Rng rng(seed);
  std::vector<HostTensor> inputs;
  for (const Argument& argument : program.arguments) {
    if (!argument.is_output) inputs.push_back(random_like(argument.tensor, rng));
  }
  return inputs;
}

inline std::string error_of(const std::string& text) {
  const Result<Program> program = parse_program(text, "text");
  return program ? "none" : program.error().to_string();
}

}  // namespace lathe::loop_testing
