#include "expr/walk.h"

#include <gmock/gmock.h>

#include "expr/print.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;

class Walk : public ::testing::Test {
 protected:
  std::vector<std::string> loaded(const Expr& e) const {
    std::vector<std::string> names;
    for (const Load* load : loads_of(e)) names.push_back(load->tensor->name);
    return names;
  }
  Tensor a{"A", {8}}, b{"B", {8}}, t{"T", {8}, DType::i32};
  Var i{"i"}, j{"j"}, k{"k"};
  Affine chosen = opaque(cast({DType::i64, 1}, load(t, {Affine(k)})));
};

TEST_F(Walk, LoadsComeFromLeftToRight) {
  EXPECT_THAT(loaded(a(i) * b(j) + a(j)), ElementsAre("A", "B", "A"));
  EXPECT_THAT(loaded(select(a(i) < b(i), b(j), Expr(0.0))), ElementsAre("A", "B", "B"));
  EXPECT_THAT(loaded(Expr(1.0)), ElementsAre());
}

TEST_F(Walk, LoadsInIndicesAreFound) {
  EXPECT_THAT(loaded(load(a, {chosen + 1})), ElementsAre("A", "T"));
  EXPECT_THAT(loaded(load(a, {floor_div(chosen + i, 2)})), ElementsAre("A", "T"));
}

TEST_F(Walk, OutsideIn) {
  std::vector<std::string> seen;
  for_each(a(i) + b(j), [&](const Expr& e) { seen.push_back(to_string(e)); });
  EXPECT_THAT(seen, ElementsAre("A[i] + B[j]", "A[i]", "B[j]"));
}

TEST_F(Walk, VariablesAreReplacedEverywhere) {
  const Substitution twice = {{i, Affine(j) * 2}};
  EXPECT_EQ(to_string(substitute(a(i) + b(Affine(i) + 1), twice)), "A[2*j] + B[2*j + 1]");
  EXPECT_EQ(to_string(substitute(select(Expr(i) < Expr(3), a(i), Expr(0.0)), twice)),
            to_string(select(Expr(Affine(j) * 2) < Expr(3), a(Affine(j) * 2), Expr(0.0))));
  EXPECT_EQ(to_string(substitute(load(a, {chosen}), {{k, Affine(5)}})),
            to_string(load(a, {opaque(cast({DType::i64, 1}, load(t, {Affine(5)})))})));
}

TEST_F(Walk, WhatDoesNotChangeIsShared) {
  const Expr left = a(i), right = b(j);
  const Expr sum = left + right;
  EXPECT_EQ(substitute(sum, {{k, Affine(1)}}).get(), sum.get());
  const Expr changed = substitute(sum, {{j, Affine(1)}});
  EXPECT_EQ(changed.as<Binary>()->a.get(), left.get());
}

// Children first: the sum is rebuilt of the loads' replacements.
TEST_F(Walk, RebuildingGoesInsideOut) {
  std::vector<std::string> seen;
  ExprRewriter rewriter;
  rewriter.rewrite = [&](const Expr& e) {
    seen.push_back(to_string(e));
    return e.as<Load>() != nullptr ? Expr(2.0) : Expr();
  };
  EXPECT_EQ(to_string(rebuild(a(i) + b(j), rewriter)), "2.0 + 2.0");
  EXPECT_THAT(seen, ElementsAre("A[i]", "B[j]", "2.0 + 2.0"));
}

TEST_F(Walk, IndicesAreRewrittenToo) {
  ExprRewriter rewriter;
  rewriter.rewrite = [](const Expr&) { return Expr(); };
  rewriter.rewrite_affine = [](const Affine& index) { return index + 1; };
  EXPECT_EQ(to_string(rebuild(a(i), rewriter)), "A[i + 1]");
}

TEST_F(Walk, VariablesThatOccur) {
  EXPECT_TRUE(uses(a(i) + b(j), j));
  EXPECT_FALSE(uses(a(i) + b(j), k));
  EXPECT_TRUE(uses(load(a, {chosen}), k)) << "inside of an index";
  std::vector<Var> vars;
  collect_vars(a(j) + b(i) + a(j), vars);
  ASSERT_EQ(vars.size(), 2U);
  EXPECT_TRUE(vars[0] == j && vars[1] == i) << "each once, in order";
}

TEST_F(Walk, IndicesAreSimplifiedByRanges) {
  Ranges ranges;
  ranges.set_extent(i, 4);
  EXPECT_EQ(to_string(simplify_indices(a(floor_div(i, 4)) + b(modulo(i, 4)), ranges)), "A[0] + B[i]");
}

TEST_F(Walk, OpaqueValuesAreMapped) {
  const Affine mapped = map_opaque(chosen * 2 + i, [&](const Expr&) { return Expr(Affine(j) + 3); });
  EXPECT_EQ(to_string(mapped), to_string(Affine(i) + Affine(j) * 2 + 6));
}

}  // namespace
}  // namespace lathe
