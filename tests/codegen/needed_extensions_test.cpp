// The code of a program has an extension's instructions only where its trace says so.
#include "codegen/needed_extensions.h"

#include <gmock/gmock.h>

#include "codegen/llvm/emit.h"
#include "expr/parse.h"
#include "schedule/apply.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Target vnni() { return with_extensions(generic_target("x86-avx512"), {"avx512_vnni", "avx512_bf16"}); }

LoweredProgram lowered(const std::string& steps) {
  const Dag dag = parse_dag(
                      "input A[16] u8\ninput B[4, 32, 4] i8\n"
                      "C[j:32] = sum(r:4, t:4) i32(A[4*r + t]) * i32(B[r, j, t])")
                      .value();
  const Task task = make_task("t", dag, vnni()).value();
  const Program program = apply_trace(task, parse_trace(steps).value()).value();
  return lower(program, vnni()).value();
}

constexpr const char* kTensorized =
    "split C j [16]; reorder C j.0 r j.1 t; vectorize C j.1; "
    "tensorize C t intrinsic=dot4_u8_i8";

std::string assembly(const LoweredProgram& program) {
  return emit_assembly(program, vnni(), entry_symbols("test")).value();
}

TEST(NeededExtensions, AreThoseOfTheIntrinsics) {
  const LoweredProgram plain = lowered("split C j [16]; reorder C j.0 r t j.1; vectorize C j.1");
  EXPECT_THAT(needed_extensions(plain, vnni()), IsEmpty());
  EXPECT_THAT(assembly(plain), Not(HasSubstr("vpdp")));
  const LoweredProgram tensorized = lowered(kTensorized);
  EXPECT_THAT(needed_extensions(tensorized, vnni()), ElementsAre("avx512_vnni"));
  EXPECT_THAT(assembly(tensorized), HasSubstr("vpdpbusd"));
}

}  // namespace
}  // namespace lathe::testing
