// Expressions as values: what each operation becomes, what is computed once, and which loads are guarded.
#include "codegen/llvm/value_emitter.h"

#include <gmock/gmock.h>

#include "base/check.h"
#include "codegen/llvm/ir_function.h"
#include "codegen/lowered_builder.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

using llvm_backend::BufferSet;
using llvm_backend::Guard;
using llvm_backend::IndexEmitter;
using llvm_backend::MemoryEmitter;
using llvm_backend::ValueEmitter;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Type kF32{DType::f32, 1};
constexpr Type kI32{DType::i32, 1};
constexpr Type kU8{DType::u8, 1};

// A function of buffers x, y, z of a type and of indices i and j.
class Values : public ::testing::Test {
 protected:
  void begin(DType dtype) {
    x = Tensor("x", {64}, dtype);
    y = Tensor("y", {64}, dtype);
    z = Tensor("z", {64}, dtype);
    buffers.emplace(f.module, std::vector<BufferUse>{{.tensor = x}, {.tensor = y}, {.tensor = z}});
    memory.emplace(f.builder, *buffers, indices);
    int pointer = 0;
    for (const Tensor& tensor : {x, y, z}) memory->set_base(tensor, f.pointer(pointer++));
    values.emplace(f.builder, *memory, indices, target);
    indices.open_level();
    indices.define(i, f.value(0), {0, 99});
    indices.define(j, f.value(1), {INT32_MIN, INT64_MAX / 2});
  }
  llvm::Value* emit(const Expr& e) {
    kept.push_back(e);  // what is known is known by its node
    return values->emit(e);
  }
  // Without the loads of x[0], y[0] and z[0], which become %x, %y and %z.
  std::string text() {
    indices.close_level();
    f.builder.CreateRetVoid();
    EXPECT_EQ(f.faults(), "");
    for (llvm::Instruction& instruction : f.function->getEntryBlock()) {
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (load == nullptr || !llvm::isa<llvm::Argument>(load->getPointerOperand())) continue;
      instruction.setName(std::string(1, "xyz"[load->getPointerOperand()->getName().back() - '0']));
    }
    std::string rest, line;
    std::istringstream lines(f.text());
    while (std::getline(lines, line)) {
      if (!line.contains(" = load ") && line != "ret void") rest += line + "\n";
    }
    return rest;
  }
  std::string of(const Expr& e) {
    emit(e);
    return text();
  }
  Expr first(const Tensor& tensor) { return load(tensor, {0}); }

  IrFunction f{{{DType::i64, 1}, {DType::i64, 1}}, 3};
  Tensor x, y, z;
  Var i{"i"}, j{"j"};
  Target target = generic_target("x86-avx2");
  IndexEmitter indices{f.builder,
                       [this](const Expr& e, const Guard& guard) { return values->emit(e, guard); }};
  std::vector<Expr> kept;
  std::optional<BufferSet> buffers;
  std::optional<MemoryEmitter> memory;
  std::optional<ValueEmitter> values;
};

TEST_F(Values, LiteralsOfEveryType) {
  begin(DType::f32);
  EXPECT_EQ(text_of(emit(literal(kF32, -0.5))), "float -5.000000e-01");
  EXPECT_EQ(text_of(emit(literal({DType::f64, 1}, 0.1))), "double 1.000000e-01");
  EXPECT_EQ(text_of(emit(literal({DType::i8, 1}, -3))), "i8 -3");
  EXPECT_EQ(text_of(emit(literal({DType::boolean, 1}, 1))), "i1 true");
  EXPECT_EQ(text_of(emit(literal({DType::bf16, 1}, 1))), "i16 16256");
  EXPECT_EQ(text_of(emit(broadcast(literal(kF32, 2), 4))), "<4 x float> splat (float 2.000000e+00)");
  EXPECT_EQ(text(), "");
}

