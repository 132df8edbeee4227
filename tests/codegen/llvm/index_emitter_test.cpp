// Where index arithmetic ends up: at the outermost level at which its variables are known, each part once.
#include "codegen/llvm/index_emitter.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "codegen/llvm/ir_function.h"
#include "expr/expr.h"

namespace lathe::testing {
namespace {

using llvm_backend::Guard;
using llvm_backend::IndexEmitter;

constexpr Type kIndex{DType::i64, 1};

// The function has variables i, j and k as its values; a level is open.
class IndexTest : public ::testing::Test {
 protected:
  IndexTest() { indices.open_level(); }

  void define(const Var& var, int value, Interval range) { indices.define(var, f.value(value), range); }
  // The function's text once all levels are closed.
  std::string text(int levels = 1) {
    for (int n = 0; n < levels; ++n) indices.close_level();
    return f.text();
  }

  IrFunction f{{kIndex, kIndex, kIndex}, 1};
  llvm::Value* opaque = f.value(2);
  int opaque_calls = 0;
  IndexEmitter indices{f.builder, [this](const Expr&, const Guard&) {
                         ++opaque_calls;
                         return opaque;
                       }};
  Var i{"i"}, j{"j"}, k{"k"};
};

TEST_F(IndexTest, ConstantsAndVariablesNeedNoCode) {
  define(i, 0, {0, 9});
  EXPECT_EQ(text_of(indices.value(7)), "i64 7");
  EXPECT_EQ(text_of(indices.value(-7)), "i64 -7");
  EXPECT_EQ(indices.value(i), f.value(0));
  EXPECT_EQ(text(), "");
}

TEST_F(IndexTest, TermsAreAddedUpAndTheConstantComesLast) {
  define(i, 0, {0, 9});
  define(j, 1, {0, 9});
  f.builder.CreateFreeze(indices.value(Affine(i) * 3 + Affine(j) * -2 + 5));
  EXPECT_EQ(text(),
            "%0 = mul nsw i64 %a, 3\n"
            "%1 = mul nsw i64 %b, -2\n"
            "%2 = add nsw i64 %0, %1\n"
            "%3 = add nsw i64 %2, 5\n"
            "%4 = freeze i64 %3\n");
}

// Accesses that are unrolled differ by a constant: what they share is there once.
TEST_F(IndexTest, WhatDiffersByAConstantSharesTheRest) {
  define(i, 0, {0, 9});
  define(j, 1, {0, 9});
  for (const int64_t offset : {0, 8, 16})
    indices.pointer(f.pointer(0), Affine(i) * 64 + Affine(j) * 4 + offset);
  EXPECT_EQ(text(),
            "%0 = mul nsw i64 %a, 64\n"
            "%1 = mul nsw i64 %b, 4\n"
            "%2 = add nsw i64 %0, %1\n"
            "%3 = getelementptr i8, ptr %p0, i64 %2\n"
            "%4 = getelementptr i8, ptr %3, i64 8\n"
            "%5 = getelementptr i8, ptr %3, i64 16\n");
}

TEST_F(IndexTest, APointerWithoutTermsIsTheBase) {
  EXPECT_EQ(indices.pointer(f.pointer(0), 0), f.pointer(0));
  indices.pointer(f.pointer(0), -12);
  EXPECT_EQ(text(), "%0 = getelementptr i8, ptr %p0, i64 -12\n");
}

// What the outer level knows is computed there, though it is asked for inside.
TEST_F(IndexTest, PartsGoToTheLevelOfTheirVariables) {
  define(i, 0, {0, 9});
  llvm::BasicBlock* body = llvm::BasicBlock::Create(f.context, "body", f.function);
  f.builder.CreateBr(body);
  f.builder.SetInsertPoint(body);
  indices.open_level();
  define(j, 1, {0, 9});
  indices.value(Affine(j) * 5 + Affine(i) * 7);
  indices.value(Affine(i) * 7 + 1);
  EXPECT_EQ(text(2),
            "%0 = mul nsw i64 %a, 7\n"
            "br label %body\n"
            "\nbody:\n"
            "%1 = mul nsw i64 %b, 5\n"
            "%2 = add nsw i64 %0, %1\n"
            "%3 = add nsw i64 %0, 1\n");
}

TEST_F(IndexTest, DivisionsOfWhatIsNotNegativeAreUnsigned) {
  define(i, 0, {0, 99});
  indices.value(floor_div(i, 8));
  indices.value(modulo(i, 8));
  indices.value(floor_div(Affine(i) + 3, 8));
  EXPECT_EQ(text(),
            "%0 = udiv i64 %a, 8\n"
            "%1 = urem i64 %a, 8\n"
            "%2 = add nsw i64 %a, 3\n"
            "%3 = udiv i64 %2, 8\n");
}

TEST_F(IndexTest, OtherDivisionsRoundDown) {
  define(i, 0, {-1, 99});
  indices.value(floor_div(i, 8));
  EXPECT_EQ(text(),
            "%0 = srem i64 %a, 8\n"
            "%1 = icmp slt i64 %0, 0\n"
            "%2 = sdiv i64 %a, 8\n"
            "%3 = zext i1 %1 to i64\n"
            "%4 = sub nsw i64 %2, %3\n");
}

TEST_F(IndexTest, OtherRemaindersAreNotNegative) {
  define(i, 0, {-1, 99});
  indices.value(modulo(i, 8));
  EXPECT_EQ(text(),
            "%0 = srem i64 %a, 8\n"
            "%1 = icmp slt i64 %0, 0\n"
            "%2 = add nsw i64 %0, 8\n"
            "%3 = select i1 %1, i64 %2, i64 %0\n");
}

TEST_F(IndexTest, ADivisionIsComputedOnce) {
  define(i, 0, {0, 99});
  indices.value(floor_div(i, 8) * 4);
  indices.value(floor_div(i, 8) * 5);
  EXPECT_EQ(text(),
            "%0 = udiv i64 %a, 8\n"
            "%1 = mul nsw i64 %0, 4\n"
            "%2 = mul nsw i64 %0, 5\n");
}

// What a tensor holds may have changed since: it is asked for each time, where it stands.
TEST_F(IndexTest, OpaqueValuesAreAskedForInPlace) {
  define(i, 0, {0, 99});
  const Tensor table("table", {4});
  const Affine chosen = lathe::opaque(cast({DType::i64, 1}, load(table, {0})));
  f.builder.CreateFreeze(f.value(0));
  indices.value(chosen * 4 + Affine(i) * 2);
  indices.value(chosen * 4);
  EXPECT_EQ(opaque_calls, 2);
  EXPECT_EQ(text(),
            "%0 = mul nsw i64 %a, 2\n"
            "%1 = freeze i64 %a\n"
            "%2 = mul nsw i64 %c, 4\n"
            "%3 = add nsw i64 %0, %2\n"
            "%4 = mul nsw i64 %c, 4\n");
}

TEST_F(IndexTest, RangesFollowFromTheVariables) {
  define(i, 0, {2, 9});
  define(j, 1, {0, 3});
  EXPECT_EQ(indices.range(Affine(i) * 2 - Affine(j)), (Interval{1, 18}));
  EXPECT_EQ(indices.range(k), std::nullopt);
  indices.open_level();
  define(k, 2, {5, 5});
  EXPECT_EQ(indices.range(Affine(k) + i), (Interval{7, 14}));
  EXPECT_EQ(indices.variables().size(), 3U);
  indices.close_level();
  EXPECT_EQ(indices.range(k), std::nullopt);
  EXPECT_EQ(indices.variables().size(), 2U);
  text();
}

TEST_F(IndexTest, AnUnknownVariableIsOurMistake) {
  EXPECT_THROW(indices.value(k), InternalError);
  text();
}

// for (k = first; k < end; ++k) with an access whose address moves with it.
class LoopTest : public IndexTest {
 protected:
  // What `body` emits in the loop; `end` is the function's value a.
  std::string looped(llvm::Value* first, const std::function<void()>& body) {
    llvm::BasicBlock* entry = f.builder.GetInsertBlock();
    llvm::BasicBlock* inside = llvm::BasicBlock::Create(f.context, "loop", f.function);
    llvm::BasicBlock* after = llvm::BasicBlock::Create(f.context, "after", f.function);
    f.builder.CreateBr(inside);
    f.builder.SetInsertPoint(inside);
    llvm::PHINode* variable = f.builder.CreatePHI(f.builder.getInt64Ty(), 2, "k");
    variable->addIncoming(first, entry);
    indices.open_loop(variable, entry, first);
    indices.define(k, variable, {0, 99});
    body();
    f.builder.CreateCondBr(indices.close_loop(f.value(0)), inside, after);
    f.builder.SetInsertPoint(after);
    f.builder.CreateRetVoid();
    indices.close_level();
    EXPECT_EQ(f.faults(), "");
    return f.text();
  }
};

// The counter is gone: the pointer itself is compared with where it ends.
TEST_F(LoopTest, APointerThatAdvancesIsTheCounter) {
  EXPECT_EQ(looped(f.builder.getInt64(0),
                   [&] {
                     f.builder.CreateLoad(f.builder.getFloatTy(),
                                          indices.pointer(f.pointer(0), Affine(k) * 4));
                   }),
            "%0 = mul nsw i64 %a, 4\n"
            "%1 = getelementptr i8, ptr %p0, i64 %0\n"
            "br label %loop\n"
            "\nloop:\n"
            "%k1 = phi ptr [ %p0, %entry ], [ %3, %loop ]\n"
            "%2 = load float, ptr %k1, align 4\n"
            "%3 = getelementptr i8, ptr %k1, i64 4\n"
            "%4 = icmp ne ptr %3, %1\n"
            "br i1 %4, label %loop, label %after\n"
            "\nafter:\n"
            "ret void\n");
}

TEST_F(LoopTest, ALoopThatBeginsLaterStartsThere) {
  const std::string text = looped(f.value(1), [&] {
    f.builder.CreateLoad(f.builder.getFloatTy(), indices.pointer(f.pointer(0), Affine(k) * 12 + 8));
  });
  EXPECT_NE(text.find("%0 = mul nsw i64 %b, 12\n%1 = getelementptr i8, ptr %p0, i64 %0\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("phi ptr [ %1, %entry ]"), std::string::npos) << text;
  EXPECT_NE(text.find("i64 12\n"), std::string::npos) << text;
}

TEST_F(LoopTest, WithoutPointersTheCounterCounts) {
  EXPECT_EQ(looped(f.builder.getInt64(0), [&] { f.builder.CreateFreeze(indices.value(Affine(k) * 3)); }),
            "br label %loop\n"
            "\nloop:\n"
            "%k = phi i64 [ 0, %entry ], [ %2, %loop ]\n"
            "%0 = mul nsw i64 %k, 3\n"
            "%1 = freeze i64 %0\n"
            "%2 = add nuw nsw i64 %k, 1\n"
            "%3 = icmp ne i64 %2, %a\n"
            "br i1 %3, label %loop, label %after\n"
            "\nafter:\n"
            "ret void\n");
}

// A counter that something else needs stays beside the pointer.
TEST_F(LoopTest, ACounterThatIsUsedStays) {
  const std::string text = looped(f.builder.getInt64(0), [&] {
    llvm::Value* place = indices.pointer(f.pointer(0), Affine(k) * 8);
    f.builder.CreateStore(indices.value(k), place);
  });
  EXPECT_NE(text.find("phi ptr"), std::string::npos);
  EXPECT_NE(text.find("phi i64"), std::string::npos);
  EXPECT_NE(text.find("icmp ne i64"), std::string::npos);
}

}  // namespace
}  // namespace lathe::testing
