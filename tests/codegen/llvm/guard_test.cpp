#include "codegen/llvm/guard.h"

#include <gtest/gtest.h>

#include "codegen/llvm/ir_function.h"

namespace lathe::testing {
namespace {

using llvm_backend::any_lane;
using llvm_backend::Guard;
using llvm_backend::lane_mask;
using llvm_backend::refine;

constexpr Type kBit{DType::boolean, 1};
constexpr Type kBits{DType::boolean, 4};

TEST(Guard, WithoutConditionsNothingIsComputed) {
  IrFunction f;
  const Guard always;
  EXPECT_TRUE(always.always());
  EXPECT_EQ(any_lane(f.builder, always), nullptr);
  EXPECT_EQ(lane_mask(f.builder, always, 8), nullptr);
  EXPECT_EQ(f.text(), "");
}

TEST(Guard, TheFirstConditionOfEachKindIsTakenAsItIs) {
  IrFunction f({kBit, kBits});
  const Guard all = refine(f.builder, {}, f.value(0));
  EXPECT_EQ(all, (Guard{f.value(0), nullptr}));
  const Guard lanes = refine(f.builder, {}, f.value(1));
  EXPECT_EQ(lanes, (Guard{nullptr, f.value(1)}));
  EXPECT_FALSE(all.always() || lanes.always());
  EXPECT_EQ(any_lane(f.builder, all), f.value(0));
  EXPECT_EQ(lane_mask(f.builder, lanes, 4), f.value(1));
  EXPECT_EQ(f.text(), "");
}

// A condition of all lanes and one of each lane stay apart: the first is cheaper to test alone.
TEST(Guard, FurtherConditionsNarrowTheirOwnKind) {
  IrFunction f({kBit, kBit, kBits, kBits});
  Guard guard;
  for (int i = 0; i < 4; ++i) guard = refine(f.builder, guard, f.value(i));
  EXPECT_EQ(f.text(), "%0 = and i1 %a, %b\n%1 = and <4 x i1> %c, %d\n");
  EXPECT_EQ(text_of(guard.all), "  %0 = and i1 %a, %b");
  EXPECT_EQ(text_of(guard.lanes), "  %1 = and <4 x i1> %c, %d");
}

TEST(Guard, BothKindsTogetherHoldWhereEachDoes) {
  IrFunction f({kBit, kBits});
  const Guard guard{f.value(0), f.value(1)};
  any_lane(f.builder, guard);
  lane_mask(f.builder, guard, 4);
  EXPECT_EQ(f.text(),
            "%0 = call i1 @llvm.vector.reduce.or.v4i1(<4 x i1> %b)\n"
            "%1 = and i1 %a, %0\n"
            "%.splatinsert = insertelement <4 x i1> poison, i1 %a, i64 0\n"
            "%.splat = shufflevector <4 x i1> %.splatinsert, <4 x i1> poison, <4 x i32> zeroinitializer\n"
            "%2 = and <4 x i1> %b, %.splat\n");
}

TEST(Guard, OneConditionOfAllLanesIsAMaskOfAnyWidth) {
  for (const unsigned lanes : {2U, 16U}) {
    IrFunction f({kBit});
    llvm::Value* mask = lane_mask(f.builder, {f.value(0), nullptr}, lanes);
    EXPECT_EQ(text_of(mask->getType()), "<" + std::to_string(lanes) + " x i1>");
  }
}

}  // namespace
}  // namespace lathe::testing