TEST_F(Values, FloatingPointOperations) {
  begin(DType::f32);
  emit(first(x) + first(y));
  emit(first(x) / first(y));
  emit(-first(x));
  emit(sqrt(first(x)));
  emit(round(first(x)));
  emit(copy_sign(first(x), first(y)));
  EXPECT_EQ(text(),
            "%0 = fadd nsz float %x, %y\n"
            "%1 = fdiv float %x, %y\n"
            "%2 = fneg float %x\n"
            "%3 = call float @llvm.sqrt.f32(float %x)\n"
            "%4 = call float @llvm.roundeven.f32(float %x)\n"
            "%5 = call float @llvm.copysign.f32(float %x, float %y)\n");
}

TEST_F(Values, ASumWithAProductIsOneOperation) {
  begin(DType::f32);
  const Expr a = first(x), b = first(y), c = first(z);
  emit(a * b + c);
  emit(c - a * b);
  emit(a * b - c);
  EXPECT_EQ(text(),
            "%0 = call nsz float @llvm.fma.f32(float %x, float %y, float %z)\n"
            "%1 = fneg float %x\n"
            "%2 = call nsz float @llvm.fma.f32(float %1, float %y, float %z)\n"
            "%3 = fneg float %z\n"
            "%4 = call nsz float @llvm.fma.f32(float %x, float %y, float %3)\n");
}

TEST_F(Values, WhatIsSharedIsComputedOnceAStatement) {
  begin(DType::f32);
  const Expr product = first(x) * first(y);
  emit(product + product);
  EXPECT_EQ(values->emit(product), values->emit(product));
  llvm::Value* before = values->emit(product);
  values->begin_statement();
  EXPECT_NE(values->emit(product), before) << "memory may have changed";
  text();
}

TEST_F(Values, ComparisonsFollowTheType) {
  begin(DType::f32);
  EXPECT_EQ(of(first(x) <= first(y)), "%0 = fcmp ole float %x, %y\n");
}
TEST_F(Values, NaNDiffersFromAllAndEqualsNothing) {
  begin(DType::f32);
  const Expr a = first(x), b = first(y);
  emit(a == b);
  emit(a != b);
  EXPECT_EQ(text(), "%0 = fcmp oeq float %x, %y\n%1 = fcmp une float %x, %y\n");
}
TEST_F(Values, SignedComparisons) {
  begin(DType::i32);
  EXPECT_EQ(of(first(x) < first(y)), "%0 = icmp slt i32 %x, %y\n");
}
TEST_F(Values, UnsignedComparisons) {
  begin(DType::u8);
  EXPECT_EQ(of(first(x) < first(y)), "%0 = icmp ult i8 %x, %y\n");
}

// Beside a number the machine's instruction is enough; it gives its second operand where one is NaN.
TEST_F(Values, AnExtremumBesideANumberIsOneSelect) {
  begin(DType::f32);
  EXPECT_EQ(of(max(first(x), Expr(0.0))),
            "%0 = fcmp olt float %x, 0.000000e+00\n"
            "%1 = select i1 %0, float 0.000000e+00, float %x\n");
}
TEST_F(Values, AnExtremumOfTwoUnknownsLooksForNaN) {
  begin(DType::f32);
  EXPECT_EQ(of(min(first(x), first(y))),
            "%0 = fcmp olt float %x, %y\n"
            "%1 = select i1 %0, float %x, float %y\n"
            "%2 = fcmp ord float %x, 0.000000e+00\n"
            "%3 = select i1 %2, float %1, float %x\n");
}
TEST_F(Values, AnExtremumBesideNaNIsNoNumbers) {
  begin(DType::f32);
  EXPECT_THAT(of(min(first(x), Expr(std::nan("")))), HasSubstr("fcmp ord"));
}
TEST_F(Values, ExtremaOfIntegersFollowTheSign) {
  begin(DType::u8);
  EXPECT_EQ(of(max(first(x), first(y))),
            "%0 = icmp ult i8 %y, %x\n"
            "%1 = select i1 %0, i8 %x, i8 %y\n");
}

