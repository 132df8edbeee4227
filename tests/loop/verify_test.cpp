#include "loop/verify.h"

#include <algorithm>

#include "loop/samples.h"
#include "loop/walk.h"

namespace lathe {
namespace {

using namespace loop_testing;  // NOLINT

std::string verdict(const Program& program) {
  const Status status = verify(program);
  return status ? "fine" : status.error().to_string();
}
std::string verdict(const std::string& text) { return verdict(parsed(text)); }

const char* const kHead =
    "input A: f32[12] [0]\nconstant K: f32[12] [0]\noutput C: f32[12] [0]\nprepared P: f32[12] [0]\n"
    "table G: f32[1] = {1.0}\n";

// The body of main under the common declarations.
std::string body(const std::string& text) { return verdict(kHead + ("main {" + text + "}")); }
// Twelve points, written by one block.
std::string point(const std::string& loops, const std::string& binding) {
  std::string text = loops + "block B { i: 12 = " + binding + " C[i] = A[i] }";
  text.append(static_cast<size_t>(std::ranges::count(loops, '{')), '}');
  return body(text);
}

TEST(Verify, WhichPointsAreComputedIsKnownBeforehand) {
  const std::string head = "input A: f32[12] [0]\ninput N: i32[1] [0]\noutput C: f32[12] [0]\n";
  EXPECT_EQ(verdict(head + "main { for a in N[0] { block B { i: 12 = a C[i] = A[i] } } }"),
            "loop a: its extent i64(N[0]) depends on the values of a tensor");
  EXPECT_EQ(verdict(head + "main { for a in 12 { block B { i: 12 = (a + N[0])%12 C[i] = A[i] } } }"),
            "block B: a binding (a + i64(N[0]))%12 depends on the values of a tensor");
}

TEST(Verify, AcceptsWhatIsRight) {
  EXPECT_EQ(verdict(parsed(kTiledMatmul)), "fine");
  EXPECT_EQ(verdict(parsed(kLowered)), "fine");
  const Task task = task_of(
      "input I[3, 6, 6]\ninput W[4, 3, 3, 3]\n"
      "P[c:3, y:8, x:8] = select(y >= 1 && y < 7 && x >= 1 && x < 7, I[c, y - 1, x - 1], 0.0)\n"
      "T[o:4, y:6, x:6] = sum(c:3, a:3, b:3) P[c, y + a, x + b] * W[o, c, a, b]\n");
  EXPECT_EQ(verdict(naive_program(task)), "fine");
}

TEST(Verify, Tensors) {
  EXPECT_EQ(body("store A[0] = 0.0"), "store to A: the argument A is read-only");
  EXPECT_EQ(body("store K[0] = 0.0"), "store to K: the argument K is read-only");
  EXPECT_EQ(body("store P[0] = 0.0"), "store to P: main writes the prepared buffer P");
  EXPECT_EQ(body("store G[0] = 0.0"), "store to G: the table G is written");
  EXPECT_EQ(verdict(kHead + std::string("prepare { store P[0] = A[0] } main { }")),
            "store to P: A is read in prepare, which sees constants only");
  Program program = parsed(kHead + std::string("main { store C[0] = A[0] }"));
  program.arguments.erase(program.arguments.begin());
  EXPECT_EQ(verdict(program),
            "store to C: A is read, but it is no argument, no prepared buffer and no alloc of it is around");
  program = parsed(kHead + std::string("main { alloc T: f32[4] thread [0] { store T[0] = 0.0 } }"));
  const Alloc alloc = *as<Alloc>(program.main);
  program.main = make_stmt(Alloc{alloc.tensor, alloc.scope, alloc.layout, program.main});
  EXPECT_EQ(verdict(program), "T: it is allocated within its own lifetime");
  program.main = make_stmt(Alloc{alloc.tensor, alloc.scope, Layout::row_major(2), alloc.body});
  EXPECT_EQ(verdict(program), "T: layout [0][1]: there is no dimension 1, the tensor has 1");
  program.arguments.push_back(program.arguments[0]);
  EXPECT_EQ(verdict(program), "A: it is declared twice");
}

TEST(Verify, Names) {
  EXPECT_EQ(body("block B { C[0] = 1.0 } block B { C[1] = 1.0 }"),
            "block B: there are two blocks of that name");
  const Var other("k");
  const Tensor out("C", {4});
  Program program;
  program.arguments.push_back({out, false, true, false, Layout::row_major(1)});
  const auto with = [&](const Stmt& stmt) {
    program.main = stmt;
    return verdict(program);
  };
  const Axis axis = spatial("i", 4);
  const auto block = [&](const Affine& binding, const Affine& condition, const Affine& index,
                         const Expr& value) {
    return make_stmt(
        Block{"B", {{axis, binding}}, {{condition, 9}}, out, {index}, Reduction::none, false, value});
  };
  const Affine i(axis.var);
  EXPECT_EQ(with(block(other, 0, i, 1.0)), "block B: a binding uses k, which is not around it");
  EXPECT_EQ(with(block(0, other, i, 1.0)), "block B: its predicate uses k, which is not around it");
  EXPECT_EQ(with(block(0, 0, other, 1.0)), "block B: its output index uses k, which is not around it");
  EXPECT_EQ(with(block(0, 0, i, cast({DType::f32, 1}, Expr(other)))),
            "block B: its value uses k, which is not around it");
  EXPECT_EQ(with(make_stmt(Store{out, {other}, Expr(1.0), 0, {}})),
            "store to C: an index uses k, which is not around it");
  EXPECT_EQ(with(make_stmt(If{{{other, 3}}, make_stmt(Store{out, {Affine(0)}, Expr(1.0), 0, {}})})),
            "if: a condition uses k, which is not around it");
  const Var j("j");
  const Stmt inner = make_stmt(For{j, {Affine(4)}, LoopKind::serial, nullptr});
  EXPECT_EQ(with(make_stmt(For{j, {Affine(4)}, LoopKind::serial, inner})), "loop j: it is inside of itself");
  EXPECT_EQ(with(make_stmt(For{j, {Affine(other)}, LoopKind::serial, nullptr})),
            "loop j: its extent uses k, which is not around it");
}

TEST(Verify, Loops) {
  EXPECT_EQ(body("parallel i in 2 { for j in 2 { parallel k in 2 { store C[0] = 1.0 } } }"),
            "loop k: it is parallel inside of the parallel loop i");
  EXPECT_EQ(body("for i in 2 { unroll j in min(4, 7 - 4*i) { store C[0] = 1.0 } }"),
            "loop j: an unrolled loop needs a constant extent, not 4 and -4*i + 7");
  EXPECT_EQ(body("for i in 2 { vector j in i + 1 { store C[0] = 1.0 } }"),
            "loop j: a vector loop needs a constant extent, not i + 1");
  const std::string reduction = " block B { i: 12 = i reduce r: 12 = r C[i] init sum= A[r] }";
  EXPECT_EQ(body("parallel i in 12 { vector r in 12 {" + reduction + "} }"),
            "block B: the vector loop r drives its reduce axis r");
  EXPECT_EQ(body("for i in 12 { parallel r in 12 {" + reduction + "} }"),
            "block B: the parallel loop r drives its reduce axis r");
  EXPECT_EQ(body("vector i in 12 { for r in 12 {" + reduction + "} }"), "fine");
  EXPECT_EQ(body("for i in 12 { tensor r in 12 by dot2_bf16 {" + reduction + "} }"),
            "loop r: 'dot2_bf16' takes 2 elements together");
  EXPECT_EQ(body("for i in 12 { tensor r in 12 by dot3 {" + reduction + "} }"),
            "loop r: there is no intrinsic 'dot3'");
}

// Blocks outermost, and barriers where all threads come by.
TEST(Verify, BlocksAndThreads) {
  EXPECT_EQ(
      body("blocks i in 2 { blocks j in 2 { threads k in 2 { threads l in 2 { store C[0] = 1.0 } } } }"),
      "fine");
  EXPECT_EQ(body("for i in 2 { blocks j in 2 { store C[0] = 1.0 } }"),
            "loop j: a loop of blocks is inside of i");
  EXPECT_EQ(body("threads i in 2 { blocks j in 2 { store C[0] = 1.0 } }"),
            "loop j: a loop of blocks is inside of i");
  EXPECT_EQ(body("parallel i in 2 { threads j in 2 { store C[0] = 1.0 } }"),
            "loop j: threads of processors and of blocks are mixed with i");
  EXPECT_EQ(body("blocks i in 2 { parallel j in 2 { store C[0] = 1.0 } }"),
            "loop j: threads of processors and of blocks are mixed with i");
  EXPECT_EQ(body("for i in 2 { barrier shared threads j in 2 { store C[j] = 1.0 } barrier global }"), "fine");
  EXPECT_EQ(body("threads j in 2 { store C[j] = 1.0 barrier shared }"),
            "barrier: some threads might not come to it inside of j");
  const std::string reduction = " block B { i: 12 = i reduce r: 12 = r C[i] init sum= A[r] }";
  EXPECT_EQ(body("for i in 12 { threads r in 12 {" + reduction + "} }"),
            "block B: the threads loop r drives its reduce axis r");
}

TEST(Verify, Domain) {
  EXPECT_EQ(point("for i in 13 {", "i"), "block B: axis i of extent 12 is bound to i, which reaches 12");
  EXPECT_EQ(point("for i in 12 {", "i - 1"),
            "block B: axis i of extent 12 is bound to i - 1, which reaches -1");
  EXPECT_EQ(
      body("for i in 3 { for j in 5 { block B where 5*i + j < 12 axis 0 { i: 12 = 5*i + j C[i] = 1.0 } } }"),
      "fine");
  EXPECT_EQ(body("for i in 3 { for j in min(5, 12 - 5*i) { block B { i: 12 = 5*i + j C[i] = 1.0 } } }"),
            "fine");
  EXPECT_EQ(
      body("for f in 15 { block B where f < 12 axis 0 { i: 4 = f / 3 j: 3 = f % 3 C[3*i + j] = 1.0 } }"),
      "fine");
  EXPECT_EQ(body("for f in 15 { block B { i: 4 = f / 3 j: 3 = f % 3 C[3*i + j] = 1.0 } }"),
            "block B: axis i of extent 4 is bound to f/3, which reaches 4");
}

TEST(Verify, Coverage) {
  EXPECT_EQ(point("for i in 3 { for j in 4 {", "4*i + j"), "fine");
  EXPECT_EQ(point("for i in 3 { for j in 4 {", "i + 3*j"), "fine");
  EXPECT_EQ(point("for i in 5 { for j in 4 {", "2*i + j"), "fine");  // a spatial point may be computed twice
  EXPECT_EQ(point("for i in 11 {", "i"), "block B: never reaches i = 11");
  EXPECT_EQ(point("for i in 2 { for j in 4 {", "8*i + j"), "block B: never reaches i = 4");
  EXPECT_EQ(body("for f in 11 { block B { i: 4 = f / 3 j: 3 = f % 3 C[3*i + j] = 1.0 } }"),
            "block B: never reaches i = 3, j = 2");
  EXPECT_EQ(
      body("for i in 3 { for j in 5 { block B where 5*i + j < 11 axis 0 { i: 12 = 5*i + j C[i] = 1.0 } } }"),
      "block B: never reaches i = 11");
  const auto reduced = [](const std::string& loops, const std::string& binding) {
    return body("for i in 12 {" + loops + "block B { i: 12 = i reduce r: 12 = " + binding +
                " C[i] init sum= A[r] } } } }");
  };
  EXPECT_EQ(reduced("for a in 3 { for b in 4 {", "4*a + b"), "fine");
  EXPECT_EQ(reduced("for a in 3 { for b in 6 {", "3*a + b"), "block B: reaches r = 3 2 times");
  EXPECT_EQ(reduced("for a in 2 { for b in 12 {", "b"), "block B: reaches its only point 2 times");
}

// Within an accumulator's lifetime a part of the reduction is all there is.
TEST(Verify, CoverageIsWithinTheLifetime) {
  EXPECT_EQ(body("for i in 12 { for a in 3 { alloc T: f32[12] registers [0] { for b in 4 { block B {\n"
                 "i: 12 = i reduce r: 12 = 4*a + b T[i] init sum= A[r] } } } } }"),
            "fine");
  EXPECT_EQ(body("for i in 12 { alloc T: f32[12] registers [0] { for a in 3 { for b in 6 { block B {\n"
                 "i: 12 = i reduce r: 12 = 3*a + b T[i] init sum= A[r] } } } } }"),
            "block B: reaches r = 3 2 times");
}

TEST(Verify, LoweredAccesses) {
  const auto flat = [](const std::string& text) { return verdict(kHead + ("flat main {" + text + "}")); };
  EXPECT_EQ(flat("for i in 3 { store C[4*i; 4 by 1] = A[4*i; 4 by 1] }"), "fine");
  EXPECT_EQ(flat("for i in 3 { store C[4*i; 8 by 1] = A[0; 8 by 1] }"),
            "store to C: writes outside of C: offset 15, its storage has room for 0 .. 11");
  EXPECT_EQ(flat("for i in 3 { store C[i] = A[5*i - 1] }"),
            "store to C: reads outside of A: offset -1, its storage has room for 0 .. 11");
  EXPECT_EQ(flat("for i in 30 { if i < 12 { store C[i] = A[i] } }"), "fine");
  EXPECT_EQ(flat("for i in 12 { store C[i] = select(i < 6, A[2*i], 0.0) }"), "fine");
  EXPECT_EQ(flat("for i in 9 { store C[2*i; 4 by 1 if ramp(2*i, 1, 4) < broadcast(12, 4)] = f32x4(0.0) }"),
            "fine");
  EXPECT_EQ(flat("store C[0; 4 by 1] = call(dot2_bf16, C[0; 4 by 1], A[0; 2 by 1], A[0; 8 by 1])"),
            "store to C: 'dot2_bf16' takes an accumulator of f32 and groups of 2 bf16 and bf16");
  EXPECT_EQ(flat("store C[0; 4 by 1] = call(dot3, C[0; 4 by 1])"),
            "store to C: there is no intrinsic 'dot3'");
  EXPECT_EQ(body("for i in 14 { store C[i] = 0.0 }"),
            "store to C: writes outside of C: index 0 is 13, its storage has room for 0 .. 11");
  Program program = parsed(kHead + std::string("main { store C[0] = 0.0 }"));
  const Tensor c = program.arguments[2].tensor;
  program.main = make_stmt(Store{c, {Affine(0)}, broadcast(Expr(1.0), 4), 1, {}});
  EXPECT_EQ(verdict(program), "store to C: vectors and masks come after the layouts are flattened");
  program.main = make_stmt(Store{c, {Affine(0)}, literal({DType::i32, 1}, 1), 0, {}});
  EXPECT_EQ(verdict(program), "store to C: the value is i32, C holds f32");
  program.main = make_stmt(Store{c, {Affine(0), Affine(0)}, Expr(1.0), 0, {}});
  EXPECT_EQ(verdict(program), "store to C: C has 2 indices instead of 1");
  program = parsed(kTiledMatmul);
  program.flat = true;
  EXPECT_EQ(verdict(program), "block B.pack: a flat program has no blocks");
}

}  // namespace
}  // namespace lathe
