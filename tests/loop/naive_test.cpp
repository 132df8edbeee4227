// The program that a task means by itself, and the small functions beside it.
#include <gtest/gtest.h>

#include "loop/samples.h"

namespace lathe {
namespace {

using loop_testing::task_of;

TEST(NaiveProgram, HasANestForEachCompute) {
  EXPECT_EQ(to_string(naive_program(task_of("T[i:2, j:3] = sum(r:4) A[i, r] * B[r, j]\n"
                                            "O[i:2, j:3] = max(T[i, j], 0.0)",
                                            {"B"}))),
            R"(input A: f32[2, 4] [0][1]
constant B: f32[4, 3] [0][1]
output O: f32[2, 3] [0][1]
main {
  alloc T: f32[2, 3] workspace [0][1] {
    for i in 2 {
      for j in 3 {
        for r in 4 {
          block T {
            i: 2 = i
            j: 3 = j
            reduce r: 4 = r
            T[i, j] init sum= A[i, r] * B[r, j]
          }
        }
      }
    }
    for i in 2 {
      for j in 3 {
        block O {
          i: 2 = i
          j: 3 = j
          O[i, j] = max(T[i, j], 0.0)
        }
      }
    }
  }
}
)");
}

TEST(NaiveProgram, OfASingleNumberHasNoLoops) {
  EXPECT_EQ(to_string(naive_program(task_of("input x[] O[] = x[] + 1.0"))),
            R"(input x: f32[] []
output O: f32[] []
main {
  block O {
    O[] = x[] + 1.0
  }
}
)");
}

// What is an output is no intermediate, though it is read.
TEST(NaiveProgram, AllocatesWhatLiesBetween) {
  const Program program =
      naive_program(task_of("T[i:2] = A[i] * 2.0\nU[i:2] = T[i] * 2.0\n"
                            "O[i:2] = U[i] * 2.0\noutput T output O"));
  const Alloc* alloc = as<Alloc>(program.main);
  ASSERT_NE(alloc, nullptr);
  EXPECT_EQ(alloc->tensor->name, "U");
  EXPECT_EQ(alloc->scope, Scope::workspace);
  EXPECT_NE(as<Seq>(alloc->body), nullptr);
  EXPECT_EQ(program.arguments.size(), 3U);
  EXPECT_FALSE(program.flat);
  EXPECT_EQ(program.prepare, nullptr);
}

TEST(NaiveProgram, ComputesWhatTheDagDoes) {
  const Task task = task_of("input A[3, 4] i32\nM[i:3] = min(j:4) A[i, j]\nO[i:3, j:4] = A[i, j] - M[i]");
  const HostTensor a{DType::i32, {3, 4}, {5, 2, 9, 4, 0, 0, 0, 1, -3, -1, -2, -9}};
  const auto run = interpret(naive_program(task), std::vector<HostTensor>{a});
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_EQ(run->outputs[0].values, (std::vector<double>{3, 0, 7, 2, 0, 0, 0, 1, 6, 8, 7, 0}));
}

TEST(MakeSeq, IsFlatAndLeavesOutWhatIsNothing) {
  const Stmt a = make_stmt(Barrier{}), b = make_stmt(Barrier{true});
  EXPECT_EQ(make_seq({}), nullptr);
  EXPECT_EQ(make_seq({nullptr, nullptr}), nullptr);
  EXPECT_EQ(make_seq({nullptr, a, nullptr}), a);
  const Stmt both = make_seq({a, b});
  const Stmt all = make_seq({both, nullptr, a, make_seq({b, both})});
  ASSERT_NE(as<Seq>(all), nullptr);
  EXPECT_EQ(as<Seq>(all)->statements, (std::vector<Stmt>{a, b, a, b, a, b}));
}

TEST(ConstantExtent, IsOfOneConstant) {
  const auto extent = [](std::vector<Affine> extents) {
    return constant_extent({Var("i"), std::move(extents), LoopKind::serial, nullptr});
  };
  EXPECT_EQ(extent({Affine(7)}), 7);
  EXPECT_EQ(extent({Affine(0)}), 0);
  EXPECT_EQ(extent({Affine(7), Affine(5)}), -1);
  EXPECT_EQ(extent({Affine(Var("n"))}), -1);
  EXPECT_EQ(extent({}), -1);
}

TEST(RunsAtOnce, AreLoopsOfThreadsAndBlocks) {
  std::string kinds;
  for (const LoopKind kind : {LoopKind::serial, LoopKind::unrolled, LoopKind::vectorized, LoopKind::parallel,
                              LoopKind::tensorized, LoopKind::block, LoopKind::thread})
    if (runs_at_once(kind)) kinds += std::string(to_string(kind)) + " ";
  EXPECT_EQ(kinds, "parallel blocks threads ");
}

}  // namespace
}  // namespace lathe
