// tensorize: the iterations of a reduce loop become one intrinsic's work.
#include "schedule/golden.h"

namespace lathe::testing {
namespace {

Task task_on(const std::string& dag, const std::vector<std::string>& extensions) {
  Task task = task_of(dag);
  task.target = with_extensions(generic_target("x86-avx512"), extensions);
  return task;
}

Task product(int terms = 8) {
  const std::string r = std::to_string(terms);
  return task_on("input A[3, " + r + "] u8\ninput B[" + r + ", 5] i8\n" + "C[i:3, j:5] = sum(r:" + r +
                     ") i32(A[i, r]) * i32(B[r, j])",
                 {"avx512_vnni", "avx512_bf16"});
}

TEST(Tensorize, TheInnermostLoopIsTheIntrinsics) {
  expect_steps(product(), "split C r [4]; reorder C r.0 i j r.1; tensorize C r.1 intrinsic=dot4_u8_i8", R"(
input A: u8[3, 8] [0][1]
input B: i8[8, 5] [0][1]
output C: i32[3, 5] [0][1]
main {
  for r.0 in 2 {
    for i in 3 {
      for j in 5 {
        tensor r.1 in 4 by dot4_u8_i8 {
          block C {
            i: 3 = i
            j: 5 = j
            reduce r: 8 = 4*r.0 + r.1
            C[i, j] init sum= i32(A[i, r]) * i32(B[r, j])
          }
        }
      }
    }
  }
}
)");
}

TEST(Tensorize, ImperfectGroupsHaveACondition) {
  const Program program =
      apply_trace(product(10), steps_of("split C r [4]; tensorize C r.1 intrinsic=dot4_u8_i8")).value();
  EXPECT_TRUE(verify(program).has_value());
  expect_same_result(naive_program(product(10)), program);
}

TEST(Tensorize, SaysWhatIsMissing) {
  const std::string split = "split C r [4]; ";
  expect_illegal(product(), split + "tensorize C r.1 intrinsic=dot3",
                 "there is no intrinsic 'dot3'; the intrinsics are dot4_u8_i8, dot2_bf16, dot2_i16");
  expect_illegal(product(), "tensorize C r intrinsic=dot4_u8_i8",
                 "intrinsic 'dot4_u8_i8' takes 4 elements together, and loop 'r' has 8 iterations");
  expect_illegal(product(), split + "reorder C r.1 i; tensorize C r.1 intrinsic=dot4_u8_i8",
                 "loop 'r.1' is not the innermost one of block 'C'");
  expect_illegal(product(), split + "unroll C r.1; tensorize C r.1 intrinsic=dot4_u8_i8",
                 "loop 'r.1' is annotated already");
  expect_illegal(product(),
                 "split C r [2 4]; reorder C r.0 r.2 r.1; split C r.1 [2]; fuse C r.1.0 r.1.1; "
                 "tensorize C r.1.0_r.1.1 intrinsic=dot2_i16",
                 "loop 'r.1.0_r.1.1' does not step along one reduce axis of block 'C'");
  expect_illegal(product(), "split C r [2]; tensorize C r.1 intrinsic=dot2_bf16",
                 "block 'C' adds up no products of bf16 and bf16 as f32, as intrinsic 'dot2_bf16' does");
}

TEST(Tensorize, TheTargetMustHaveTheInstruction) {
  Task task = product();
  task.target = generic_target("x86-avx2");
  const Trace trace = steps_of("split C r [4]; tensorize C r.1 intrinsic=dot4_u8_i8");
  expect_refused(apply_trace(task, trace), trace,
                 "target 'x86-avx2' (generic) has no instruction for intrinsic 'dot4_u8_i8'");
  EXPECT_TRUE(apply_trace(task, steps_of("split C r [2]; tensorize C r.1 intrinsic=dot2_i16")).has_value());
}

}  // namespace
}  // namespace lathe::testing
