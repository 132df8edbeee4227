// What is counted, and where: references to stack slots in innermost loops of the machine code.
#include "codegen/llvm/spills.h"

#include <gtest/gtest.h>

#include "codegen/llvm/emit.h"
#include "codegen/lowered_builder.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

SpillCount counted(const LoweredProgram& lowered) {
  EmitStats stats;
  const auto object = emit_object(lowered, generic_target("x86-avx2"), entry_symbols("test"), &stats);
  EXPECT_TRUE(object) << object.error().to_string();
  return stats.spills;
}

TEST(Spills, OnlyInnermostLoopsAreCounted) {
  LoweredBuilder builder;
  const Tensor in = builder.input("in", 4096);
  const Tensor out = builder.output("out", 4096);
  const Var i("i"), j("j"), k("k");
  const Affine at = Affine(i) * 64 + Affine(j);
  const Stmt copy = store(out, at, load(in, {at}) + Expr(1.0));
  const Stmt row = loop(j, 64, copy);
  builder.main(make_seq({loop(i, 64, row), loop(k, 4096, store(out, k, load(out, {k}) * Expr(3.0)))}));
  const SpillCount count = counted(builder.lowered());
  EXPECT_EQ(count.innermost_loops, 2);
  EXPECT_EQ(count.stack_references, 0);
  EXPECT_EQ(count.vector_references, 0);
}

TEST(Spills, CodeWithoutLoopsHasNone) {
  LoweredBuilder builder;
  const Tensor out = builder.output("out", 4);
  builder.main(store(out, 0, Expr(1.0)));
  EXPECT_EQ(counted(builder.lowered()).innermost_loops, 0);
}

// Each of the inputs is read by a pointer of its own, and there are sixteen registers for them.
TEST(Spills, SpilledAddressesAreNoVectors) {
  LoweredBuilder builder;
  const Var i("i");
  Expr sum = Expr(0.0);
  for (int n = 0; n < 24; ++n) {
    const Tensor in = builder.input("in" + std::to_string(n), 64 * (n + 1));
    sum = sum + load(in, {Affine(i) * (n + 1)});
  }
  const Tensor out = builder.output("out", 64);
  builder.main(loop(i, 64, store(out, i, sum)));
  const SpillCount count = counted(builder.lowered());
  EXPECT_EQ(count.innermost_loops, 1);
  EXPECT_GT(count.stack_references, 0);
  EXPECT_EQ(count.vector_references, 0);
}

// Twelve rows of two vectors are 24 accumulators, eight more than there are registers: each is at least read
// and written again.
TEST(Spills, SpilledVectorsAreCountedAmongThem) {
  const SpillCount count = counted(gemm({.m = 48, .n = 64, .k = 32, .rows = 12, .vectors = 2, .lanes = 8}));
  EXPECT_EQ(count.innermost_loops, 1);
  EXPECT_GE(count.vector_references, 2 * 8);
  EXPECT_GE(count.stack_references, count.vector_references);
}

}  // namespace
}  // namespace lathe::testing