TEST_F(Values, DivisionByAPlainConstantHasNoSpecialCases) {
  begin(DType::i32);
  EXPECT_EQ(of(first(x) / literal(kI32, 3)),
            "%0 = srem i32 %x, 3\n"
            "%1 = xor i32 %0, 3\n"
            "%2 = icmp slt i32 %1, 0\n"
            "%3 = icmp ne i32 %0, 0\n"
            "%4 = and i1 %3, %2\n"
            "%5 = sdiv i32 %x, 3\n"
            "%6 = zext i1 %4 to i32\n"
            "%7 = sub i32 %5, %6\n");
}
TEST_F(Values, DivisionByAnythingNeverTraps) {
  begin(DType::i32);
  const std::string text = of(first(x) / first(y));
  EXPECT_THAT(text, HasSubstr("%0 = icmp eq i32 %y, 0\n%1 = icmp eq i32 %y, -1\n%2 = or i1 %0, %1\n"
                              "%3 = select i1 %2, i32 1, i32 %y\n"));
  EXPECT_THAT(text, HasSubstr("sdiv i32 %x, %3\n"));
}
TEST_F(Values, TheRemainderByZeroIsTheDividend) {
  begin(DType::i32);
  EXPECT_THAT(of(first(x) % first(y)), HasSubstr("select i1 %0, i32 %x, i32 "));
}
TEST_F(Values, UnsignedDivision) {
  begin(DType::u8);
  EXPECT_EQ(of(first(x) / literal(kU8, 3)), "%0 = udiv i8 %x, 3\n%1 = select i1 false, i8 0, i8 %0\n");
}

TEST_F(Values, IntegersNeedNoRounding) {
  begin(DType::i32);
  EXPECT_EQ(of(floor(first(x))), "");
}
TEST_F(Values, NothingIsNegativeWithoutASign) {
  begin(DType::u8);
  EXPECT_EQ(of(abs(first(x))), "");
}

TEST_F(Values, PartsOfAFloatAreItsBits) {
  begin(DType::f32);
  emit(unary(UnaryOp::exponent, first(x)));
  emit(unary(UnaryOp::mantissa, first(y)));
  EXPECT_EQ(text(),
            "%0 = bitcast float %x to i32\n"
            "%1 = lshr i32 %0, 23\n"
            "%2 = and i32 %1, 255\n"
            "%3 = sub i32 %2, 127\n"
            "%4 = sitofp i32 %3 to float\n"
            "%5 = bitcast float %y to i32\n"
            "%6 = and i32 %5, 8388607\n"
            "%7 = or i32 %6, 1065353216\n"
            "%8 = bitcast i32 %7 to float\n");
}

TEST_F(Values, WhatLoweringExpandsIsOurMistake) {
  begin(DType::f32);
  EXPECT_THROW(emit(exp(first(x))), InternalError);
  text();
}

// The lanes' numbers stand in one constant; what is compared fits in 32 bits.
TEST_F(Values, ComparisonsOfIndicesAreNarrow) {
  begin(DType::f32);
  EXPECT_EQ(of(ramp(Affine(i) * 8, 4) < broadcast(Expr(61), 4)),
            "%0 = mul nsw i64 %a, -8\n"
            "%1 = add nsw i64 %0, 61\n"
            "%2 = trunc i64 %1 to i32\n"
            "%.splatinsert = insertelement <4 x i32> poison, i32 %2, i64 0\n"
            "%.splat = shufflevector <4 x i32> %.splatinsert, <4 x i32> poison, <4 x i32> zeroinitializer\n"
            "%3 = icmp slt <4 x i32> <i32 0, i32 1, i32 2, i32 3>, %.splat\n");
}
TEST_F(Values, ComparisonsOfLargeIndicesAreNot) {
  begin(DType::f32);
  const std::string text = of(ramp(Affine(j), 4) < broadcast(Expr(61), 4));
  EXPECT_THAT(text, HasSubstr("icmp slt <4 x i64>"));
  EXPECT_THAT(text, Not(HasSubstr("trunc")));
}

