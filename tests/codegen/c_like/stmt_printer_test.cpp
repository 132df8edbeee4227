#include "codegen/c_like/stmt_printer.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "codegen/c_like/dialect_case.h"
#include "codegen/lowered_builder.h"

namespace lathe::testing {
namespace {

using c_like::Code;
using c_like::Names;
using c_like::StmtPrinter;

class StmtPrinterTest : public ::testing::Test {
 protected:
  std::string printed(const Stmt& stmt) {
    Code code;
    Names names({"out"});
    StmtPrinter printer(kTestDialect, names, builder.lowered().memory, code,
                        [](const For& loop, StmtPrinter& p) {
                          p.code().line("parallel " + p.name(loop.var) + " < " + p.extent(loop) +
                                        ", inside of " + std::to_string(p.variables().size()));
                        });
    printer.print(stmt);
    EXPECT_EQ(code.depth(), 0);
    EXPECT_TRUE(printer.variables().empty());
    return code.text();
  }

  LoweredBuilder builder;
  Tensor in = builder.input("in", 64), out = builder.output("out", 64);
  Var i{"i.0"}, j{"j"};
};

TEST_F(StmtPrinterTest, LoopsAndStores) {
  EXPECT_EQ(printed(loop(i, 8, loop(j, 3, store(out, Affine(i) * 3 + j, load(in, {i}))))),
            "for (int64_t i_0 = 0; i_0 < 8; ++i_0) {\n"
            "  for (int64_t j = 0; j < 3; ++j) {\n"
            "    out_2[(3 * i_0 + j)] = in[i_0];\n"
            "  }\n"
            "}\n");
}

// An extent that is computed is computed once.
TEST_F(StmtPrinterTest, ExtentsThatVaryAreVariables) {
  const Stmt inner =
      make_stmt(For{j, {Affine(4), Affine(30) - Affine(i) * 4}, LoopKind::serial, store(in, j, Expr(1.0))});
  EXPECT_EQ(printed(loop(i, 8, inner)),
            "for (int64_t i_0 = 0; i_0 < 8; ++i_0) {\n"
            "  const int64_t j_end = lathe_min_i64(4, (-4 * i_0 + 30));\n"
            "  for (int64_t j = 0; j < j_end; ++j) {\n"
            "    in[j] = 1:f32;\n"
            "  }\n"
            "}\n");
}

TEST_F(StmtPrinterTest, VectorsAreLoopsOverTheirLanes) {
  EXPECT_EQ(printed(vector_store(in, 8, vector_load(in, 0, 4), 2, lanes_below(Affine(3), 5, 4))),
            "for (int lane = 0; lane < 4; ++lane) {\n"
            "  if (((3 + 1 * lane) < 5)) {\n"
            "    in[8 + 2 * lane] = in[0 + lane];\n"
            "  }\n"
            "}\n");
}

TEST_F(StmtPrinterTest, BranchesAndSequences) {
  const Stmt branch = make_stmt(If{{{.value = Affine(i) + j, .bound = 7}, {.value = Affine(j), .bound = 2}},
                                   make_seq({store(in, 0, Expr(1.0)), store(in, 1, Expr(2.0))})});
  EXPECT_EQ(printed(branch),
            "if ((i_0 + j) < 7 && j < 2) {\n"
            "  in[0] = 1:f32;\n"
            "  in[1] = 2:f32;\n"
            "}\n");
}

TEST_F(StmtPrinterTest, RegistersAreArraysAndArenasAreNot) {
  const Tensor tile = builder.buffer("tile", 6, Arena::registers);
  const Tensor shared = builder.buffer("shared", 6, Arena::workspace);
  const Stmt body = store(in, 0, load(tile, {5}));
  EXPECT_EQ(
      printed(builder.scoped(shared, builder.scoped(tile, make_seq({store(tile, 5, Expr(1.0)), body})))),
      "{\n"
      "  f32 tile[6] = {0};\n"
      "  tile[5] = 1:f32;\n"
      "  in[0] = tile[5];\n"
      "}\n");
}

TEST_F(StmtPrinterTest, RegistersThatNothingReadsDrawNoWarning) {
  const Tensor tile = builder.buffer("tile", 1, Arena::registers);
  EXPECT_EQ(printed(builder.scoped(tile, store(tile, 0, Expr(1.0)))),
            "{\n"
            "  f32 tile[1] = {0};\n"
            "  (void)tile;\n"
            "  tile[0] = 1:f32;\n"
            "}\n");
}

TEST_F(StmtPrinterTest, PrefetchesTakeAnAddress) {
  EXPECT_EQ(printed(make_stmt(Prefetch{in, {Affine(i) + 16}})), "FETCH(&in[(i_0 + 16)]);\n");
}

TEST_F(StmtPrinterTest, ParallelLoopsAreTheLanguages) {
  EXPECT_EQ(printed(loop(i, 8, loop(j, 5, store(out, j, Expr(1.0)), LoopKind::parallel))),
            "for (int64_t i_0 = 0; i_0 < 8; ++i_0) {\n"
            "  parallel j < 5, inside of 1\n"
            "}\n");
}

// What loops tell of their variables decides how divisions are printed.
TEST_F(StmtPrinterTest, VariablesOfLoopsAreNotNegative) {
  EXPECT_EQ(printed(loop(i, 8, store(in, floor_div(i, 2), Expr(1.0)))),
            "for (int64_t i_0 = 0; i_0 < 8; ++i_0) {\n"
            "  in[(i_0 / 2)] = 1:f32;\n"
            "}\n");
}

TEST_F(StmtPrinterTest, TheLeastOfTheBoundsIsTheRange) {
  Code code;
  Names names({});
  StmtPrinter printer(kTestDialect, names, builder.lowered().memory, code, {});
  printer.define(i, {0, 9});
  const For bounded{j, {Affine(8), Affine(30) - Affine(i) * 4}, LoopKind::serial, store(in, j, Expr(1.0))};
  EXPECT_EQ(printer.extent_range(bounded), (Interval{-6, 8}));
  EXPECT_EQ(printer.variables().size(), 1U);
}

TEST_F(StmtPrinterTest, ABlockIsOurMistake) { EXPECT_THROW(printed(make_stmt(Block{})), InternalError); }

}  // namespace
}  // namespace lathe::testing
