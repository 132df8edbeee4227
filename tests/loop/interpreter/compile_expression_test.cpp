// Expressions as instructions: which run, in which registers, and what is refused.
#include <gtest/gtest.h>

#include <functional>

#include "loop/interpreter/compile.h"
#include "loop/samples.h"

namespace lathe::interpreter {
namespace {

// The code of one store to C [8] of this type, flat, beside inputs A f32[8] and At i32[8].
Result<ProgramCode> stored(DType dtype, const std::function<Expr(const Tensor& a, const Tensor& at)>& value,
                           int64_t stride = 1) {
  Program program;
  const Tensor a("A", {8}), at("At", {8}, DType::i32), c("C", {8}, dtype);
  program.arguments = {{a, false, false, false, Layout::row_major(1)},
                       {at, false, false, false, Layout::row_major(1)},
                       {c, false, true, false, Layout::row_major(1)}};
  program.flat = true;
  const Expr e = value(a, at);
  program.main = make_stmt(Store{c, {Affine(0)}, e, e.type().lanes > 1 ? stride : 0, {}});
  return compile(program, false);
}

const char* name_of_op(Op op) {
  switch (op) {
    case Op::constant: return "constant";
    case Op::read_slot: return "read_slot";
    case Op::set_slot: return "set_slot";
    case Op::slot_operation: return "slot_operation";
    case Op::check: return "check";
    case Op::load: return "load";
    case Op::load_lanes: return "load_lanes";
    case Op::store: return "store";
    case Op::store_lanes: return "store_lanes";
    case Op::initialise: return "initialise";
    case Op::combine: return "combine";
    case Op::unary: return "unary";
    case Op::binary: return "binary";
    case Op::select_lanes: return "select_lanes";
    case Op::convert: return "convert";
    case Op::keep_bits: return "keep_bits";
    case Op::broadcast: return "broadcast";
    case Op::ramp: return "ramp";
    case Op::dot: return "dot";
    case Op::jump: return "jump";
    case Op::jump_if_zero: return "jump_if_zero";
    case Op::jump_if_slot: return "jump_if_slot";
  }
  return "";
}

// "load load binary store", or why there is no code.
std::string operations(const Result<ProgramCode>& code) {
  if (!code) return code.error().to_string();
  std::string text;
  for (const Instruction& in : code->root.children.at(0).instructions)
    text += (text.empty() ? "" : " ") + std::string(name_of_op(in.op));
  return text;
}

TEST(CompileExpression, OperandsComeBeforeTheirOperator) {
  const auto sum = stored(DType::f32, [](const Tensor& a, const Tensor&) { return a(0) + a(1) * 2.0; });
  EXPECT_EQ(operations(sum), "load load constant binary binary store");
  EXPECT_EQ(operations(stored(DType::f32, [](const Tensor& a, const Tensor&) { return exp(-a(0)); })),
            "load unary unary store");
  EXPECT_EQ(operations(stored(DType::f32,
                              [](const Tensor&, const Tensor& at) { return cast({DType::f32}, at(0)); })),
            "load convert store");
}

// A result takes the place of its first operand: a chain of any length needs two registers.
TEST(CompileExpression, RegistersAreUsedAgain) {
  const auto chain = stored(DType::f32, [](const Tensor& a, const Tensor&) {
    Expr sum = a(0);
    for (int i = 0; i < 50; ++i) sum = sum + a(i % 8);
    return sum;
  });
  EXPECT_EQ(chain->registers, 2);
  const auto other_way = stored(DType::f32, [](const Tensor& a, const Tensor&) {
    Expr sum = a(0);
    for (int i = 0; i < 5; ++i) sum = a(i) + sum;
    return sum;
  });
  EXPECT_EQ(other_way->registers, 6);
  EXPECT_EQ(stored(DType::f32, [](const Tensor& a, const Tensor&) { return broadcast(a(0), 8); })->registers,
            8);
}

TEST(CompileExpression, AScalarSelectJumpsAroundTheOtherSide) {
  const auto code = stored(
      DType::f32, [](const Tensor& a, const Tensor&) { return select(a(0) < 1.0, a(1) * a(2), -a(3)); });
  EXPECT_EQ(operations(code), "load constant binary jump_if_zero load load binary jump load unary store");
  const std::vector<Instruction>& list = code->root.children.at(0).instructions;
  EXPECT_EQ(list[3].immediate, 5);  // to the load of the second side
  EXPECT_EQ(list[7].immediate, 3);  // to the store
  EXPECT_EQ(list[6].target, list[9].target);
}

TEST(CompileExpression, AVectorSelectRunsBothSides) {
  const auto code = stored(DType::f32, [](const Tensor& a, const Tensor&) {
    const Expr lanes = broadcast(a(0), 4);
    return select(lanes < broadcast(a(1), 4), lanes, broadcast(a(2), 4));
  });
  EXPECT_EQ(operations(code),
            "load broadcast load broadcast binary load broadcast load broadcast select_lanes store_lanes");
}

TEST(CompileExpression, AnIndexThatIsReadIsASlot) {
  const auto code = stored(DType::f32, [](const Tensor& a, const Tensor& at) { return a(at(3)); });
  EXPECT_EQ(operations(code), "load convert set_slot check load store");
  const auto wrapped = stored(
      DType::f32, [](const Tensor& a, const Tensor& at) { return load(a, {modulo(to_affine(at(3)), 8)}); });
  EXPECT_EQ(operations(wrapped).find("check"), std::string::npos) << operations(wrapped);
}

TEST(CompileExpression, IndicesAreReadFromTheirSlots) {
  const auto code = stored(DType::i64, [](const Tensor&, const Tensor&) { return Expr(Affine(7)); });
  EXPECT_EQ(operations(code), "read_slot store");
  EXPECT_EQ(code->root.children.at(0).instructions[0].immediate, 7);
  EXPECT_EQ(operations(stored(DType::i64,
                              [](const Tensor&, const Tensor&) {
                                return Expr(ExprNode{{DType::i64, 4}, Ramp{Affine(3), 2}});
                              })),
            "ramp store_lanes");
}

TEST(CompileExpression, NamesOperandsOfOtherLanes) {
  const Type wide{DType::f32, 8};
  EXPECT_EQ(operations(stored(DType::f32,
                              [&](const Tensor& a, const Tensor&) {
                                return Expr(ExprNode{
                                    wide, Binary{BinaryOp::add, broadcast(a(0), 8), broadcast(a(1), 4)}});
                              })),
            "store to C: an operand is f32x4 where 8 lanes are expected");
  EXPECT_EQ(operations(stored(DType::f32,
                              [&](const Tensor& a, const Tensor&) {
                                return Expr(ExprNode{wide, Unary{UnaryOp::exp, a(0)}});
                              })),
            "store to C: an operand is f32 where 8 lanes are expected");
  EXPECT_EQ(operations(stored(
                DType::f32, [](const Tensor& a, const Tensor&) { return broadcast(broadcast(a(0), 4), 8); })),
            "store to C: an operand is f32x4 where 1 lanes are expected");
}

TEST(CompileExpression, NamesTooManyLanes) {
  const auto lanes = [](int count) {
    return operations(
        stored(DType::f32, [&](const Tensor& a, const Tensor&) { return broadcast(a(0), count); }));
  };
  EXPECT_EQ(lanes(1024), "load broadcast store_lanes");
  EXPECT_EQ(lanes(1025), "store to C: a value has 1025 lanes");
  EXPECT_EQ(lanes(0), "store to C: a value has 0 lanes");
}

TEST(CompileExpression, NamesIntrinsicsThatAreNone) {
  const auto called = [](const char* name, size_t operands) {
    return operations(stored(DType::f32, [&](const Tensor& a, const Tensor&) {
      return call(name, std::vector<Expr>(operands, broadcast(a(0), 4)));
    }));
  };
  EXPECT_EQ(called("dot3", 3), "store to C: there is no intrinsic 'dot3' of 3 operands");
  EXPECT_EQ(called("dot2_bf16", 2), "store to C: there is no intrinsic 'dot2_bf16' of 2 operands");
}

TEST(CompileExpression, NamesAnIndexThatIsNoInteger) {
  EXPECT_EQ(
      operations(stored(DType::f32, [](const Tensor& a, const Tensor&) { return load(a, {opaque(a(0))}); })),
      "store to C: an index is f32");
}

}  // namespace
}  // namespace lathe::interpreter
