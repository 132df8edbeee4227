// Nodes from mapped children: what changes is rebuilt, what does not is shared.
#include "lower/map.h"

#include "expr/print.h"
#include "lower/golden.h"

namespace lathe::testing {
namespace {

const Var& var() {
  static const Var i("i");
  return i;
}
Expr at(const char* tensor, const Affine& index) { return load(Tensor(tensor, {8}, DType::f32), {index}); }

// Every kind of expression with its children and indices mapped.
TEST(MapChildren, EachNode) {
  const Affine i(var());
  const auto child = [](const Expr& e) { return e.type().dtype == DType::f32 ? at("B", 0) : e; };
  const auto affine = [](const Affine& a) { return a + 1; };
  const auto mapped = [&](const Expr& e) { return to_string(map_children(e, child, affine)); };
  EXPECT_EQ(mapped(Expr(0.5)), "0.5");
  EXPECT_EQ(mapped(Expr(i)), "i + 1");
  EXPECT_EQ(mapped(at("A", i)), "A[i + 1]");
  EXPECT_EQ(mapped(at("A", i) * at("A", 2)), "B[0] * B[0]");
  EXPECT_EQ(mapped(exp(at("A", i))), "exp(B[0])");
  EXPECT_EQ(mapped(cast({DType::f64, 1}, at("A", i))), "f64(B[0])");
  EXPECT_EQ(mapped(broadcast(at("A", i), 4)), "broadcast(B[0], 4)");
  EXPECT_EQ(mapped(select(Expr(i) < Expr(3), at("A", i), Expr(1.0))), "select(i < 3, B[0], B[0])");
  EXPECT_EQ(mapped(Expr(ExprNode{{DType::i64, 4}, Ramp{i, 2}})), "ramp(i + 1, 2, 4)");
}

// A node whose children stay is the node itself; with KeepIndices nobody asks for its indices.
TEST(MapChildren, WhatStaysIsShared) {
  const Expr e = select(Expr(var()) < Expr(3), at("A", var()), exp(at("A", 2)) * 2.0);
  const auto same = [](const Expr& child) { return child; };
  EXPECT_EQ(map_children(e, same, [](const Affine& a) { return a; }).get(), e.get());
  EXPECT_EQ(map_children(e, same, KeepIndices{}).get(), e.get());
  const Expr access = at("A", var());
  EXPECT_EQ(map_children(access, same, KeepIndices{}).get(), access.get());
  EXPECT_NE(map_children(access, same, [](const Affine& a) { return a * 2; }).get(), access.get());
}

constexpr const char* kNest = R"(
output C: f32[4] [0]
main {
  alloc T: f32[4] thread [0] {
    for i in 4 {
      if i < 3 {
        store T[i] = 1.0
      }
      store C[i] = 2.0
    }
  }
}
)";

// Maps bottom-up what `change` has something for; null takes a statement away.
Stmt mapped(const Stmt& stmt, const std::function<std::optional<Stmt>(const Stmt&)>& change) {
  const std::optional<Stmt> other = change(stmt);
  return other ? *other : map_statements(stmt, [&](const Stmt& child) { return mapped(child, change); });
}

// A statement that goes takes along what is empty without it.
TEST(MapStatements, NullRemoves) {
  const Program program = parsed(kNest);
  const auto without = [&](const char* tensor) {
    return mapped(program.main, [&](const Stmt& stmt) -> std::optional<Stmt> {
      const Store* store = as<Store>(stmt);
      return store != nullptr && store->tensor->name == tensor ? std::optional<Stmt>(nullptr) : std::nullopt;
    });
  };
  EXPECT_EQ("\n" + to_string(without("T")), R"(
alloc T: f32[4] thread [0] {
  for i in 4 {
    store C[i] = 2.0
  }
}
)");
  const Stmt neither = mapped(program.main, [](const Stmt& stmt) -> std::optional<Stmt> {
    return as<Store>(stmt) != nullptr ? std::optional<Stmt>(nullptr) : std::nullopt;
  });
  EXPECT_EQ(neither, nullptr);
}

TEST(MapStatements, WhatStaysIsShared) {
  const Program program = parsed(kNest);
  EXPECT_EQ(mapped(program.main, [](const Stmt&) { return std::nullopt; }), program.main);
}

// Both trees of a program; a failure of either is the whole's.
TEST(MapTrees, PrepareAndMain) {
  Program program = parsed(kNest);
  int trees = 0;
  const auto count = [&](const Stmt& stmt) {
    ++trees;
    return stmt;
  };
  map_trees(program, count);
  EXPECT_EQ(trees, 1);
  program.prepare = program.main;
  map_trees(program, count);
  EXPECT_EQ(trees, 3);
  const Result<Program> failed = try_map_trees(
      program, [](const Stmt&) -> Result<Stmt> { return fail(ErrorKind::unsupported, "not this one"); });
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().message, "not this one");
  const Result<Program> kept = try_map_trees(program, [](const Stmt& stmt) -> Result<Stmt> { return stmt; });
  EXPECT_EQ(kept->main, program.main);
}

}  // namespace
}  // namespace lathe::testing
