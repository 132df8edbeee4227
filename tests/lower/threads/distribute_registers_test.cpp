// Buffers in registers around nests of threads become each thread's own part, packed; others are refused.
#include "lower/threads/distribute_registers.h"

#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr auto kPass = [](const Program& program) { return distribute_registers(program); };

// Two virtual threads in each dimension: elements 16 apart lie side by side afterwards.
TEST(DistributeRegisters, EachThreadsElementsAreTogether) {
  expect_golden(kPass, R"(
input A: f32[32, 2] [0][1]
output C: f32[32, 2] [0][1]
main {
  blocks b in 1 {
    alloc R: f32[32, 2] registers [0][1] {
      threads t in 8 {
        for v in 2 {
          for r in 2 {
            store R[16*v + 2*t + r, v] = A[16*v + 2*t + r, v]
          }
        }
      }
      threads u in 8 {
        for v in 2 {
          for r in 2 {
            store C[16*v + 2*u + r, v] = R[16*v + 2*u + r, v]
          }
        }
      }
    }
  }
}
)",
                R"(
input A: f32[32, 2] [0][1]
output C: f32[32, 2] [0][1]
main {
  blocks b in 1 {
    alloc R: f32[8, 4, 2] registers [0][1][2] {
      threads t in 8 {
        for v in 2 {
          for r in 2 {
            store R[t, 2*v + r, v] = A[2*t + 16*v + r, v]
          }
        }
      }
      threads u in 8 {
        for v in 2 {
          for r in 2 {
            store C[2*u + 16*v + r, v] = R[u, 2*v + r, v]
          }
        }
      }
    }
  }
}
)");
}

std::string copied_through(const std::string& scope, const std::string& index) {
  return "input A: f32[8] [0]\noutput C: f32[8] [0]\nmain {\n  blocks b in 1 {\n    alloc R: f32[8] " +
         scope +
         " [0] {\n      threads t in 8 {\n        store R[t] = A[t]\n      }\n      threads u in 8 {\n       "
         " "
         "store C[u] = R[" +
         index + "]\n      }\n    }\n  }\n}\n";
}

TEST(DistributeRegisters, AnElementThatChangesItsThreadIsRefused) {
  for (const char* scope : {"registers", "thread"})
    expect_error(kPass, copied_through(scope, "7 - u"),
                 "buffer 'R' is the threads' own, but its elements belong to other threads in another nest");
  // In shared memory it may.
  const Program shared = parsed(copied_through("shared", "7 - u"));
  EXPECT_EQ(to_string(*distribute_registers(shared)), to_string(shared));
}

// It would be each thread's own, and others' results unseen.
TEST(DistributeRegisters, TheWorkspaceIsOutsideOfKernels) {
  expect_error(kPass, copied_through("workspace", "7 - u"),
               "buffer 'R' lies in the workspace inside of a kernel: its scope is shared or registers");
}

TEST(DistributeRegisters, WhatIsInsideOfThreadsStays) {
  const Program program = parsed(R"(
input A: f32[8] [0]
output C: f32[8] [0]
main {
  threads t in 8 {
    alloc R: f32[1] registers [0] {
      store R[0] = A[t]
      store C[t] = R[0]
    }
  }
}
)");
  EXPECT_EQ(to_string(*distribute_registers(program)), to_string(program));
}

}  // namespace
}  // namespace lathe::testing
