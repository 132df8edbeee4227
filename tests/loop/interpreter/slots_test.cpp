// Integers in slots: whatever a sum is made of, it has its value in each iteration; and it is computed where
// its variables change.
#include "loop/interpreter/slots.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/rng.h"
#include "expr/expr.h"
#include "loop/interpreter/arithmetic.h"

namespace lathe::interpreter {
namespace {

void run_slots(const std::vector<SlotOp>& operations, std::vector<int64_t>& slots) {
  const auto at = [&](int slot) -> int64_t& { return slots[static_cast<size_t>(slot)]; };
  for (const SlotOp& op : operations) {
    switch (op.kind) {
      case SlotOpKind::add_scaled: at(op.target) = at(op.a) + op.factor * at(op.b); break;
      case SlotOpKind::divide: at(op.target) = floor_quotient(at(op.a) + op.constant, op.factor); break;
      case SlotOpKind::remainder: at(op.target) = floor_remainder(at(op.a) + op.constant, op.factor); break;
    }
  }
}

// A sum over i and j and what it is for given values of them.
struct Drawn {
  Affine affine;
  std::function<int64_t(int64_t, int64_t)> formula;
};

Drawn drawn_sum(Rng& rng, const Var& i, const Var& j, int depth) {
  if (depth == 0) {
    switch (rng.below(3)) {
      case 0: return {Affine(i), [](int64_t a, int64_t) { return a; }};
      case 1: return {Affine(j), [](int64_t, int64_t b) { return b; }};
      default: break;
    }
    const int64_t constant = rng.between(-9, 9);
    return {Affine(constant), [constant](int64_t, int64_t) { return constant; }};
  }
  const Drawn a = drawn_sum(rng, i, j, depth - 1);
  const int64_t number = rng.between(1, 7);
  switch (rng.below(4)) {
    case 0:
      return {floor_div(a.affine, number),
              [=](int64_t x, int64_t y) { return floor_quotient(a.formula(x, y), number); }};
    case 1:
      return {modulo(a.affine, number),
              [=](int64_t x, int64_t y) { return floor_remainder(a.formula(x, y), number); }};
    case 2:
      return {a.affine * (number - 4), [=](int64_t x, int64_t y) { return a.formula(x, y) * (number - 4); }};
    default: break;
  }
  const Drawn b = drawn_sum(rng, i, j, depth - 1);
  return {a.affine + b.affine, [=](int64_t x, int64_t y) { return a.formula(x, y) + b.formula(x, y); }};
}

TEST(SlotPlan, EverySumHasItsValueInEachIteration) {
  Rng rng(12);
  for (int round = 0; round < 200; ++round) {
    const Var i("i"), j("j");
    const Drawn drawn = drawn_sum(rng, i, j, 5);
    SlotPlan plan;
    std::vector<SlotOp> outer, inner;
    const int first = plan.open_loop(i, 5, &outer);
    const int second = plan.open_loop(j, 6, &inner);
    const SlotValue value = plan.value(drawn.affine);
    const Interval range = plan.range(value);
    std::vector<int64_t> slots(plan.size(), 0);
    for (int64_t x = 0; x < 6; ++x) {
      slots[static_cast<size_t>(first)] = x;
      run_slots(outer, slots);
      for (int64_t y = 0; y < 7; ++y) {
        slots[static_cast<size_t>(second)] = y;
        run_slots(inner, slots);
        const int64_t actual = slots[static_cast<size_t>(value.slot)] + value.constant;
        ASSERT_EQ(actual, drawn.formula(x, y)) << to_string(drawn.affine) << " at " << x << ", " << y;
        ASSERT_GE(actual, range.lo) << to_string(drawn.affine);
        ASSERT_LE(actual, range.hi) << to_string(drawn.affine);
      }
    }
  }
}

TEST(SlotPlan, ComputesWhereVariablesChange) {
  const Var i("i"), j("j");
  SlotPlan plan;
  std::vector<SlotOp> outer, inner;
  plan.open_loop(i, 7, &outer);
  plan.open_loop(j, 7, &inner);
  plan.value(floor_div(Affine(i), 3) * 5);
  EXPECT_EQ(outer.size(), 2U);
  EXPECT_TRUE(inner.empty());
  const SlotValue sum = plan.value(floor_div(Affine(i), 3) * 5 + Affine(j) + Affine(9));
  EXPECT_EQ(outer.size(), 2U);
  EXPECT_EQ(inner.size(), 1U);
  EXPECT_EQ(sum.constant, 9);
}

TEST(SlotPlan, EqualSumsShareASlot) {
  const Var i("i"), j("j");
  SlotPlan plan;
  std::vector<SlotOp> outer, inner;
  plan.open_loop(i, 7, &outer);
  plan.open_loop(j, 7, &inner);
  const SlotValue first = plan.value(Affine(i) * 4 + Affine(j));
  const SlotValue second = plan.value(Affine(i) * 4 + Affine(j) + Affine(3));
  EXPECT_EQ(first.slot, second.slot);
  EXPECT_EQ(second.constant - first.constant, 3);
  EXPECT_EQ(outer.size() + inner.size(), 2U);
}

TEST(SlotPlan, ConstantsAreInTheSlotOf0) {
  SlotPlan plan;
  EXPECT_EQ(plan.value(Affine(42)).slot, 0);
  EXPECT_EQ(plan.value(Affine(42)).constant, 42);
  const Linear quotient = plan.divided({-7, {}}, 2, SlotOpKind::divide);
  EXPECT_EQ(quotient.constant, -4);
  EXPECT_EQ(plan.divided({-7, {}}, 2, SlotOpKind::remainder).constant, 1);
  EXPECT_EQ(plan.divided({-7, {}}, 1, SlotOpKind::remainder).constant, 0);
  EXPECT_EQ(plan.divided({-7, {}}, 1, SlotOpKind::divide).constant, -7);
}

TEST(SlotPlan, AxesAreTheirBindings) {
  const Var i("i"), a("a");
  SlotPlan plan;
  std::vector<SlotOp> operations;
  plan.open_loop(i, 7, &operations);
  plan.bind(a, plan.linear(Affine(i) * 2 + Affine(1)));
  const SlotValue twice = plan.value(Affine(a) * 2);
  EXPECT_EQ(twice.constant, 2);
  EXPECT_EQ(plan.range(twice).hi, 30);
  EXPECT_EQ(plan.unknown(), nullptr);
  plan.forget_bindings(1);
  plan.value(Affine(a));
  ASSERT_NE(plan.unknown(), nullptr);
  EXPECT_EQ(plan.unknown()->name, "a");
}

TEST(SlotPlan, AVariableOutsideOfItsLoopIsUnknown) {
  const Var i("i");
  SlotPlan plan;
  std::vector<SlotOp> operations;
  plan.open_loop(i, 7, &operations);
  plan.close_loop(i);
  EXPECT_EQ(plan.value(Affine(i) + Affine(5)).constant, 5);
  ASSERT_NE(plan.unknown(), nullptr);
  EXPECT_EQ(plan.unknown()->name, "i");
}

TEST(SlotPlan, ConditionsNarrowRanges) {
  const Var i("i");
  SlotPlan plan;
  std::vector<SlotOp> operations;
  plan.open_loop(i, 99, &operations);
  const SlotValue value = plan.value(Affine(i) + Affine(10));
  EXPECT_EQ(plan.range(value), (Interval{10, 109}));
  const Interval before = plan.narrow(value, 50);
  EXPECT_EQ(plan.range(value), (Interval{10, 49}));
  plan.narrow(value, 70);  // a wider one changes nothing
  EXPECT_EQ(plan.range(value), (Interval{10, 49}));
  plan.restore(value.slot, before);
  EXPECT_EQ(plan.range(value), (Interval{10, 109}));
}

// Values that code sets may be anything, but for what is left of a remainder.
TEST(SlotPlan, OpaqueValuesAreLocal) {
  SlotPlan plan;
  std::vector<SlotOp> local;
  int slot = -1;
  plan.on_opaque = [&](const Expr&) { return slot = plan.local_slot(); };
  plan.on_local = [&](const SlotOp& op) { local.push_back(op); };
  const Affine read = opaque(Tensor("s", {4}, DType::i64)(0));
  const SlotValue value = plan.value(modulo(read, 5) + Affine(2));
  EXPECT_EQ(plan.range(value), (Interval{2, 6}));
  ASSERT_EQ(local.size(), 1U);
  EXPECT_EQ(local[0].a, slot);
  EXPECT_EQ(local[0].factor, 5);
  EXPECT_LT(plan.range(plan.value(read)).lo, -(int64_t{1} << 60));
}

TEST(Linear, AddsLikeTermsAndDropsWhatCancels) {
  Linear sum{1, {{3, 2}}};
  sum.add({5, {{3, 1}, {4, 7}}}, 2);
  EXPECT_EQ(sum.constant, 11);
  EXPECT_EQ(sum.terms, (std::vector<std::pair<int, int64_t>>{{3, 4}, {4, 14}}));
  sum.add({0, {{3, 2}}}, -2);
  EXPECT_EQ(sum.terms, (std::vector<std::pair<int, int64_t>>{{4, 14}}));
  sum.add({9, {{8, 8}}}, 0);
  EXPECT_EQ(sum.constant, 11);
}

}  // namespace
}  // namespace lathe::interpreter
