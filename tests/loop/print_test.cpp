#include "loop/print.h"

#include "loop/samples.h"
#include "loop/walk.h"

namespace lathe {
namespace {

using namespace loop_testing;  // NOLINT

TEST(PrintLoops, NaiveProgram) {
  const Task task = task_of(
      "T[i:4, j:5] = sum(r:3) A[i, r] * B[r, j]\n"
      "C[i:4, j:5] = max(T[i, j], 0.0)",
      {"B"});
  EXPECT_EQ(to_string(naive_program(task)), R"(input A: f32[4, 3] [0][1]
constant B: f32[3, 5] [0][1]
output C: f32[4, 5] [0][1]
main {
  alloc T: f32[4, 5] workspace [0][1] {
    for i in 4 {
      for j in 5 {
        for r in 3 {
          block T {
            i: 4 = i
            j: 5 = j
            reduce r: 3 = r
            T[i, j] init sum= A[i, r] * B[r, j]
          }
        }
      }
    }
    for i in 4 {
      for j in 5 {
        block C {
          i: 4 = i
          j: 5 = j
          C[i, j] = max(T[i, j], 0.0)
        }
      }
    }
  }
}
)");
}

// Names that are taken around get a number; terms are ordered by declaration, whenever the variables were
// made.
TEST(PrintLoops, NamesAndOrderAreCanonical) {
  const Tensor out("T", {100});
  const Tensor fresh("T", {100});
  const Var late("i");
  const Var early("i");
  const Stmt store = make_stmt(Store{fresh, {Affine(late) + Affine(early) * 10}, Expr(1.0), 0, {}});
  const Stmt copy = make_stmt(Store{out, {Affine(0)}, fresh(Expr(early)), 0, {}});
  const Stmt inner = make_stmt(For{late, {Affine(10)}, LoopKind::serial, make_seq({store, copy})});
  const Stmt alloc = make_stmt(Alloc{fresh, Scope::thread, Layout::row_major(1), inner});
  Program program;
  program.arguments.push_back({out, false, true, false, Layout::row_major(1)});
  program.main = make_stmt(For{early, {Affine(10)}, LoopKind::parallel, alloc});
  EXPECT_EQ(to_string(program), R"(output T: f32[100] [0]
main {
  parallel i in 10 {
    alloc T_2: f32[100] thread [0] {
      for i_2 in 10 {
        store T_2[10*i + i_2] = 1.0
        store T[0] = T_2[i]
      }
    }
  }
}
)");
}

TEST(PrintLoops, StatementAlone) {
  const Program program = parsed(kLowered);
  const Stmt loop = as<Seq>(as<Alloc>(program.main)->body)->statements[1];
  EXPECT_EQ(to_string(loop), R"(for i in 10 {
  if i < 9, i%2 < 5 axis 0 peel {
    store Out[i] = T[i] + G[i/5] + 0.0 * X[At[i]]
  }
}
)");
}

}  // namespace
}  // namespace lathe
