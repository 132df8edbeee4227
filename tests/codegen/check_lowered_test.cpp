#include "codegen/check_lowered.h"

#include <gtest/gtest.h>

#include "codegen/lowered_builder.h"

namespace lathe::testing {
namespace {

std::string message_of(const LoweredBuilder& builder) {
  const Status status = check_lowered(builder.lowered());
  return status ? "" : std::string(to_string(status.error().kind)) + ": " + status.error().message;
}

class CheckLowered : public ::testing::Test {
 protected:
  std::string message(Stmt stmt) {
    builder_.main(std::move(stmt));
    return message_of(builder_);
  }
  LoweredBuilder builder_;
  Tensor in_ = builder_.input("in", 8);
  Tensor out_ = builder_.output("out", 8);
  Var i_{"i"};
  Var j_{"j"};
};

TEST_F(CheckLowered, AcceptsWhatLoweringLeaves) {
  EXPECT_EQ(message(loop(i_, 8, store(out_, i_, load(in_, {i_})))), "");
}

TEST_F(CheckLowered, NamesWhatLoweringShouldHaveRemoved) {
  Block block;
  block.name = "C";
  EXPECT_EQ(message(make_stmt(block)),
            "invalid_program: block 'C' reached code generation: lower_blocks turns it into stores");
  const Stmt body = store(out_, i_, Expr(1.0));
  EXPECT_EQ(message(loop(i_, 8, body, LoopKind::unrolled)),
            "invalid_program: loop 'i' reached code generation: unroll_loops expands it");
  EXPECT_EQ(message(loop(i_, 8, store(out_, i_, load(in_, {0, i_})))),
            "invalid_program: access to 'in' has 2 indices: flatten_buffers makes one offset of them");
  EXPECT_EQ(message(loop(i_, 8, store(out_, i_, exp(load(in_, {i_}))))),
            "invalid_program: exp reached code generation: expand_math turns it into arithmetic");
  const Expr power = binary(BinaryOp::pow, load(in_, {i_}), Expr(2.0));
  EXPECT_EQ(message(loop(i_, 8, store(out_, i_, power))),
            "invalid_program: pow reached code generation: expand_math turns it into arithmetic");
}

TEST_F(CheckLowered, NamesNestedParallelLoops) {
  const Stmt inner = loop(j_, 2, store(out_, Affine(i_) * 2 + j_, Expr(1.0)), LoopKind::parallel);
  EXPECT_EQ(message(loop(i_, 4, inner, LoopKind::parallel)),
            "invalid_program: parallel loop 'j' lies inside another one");
}

TEST_F(CheckLowered, NamesBuffersThatLieNowhere) {
  const Tensor stray("stray", {8});
  EXPECT_EQ(message(make_stmt(Alloc{stray, Scope::thread, Layout::row_major(1), store(stray, 0, Expr(1.0))})),
            "invalid_program: buffer 'stray' has no place in the memory plan");
  const Tensor scratch = builder_.buffer("scratch", 8, Arena::workspace);
  EXPECT_EQ(message(store(scratch, 0, Expr(1.0))),
            "invalid_program: buffer 'scratch' is used outside its lifetime");
}

TEST_F(CheckLowered, NamesRegistersThatAreNone) {
  const Tensor large = builder_.buffer("large", 10000, Arena::registers);
  EXPECT_EQ(message(builder_.scoped(large, store(large, 0, Expr(1.0)))),
            "invalid_program: buffer 'large' of 40000 bytes is too large for registers: at most 32768");
  const Tensor shared = builder_.buffer("shared", 8, Arena::registers);
  const Stmt across = loop(i_, 8, store(shared, i_, Expr(1.0)), LoopKind::parallel);
  EXPECT_EQ(message(builder_.scoped(shared, across)),
            "invalid_program: buffer 'shared' in registers is used across a parallel loop");
}

TEST_F(CheckLowered, NamesTypesWithoutCode) {
  const Tensor half = builder_.input("half", 8, DType::f16);
  const Expr of_half = load(half, {0});
  const Expr sum(ExprNode{of_half.type(), Binary{BinaryOp::add, of_half, of_half}});
  EXPECT_EQ(message(store(out_, 0, cast({DType::f32, 1}, sum))),
            "invalid_program: nothing is computed in f16: cast to f32");
  const Expr negated(ExprNode{of_half.type(), Unary{UnaryOp::negate, of_half}});
  EXPECT_EQ(message(store(out_, 0, cast({DType::f32, 1}, negated))),
            "invalid_program: nothing is computed in f16: cast to f32");
  const Expr wide = cast({DType::f64, 1}, load(in_, {0}));
  EXPECT_EQ(message(store(out_, 0, cast({DType::f32, 1}, exp(wide)))), "");
  EXPECT_EQ(message(store(out_, 0, exp(load(in_, {0})))),
            "invalid_program: exp reached code generation: expand_math turns it into arithmetic");
  EXPECT_EQ(message(store(out_, 0, load(in_, {0}) % load(in_, {1}))),
            "invalid_program: fmod reached code generation: expand_math turns it into arithmetic");
}

TEST_F(CheckLowered, LiteralTablesAreNotWritten) {
  const Tensor table = Tensor::literal("table", {2}, {1, 2});
  EXPECT_EQ(message(store(table, 0, Expr(1.0))), "invalid_program: literal table 'table' is written");
}

}  // namespace
}  // namespace lathe::testing