// What may lie outside of its buffer is read only on the side that is taken; the rest is computed anyway.
TEST_F(Values, LoadsOfASelectAreGuarded) {
  begin(DType::f32);
  const Expr inside = Expr(i) < Expr(9);
  emit(select(inside, load(x, {i}) * Expr(2.0), Expr(1.0)));
  const std::string all = f.text();
  EXPECT_THAT(all, HasSubstr("select i1 %3, ptr "));
  EXPECT_THAT(all, HasSubstr("select i1 %3, float %"));
  text();
}
TEST_F(Values, ZeroBesideAGuardedLoadIsWhatTheLoadGives) {
  begin(DType::f32);
  emit(select(Expr(i) < Expr(9), load(x, {i}), Expr(0.0)));
  const std::string all = f.text();
  EXPECT_THAT(all, HasSubstr("select i1 %3, ptr "));
  EXPECT_THAT(all, Not(HasSubstr("float 0.000000e+00"))) << "a second select";
  text();
}
TEST_F(Values, ALoadThatStandsOutsideIsSelected) {
  begin(DType::f32);
  const Expr outside = load(x, {i});
  emit(outside);
  emit(select(Expr(i) < Expr(9), outside, Expr(0.0)));
  EXPECT_THAT(f.text(), HasSubstr("float 0.000000e+00"));
  text();
}
// The condition has read the element where the sides may not: it is there.
TEST_F(Values, WhatASelectsConditionReadsIsNotReadAgain) {
  begin(DType::f32);
  emit(select(load(x, {i}) < Expr(9.0), load(x, {i}) * Expr(2.0), Expr(1.0)));
  const std::string all = f.text();
  const size_t first = all.find("= load float");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(all.find("= load float", first + 1), std::string::npos);
  text();
}
TEST_F(Values, ZeroBesideWhatTheConditionReadIsSelected) {
  begin(DType::f32);
  emit(select(Expr(1.0) < load(x, {i}), load(x, {i}), Expr(0.0)));
  EXPECT_THAT(f.text(), HasSubstr("float 0.000000e+00"));
  text();
}
TEST_F(Values, TheRightSideOfAConjunctionIsGuardedByTheLeft) {
  begin(DType::f32);
  emit((Expr(i) < Expr(9)) && (load(x, {i}) < Expr(1.0)));
  EXPECT_THAT(f.text(), HasSubstr("select i1 %3, ptr "));
  text();
}
TEST_F(Values, OfADisjunctionByItsOpposite) {
  begin(DType::f32);
  emit((Expr(i) < Expr(9)) || (load(x, {i}) < Expr(1.0)));
  EXPECT_THAT(f.text(), HasSubstr("%4 = xor i1 %3, true\n"));
  EXPECT_THAT(f.text(), HasSubstr("select i1 %4, ptr "));
  text();
}

TEST_F(Values, RampsAddTheirLanes) {
  begin(DType::f32);
  EXPECT_THAT(of(ramp(Affine(i), 4, -2)),
              HasSubstr("add <4 x i64> %.splat, <i64 0, i64 -2, i64 -4, i64 -6>\n"));
}

TEST_F(Values, CallsAreIntrinsics) {
  begin(DType::i32);
  const Tensor a("a", {4}, DType::i16);
  BufferSet set(f.module, {{.tensor = x}, {.tensor = a}});
  MemoryEmitter own(f.builder, set, indices);
  own.set_base(x, f.pointer(0));
  own.set_base(a, f.pointer(1));
  ValueEmitter emitter(f.builder, own, indices, target);
  emitter.emit(call("dot2_i16", {vector_load(x, 0, 4), vector_load(a, 0, 8), vector_load(a, 0, 2)}));
  EXPECT_THAT(f.text(), HasSubstr("@llvm.x86.sse2.pmadd.wd"));
  text();
}

}  // namespace
}  // namespace lathe::testing
