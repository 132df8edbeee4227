// Programs as the interpreter's code: what is checked where, and what is refused before anything runs.
#include "loop/interpreter/compile.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "loop/samples.h"

namespace lathe::interpreter {
namespace {

const char* const kDeclared =
    "input A: f32[8] [0]\ninput At: i32[8] [0]\nconstant K: f32[8] [0]\noutput C: f32[8] [0]\n";

Program under_declarations(const std::string& main) {
  return loop_testing::parsed(kDeclared + ("main {" + main + "}"));
}

ProgramCode code_of(const Program& program) {
  const Result<ProgramCode> code = compile(program, true);
  EXPECT_TRUE(code) << code.error().to_string();
  return code ? *code : ProgramCode();
}

// The instructions of a statement and all below it.
size_t count_of(const StatementCode& code, Op op) {
  auto count = static_cast<size_t>(std::ranges::count(code.instructions, op, &Instruction::op));
  for (const StatementCode& child : code.children) count += count_of(child, op);
  return count;
}

size_t checks_in(const std::string& main) {
  return count_of(code_of(under_declarations(main)).root, Op::check);
}

std::string compile_refusal(const Program& program) {
  const Result<ProgramCode> code = compile(program, false);
  return code ? "compiled" : code.error().to_string();
}

// A program of one statement that reads and writes C [8].
std::string refusal_of_statement(const std::function<Stmt(const Tensor&)>& make, bool flat = false) {
  Program program;
  const Tensor c("C", {8});
  program.arguments.push_back({c, false, true, false, Layout::row_major(1)});
  program.main = make(c);
  program.flat = flat;
  return compile_refusal(program);
}

TEST(CompileProgram, ChecksOnlyWhatItCannotBound) {
  EXPECT_EQ(checks_in("for i in 8 { store C[i] = A[i] }"), 0U);
  EXPECT_EQ(checks_in("for i in 9 { store C[i%8] = A[i] }"), 1U);
  EXPECT_EQ(checks_in("for i in 9 { store C[i] = A[i - 1] }"), 2U);
  EXPECT_EQ(checks_in("for i in 8 { store C[i] = A[At[i]] }"), 1U);
  EXPECT_EQ(checks_in("for i in 8 { store C[i] = A[(i + At[i])%8] }"), 0U);
}

TEST(CompileProgram, ConditionsBoundWhatIsInside) {
  EXPECT_EQ(checks_in("for i in 20 { if i < 8 { store C[i] = A[i] } }"), 0U);
  EXPECT_EQ(checks_in("for i in 20 { if i < 9 { store C[i] = A[i] } }"), 2U);
  EXPECT_EQ(checks_in("for i in 20 { if i < 8 { store C[i] = 0.0 } store C[i] = 1.0 }"), 1U);
  EXPECT_EQ(checks_in("for i in 20 { block B where i < 8 { a: 8 = i C[a] = A[a] } }"), 0U);
}

// What does not vary with the innermost loop is computed outside of it.
TEST(CompileProgram, LoopsCarryTheOperationsOfTheirVariables) {
  const ProgramCode code = code_of(under_declarations(
      "for i in 2 { for j in 2 { for k in 2 { store C[4*i + 2*j + k] = A[4*i + 2*j + k] } } }"));
  const StatementCode* loop = &code.root.children.at(0);
  std::vector<size_t> operations;
  for (int depth = 0; depth < 3; ++depth, loop = &loop->children.at(0)) {
    EXPECT_EQ(loop->kind, StatementKind::loop);
    operations.push_back(loop->operations.size());
  }
  EXPECT_EQ(operations, (std::vector<size_t>{1, 1, 1}));
  EXPECT_EQ(loop->kind, StatementKind::compute);
  EXPECT_EQ(count_of(*loop, Op::slot_operation), 0U);
}

TEST(CompileProgram, BuffersAreArgumentsThenPreparedThenWhatIsMet) {
  const Program program = loop_testing::parsed(
      kDeclared +
      std::string("prepared P: f32[8] [0]\ntable G: f32[2] = {1.0, 2.0}\n"
                  "main { alloc T: f32[3] thread [0] { store T[0] = G[1] store C[0] = T[0] + P[0] } }"));
  const ProgramCode code = code_of(program);
  std::string names;
  for (const BufferCode& buffer : code.buffers)
    names += buffer.tensor->name + (buffer.is_allocated ? "* " : " ") + std::to_string(buffer.elements) + " ";
  EXPECT_EQ(names, "A 8 At 8 K 8 C 8 P 8 T* 3 G 2 ");
}

// A table that is met inside of an Alloc outlives it, the buffer does not.
TEST(CompileProgram, BuffersEndWithTheirAllocs) {
  const Tensor t("T", {2}), table = Tensor::literal("G", {2}, {1, 2});
  const auto after = [&](const Tensor& c, const Expr& read) {
    const Stmt inside = make_stmt(Store{t, {Affine(0)}, table(1), 0, {}});
    return make_seq({make_stmt(Alloc{t, Scope::thread, Layout::row_major(1), inside}),
                     make_stmt(Store{c, {Affine(0)}, read, 0, {}})});
  };
  EXPECT_EQ(refusal_of_statement([&](const Tensor& c) { return after(c, table(0)); }), "compiled");
  EXPECT_EQ(refusal_of_statement([&](const Tensor& c) { return after(c, t(0)); }),
            "store to C: T is no argument, prepared buffer or table, and no alloc is around its access");
}

TEST(CompileProgram, CountsTheBlocksOfEachProgram) {
  const ProgramCode code = code_of(under_declarations(
      "alloc T: f32[8] thread [0] { for i in 8 { block B { a: 8 = i reduce r: 1 = 0 T[a] init sum= A[r] } } "
      "for i in 8 { block D { a: 8 = i C[a] = T[a] } } }"));
  ASSERT_EQ(code.coverage.size(), 2U);
  EXPECT_EQ(code.coverage[0].block, "B");
  EXPECT_TRUE(code.coverage[0].reduces);
  EXPECT_FALSE(code.coverage[0].writes_output);
  EXPECT_EQ(code.coverage[0].extents, (std::vector<int64_t>{8, 1}));
  EXPECT_FALSE(code.coverage[1].reduces);
  EXPECT_TRUE(code.coverage[1].writes_output);
  EXPECT_TRUE(compile(under_declarations("for i in 8 { block B { a: 8 = i C[a] = A[a] } }"), false)
                  ->coverage.empty());
}

TEST(CompileProgram, NamesAccessesThatItCannotRun) {
  EXPECT_EQ(refusal_of_statement([](const Tensor& c) {
              return make_stmt(Store{c, {Affine(0), Affine(0)}, Expr(1.0), 0, {}});
            }),
            "store to C: C has 2 indices instead of 1");
  EXPECT_EQ(refusal_of_statement([](const Tensor& c) {
              return make_stmt(Store{c, {Affine(0)}, broadcast(Expr(1.0), 4), 1, {}});
            }),
            "store to C: the vector access of C comes before its layout is flattened");
  EXPECT_EQ(refusal_of_statement(
                [](const Tensor& c) { return make_stmt(Store{c, {Affine(Var("n"))}, Expr(1.0), 0, {}}); }),
            "store to C: n is no loop or axis around it");
  EXPECT_EQ(refusal_of_statement(
                [](const Tensor& c) { return make_stmt(Store{c, {Affine(0)}, Tensor("X", {1})(0), 0, {}}); }),
            "store to C: X is no argument, prepared buffer or table, and no alloc is around its access");
}

TEST(CompileProgram, NamesStatementsThatMeanNothing) {
  EXPECT_EQ(refusal_of_statement(
                [](const Tensor&) { return make_stmt(For{Var("i"), {}, LoopKind::serial, nullptr}); }),
            "loop i: the loop has no extent");
  EXPECT_EQ(refusal_of_statement([](const Tensor& c) {
              return make_stmt(Block{"B", {}, {}, c, {Affine(0)}, Reduction::none, false, {}});
            }),
            "block B: the block has no value");
  EXPECT_EQ(refusal_of_statement([](const Tensor& c) {
              return make_stmt(
                  Block{"B", {}, {}, c, {Affine(0)}, Reduction::none, false, literal({DType::f64}, 1)});
            }),
            "block B: the value is f64, C holds f32");
  EXPECT_EQ(refusal_of_statement([](const Tensor& c) {
              return make_stmt(Store{c, {Affine(0)}, literal({DType::i32}, 1), 0, {}});
            }),
            "store to C: the value is i32, C holds f32");
  EXPECT_EQ(
      refusal_of_statement([](const Tensor& c) {
        return make_stmt(If{{{Affine(Var("n")), 3}}, make_stmt(Store{c, {Affine(0)}, Expr(1.0), 0, {}})});
      }),
      "if: n is no loop around it");
}

TEST(CompileProgram, NamesMasksOfOtherLanes) {
  const Expr mask = broadcast(Expr(1) < Expr(2), 2);
  EXPECT_EQ(
      refusal_of_statement(
          [&](const Tensor& c) { return make_stmt(Store{c, {Affine(0)}, broadcast(Expr(1.0), 4), 1, mask}); },
          true),
      "store to C: the mask has other lanes than the value");
}

TEST(CompileProgram, NamesBuffersThatAreTooLargeOrHaveNoLayout) {
  Program program;
  program.arguments.push_back(
      {Tensor("X", {1 << 14, (1 << 14) + 1}), false, false, false, Layout::row_major(2)});
  EXPECT_EQ(compile_refusal(program), "X is too large to be interpreted");
  program.arguments[0] = {Tensor("X", {4}), false, false, false, Layout::row_major(2)};
  EXPECT_EQ(compile_refusal(program), "X: layout [0][1]: there is no dimension 1, the tensor has 1");
}

TEST(CompileProgram, ExtentsDependOnNoValues) {
  Program program = under_declarations("for i in 8 { store C[i] = A[i] }");
  For loop = *as<For>(program.main);
  loop.extents = {opaque(cast({DType::i64}, program.arguments[1].tensor(0)))};
  program.main = make_stmt(loop);
  EXPECT_EQ(compile_refusal(program), "loop i: a binding, condition or extent depends on a value");
}

}  // namespace
}  // namespace lathe::interpreter
