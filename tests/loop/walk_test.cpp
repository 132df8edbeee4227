// Visiting, rebuilding and finding statements.
#include "loop/walk.h"

#include <gtest/gtest.h>

#include "loop/samples.h"

namespace lathe {
namespace {

using loop_testing::kTiledMatmul;
using loop_testing::parsed;

// for i { block B; for j { if { store C } } }
Program walked_program() {
  return parsed(R"(input A: f32[4] [0]
output C: f32[4] [0]
output D: f32[8] [0]
main {
  for i in 4 {
    block B {
      a: 4 = i
      C[a] = A[a]
    }
    for j in min(2, i + 1) {
      if i + j < 5 {
        store D[i + j] = A[i]
      }
    }
  }
}
)");
}

std::string kind_of(const StmtNode& node) {
  struct Visitor {
    std::string operator()(const For& s) const { return "for " + s.var.name(); }
    std::string operator()(const Block& s) const { return "block " + s.name; }
    std::string operator()(const Seq&) const { return "seq"; }
    std::string operator()(const Alloc& s) const { return "alloc " + s.tensor->name; }
    std::string operator()(const If&) const { return "if"; }
    std::string operator()(const Store& s) const { return "store " + s.tensor->name; }
    std::string operator()(const Prefetch&) const { return "prefetch"; }
    std::string operator()(const Barrier&) const { return "barrier"; }
  };
  return std::visit(Visitor{}, node.node);
}

std::string kinds_of(const Path& path) {
  std::string kinds;
  for (const Stmt& stmt : path) kinds += (kinds.empty() ? "" : ", ") + kind_of(*stmt);
  return kinds;
}

const StmtNode* node_named(const Stmt& root, const std::string& kind) {
  const StmtNode* found = nullptr;
  for_each(root, [&](const StmtNode& node) {
    if (kind_of(node) == kind) found = &node;
  });
  return found;
}

TEST(LoopWalk, VisitsOutsideIn) {
  std::vector<std::string> kinds;
  for_each(walked_program().main, [&](const StmtNode& node) { kinds.push_back(kind_of(node)); });
  EXPECT_EQ(kinds, (std::vector<std::string>{"for i", "seq", "block B", "for j", "if", "store D"}));
}

TEST(LoopWalk, RebuildingNothingSharesAll) {
  const Stmt main = walked_program().main;
  EXPECT_EQ(rebuild(main, [](const Stmt&) { return std::optional<Stmt>(); }), main);
}

TEST(LoopWalk, RebuildsFromTheInside) {
  std::vector<std::string> order;
  const Stmt main = walked_program().main;
  rebuild(main, [&](const Stmt& stmt) {
    order.push_back(kind_of(*stmt));
    return std::optional<Stmt>();
  });
  EXPECT_EQ(order, (std::vector<std::string>{"block B", "store D", "if", "for j", "seq", "for i"}));
}

TEST(LoopWalk, WhatLosesItsChildrenGoes) {
  const auto without = [](const std::string& kind) {
    const Stmt rest = rebuild(walked_program().main, [&](const Stmt& stmt) {
      return kind_of(*stmt) == kind ? std::optional<Stmt>(nullptr) : std::nullopt;
    });
    std::string kinds;
    if (rest) for_each(rest, [&](const StmtNode& node) { kinds += kind_of(node) + ", "; });
    return kinds;
  };
  EXPECT_EQ(without("store D"), "for i, block B, ");
  EXPECT_EQ(without("block B"), "for i, for j, if, store D, ");
  EXPECT_EQ(without("seq"), "");
}

// Only the way to what changes is copied.
TEST(LoopWalk, RebuildingSharesWhatDoesNotChange) {
  const Stmt main = walked_program().main;
  const Stmt changed = rebuild(main, [](const Stmt& stmt) -> std::optional<Stmt> {
    const Store* store = as<Store>(stmt);
    if (store == nullptr) return std::nullopt;
    return make_stmt(Store{store->tensor, store->index, Expr(1.0), 0, {}});
  });
  EXPECT_NE(changed, main);
  EXPECT_EQ(node_named(changed, "block B"), node_named(main, "block B"));
  EXPECT_NE(node_named(changed, "if"), node_named(main, "if"));
  EXPECT_NE(to_string(changed).find("store D[i + j] = 1.0"), std::string::npos);
}

TEST(LoopWalk, ReplacesOneNodeByIdentity) {
  const Stmt main = walked_program().main;
  const Stmt barrier = make_stmt(Barrier{});
  EXPECT_EQ(kinds_of(path_to(replace(main, node_named(main, "if"), barrier), barrier.get())),
            "for i, seq, for j, barrier");
  const Stmt rest = replace(main, node_named(main, "store D"), nullptr);
  EXPECT_EQ(node_named(rest, "for j"), nullptr);
  EXPECT_NE(node_named(rest, "block B"), nullptr);
  EXPECT_EQ(replace(main, main.get(), barrier), barrier);
  EXPECT_EQ(replace(main, barrier.get(), nullptr), main);
}

TEST(LoopWalk, SubstitutesEverywhereButInBodies) {
  const Stmt main = walked_program().main;
  const Var i = as<For>(main)->var;
  const Stmt changed = substitute(as<For>(main)->body, {{i, Affine(i) * 2 + Affine(1)}});
  EXPECT_EQ(to_string(changed),
            "block B {\n"
            "  a: 4 = 2*i + 1\n"
            "  C[a] = A[a]\n"
            "}\n"
            "for j in min(2, 2*i + 2) {\n"
            "  if 2*i + j + 1 < 5 {\n"
            "    store D[2*i + j + 1] = A[2*i + 1]\n"
            "  }\n"
            "}\n");
}

TEST(LoopWalk, SubstitutesNoAxes) {
  const Path path = path_to_block(walked_program().main, "B");
  const Var& axis = as<Block>(path.back())->axes[0].axis.var;
  EXPECT_EQ(to_string(substitute(path.back(), {{axis, Affine(axis) + Affine(1)}})), to_string(path.back()));
}

TEST(LoopWalk, RewritesExpressionsOfBodiesToo) {
  const Stmt changed = rewrite_expressions(
      walked_program().main,
      {[](const Expr& e) { return e.as<Load>() != nullptr ? e + 1.0 : Expr(); }, nullptr});
  const std::string text = to_string(changed);
  EXPECT_NE(text.find("C[a] = A[a] + 1.0"), std::string::npos) << text;
  EXPECT_NE(text.find("store D[i + j] = A[i] + 1.0"), std::string::npos) << text;
}

TEST(LoopWalk, FindsTheWayToABlock) {
  const Program program = parsed(kTiledMatmul);
  EXPECT_EQ(kinds_of(path_to_block(program.main, "C")),
            "for i.0, for j.0, for r.0, alloc C.reg, seq, for r.1, for i.1, for j.1, block C");
  EXPECT_TRUE(path_to_block(program.main, "B.pack").empty());
  EXPECT_TRUE(path_to_block(nullptr, "C").empty());
  EXPECT_TRUE(path_to(program.main, program.prepare.get()).empty());
}

TEST(LoopWalk, BlocksAreInTheOrderOfTheProgram) {
  const Program program = parsed(kTiledMatmul);
  std::string names;
  for (const Block* block : blocks_of(program.main)) names += block->name + " ";
  EXPECT_EQ(names, "C.in C C.out ");
  EXPECT_TRUE(blocks_of(nullptr).empty());
}

TEST(LoopWalk, RangesAreThoseOfTheLoopsAround) {
  const Program program = parsed(kTiledMatmul);
  const Path path = path_to_block(program.main, "C");
  const Block& block = *as<Block>(path.back());
  EXPECT_EQ(bounds(block.axes[0].binding, ranges_of(path)), (Interval{0, 11}));
  EXPECT_EQ(bounds(block.axes[2].binding, ranges_of(path)), (Interval{0, 11}));
}

TEST(LoopWalk, TheLargestExtentIsTheLeastOfTheLargest) {
  const Var n("n"), unknown("u");
  Ranges outer;
  outer.set_extent(n, 5);
  const auto extent = [&](std::vector<Affine> extents) {
    return largest_extent({Var("i"), std::move(extents), LoopKind::serial, nullptr}, outer);
  };
  EXPECT_EQ(extent({Affine(7)}), 7);
  EXPECT_EQ(extent({Affine(n) + Affine(1)}), 5);
  EXPECT_EQ(extent({Affine(3), Affine(n) * 2}), 3);
  EXPECT_EQ(extent({Affine(9), Affine(n) * 2}), 8);
  EXPECT_EQ(extent({Affine(9), Affine(unknown)}), 9);
  EXPECT_EQ(extent({Affine(unknown)}), -1);
  EXPECT_EQ(extent({Affine(n) * -1}), 0);
  EXPECT_EQ(extent({Affine(-3)}), 0);
}

}  // namespace
}  // namespace lathe
