#include "loop/interpret.h"

#include "loop/samples.h"
#include "loop/walk.h"

namespace lathe {
namespace {

using namespace loop_testing;  // NOLINT

double rounded(double x) { return static_cast<double>(static_cast<float>(x)); }

// A x B summed in the order of r, rounded as single precision is.
std::vector<double> matmul(const HostTensor& a, const HostTensor& b) {
  const int64_t m = a.shape[0];
  const int64_t k = a.shape[1];
  const int64_t n = b.shape[1];
  std::vector<double> c(static_cast<size_t>(m * n), 0.0);
  for (int64_t i = 0; i < m * n; ++i) {
    for (int64_t r = 0; r < k; ++r) {
      const double product =
          a.values[static_cast<size_t>(i / n * k + r)] * b.values[static_cast<size_t>(r * n + i % n)];
      c[static_cast<size_t>(i)] = rounded(c[static_cast<size_t>(i)] + rounded(product));
    }
  }
  return c;
}

std::vector<double> run(const Program& program, const std::vector<HostTensor>& inputs) {
  const Result<Interpretation> result = interpret(program, inputs);
  EXPECT_TRUE(result.has_value()) << result.error().to_string();
  return result ? result->outputs.at(0).values : std::vector<double>();
}

std::string failure_of(const std::string& text) {
  const Program program = parsed(text);
  const Result<Interpretation> result = interpret(program, random_inputs(program), {.step_limit = 10000});
  return result ? "none" : result.error().to_string();
}

std::vector<double> outputs_of(const std::string& text, const std::vector<HostTensor>& inputs = {}) {
  return run(parsed(text), inputs);
}

TEST(Interpret, NaiveMatmulIsExact) {
  const Program program =
      naive_program(task_of("input A[10, 9]\ninput B[9, 11]\nC[i:10, j:11] = sum(r:9) A[i, r] * B[r, j]"));
  const std::vector<HostTensor> inputs = random_inputs(program);
  const Result<Interpretation> result = interpret(program, inputs);
  ASSERT_TRUE(result.has_value()) << result.error().to_string();
  EXPECT_EQ(result->outputs[0].values, matmul(inputs[0], inputs[1]));
  EXPECT_EQ(result->instances, 10 * 11 * 9);
}

TEST(Interpret, AConditionOnAValueIsRefused) {
  Program program = naive_program(task_of("input X[8]\ninput s[4] i32\nY[i:4] = X[2*i64(s[i]) + i]"));
  program.main = rebuild(program.main, [](const Stmt& stmt) -> std::optional<Stmt> {
    const Block* block = as<Block>(stmt);
    if (block == nullptr) return std::nullopt;
    Block guarded = *block;
    guarded.predicate.push_back({block->value.as<Load>()->index[0], 8, -1, Tail::guard});
    return make_stmt(std::move(guarded));
  });
  const Result<Interpretation> result = interpret(program, random_inputs(program));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "a binding, condition or extent depends on a value");
}

// The order of a point's sum is the same, hence so is every bit; tails, packing and K blocking included.
TEST(Interpret, TiledMatmulIsTheSame) {
  const Program program = parsed(kTiledMatmul);
  const std::vector<HostTensor> inputs = random_inputs(program);
  const std::vector<double> expected = matmul(inputs[0], inputs[1]);
  EXPECT_EQ(run(program, inputs), expected);
  Rng rng(5);
  const Result<Interpretation> shuffled = interpret(program, inputs, {.shuffle = &rng});
  ASSERT_TRUE(shuffled.has_value());
  EXPECT_EQ(shuffled->outputs[0].values, expected);
}

TEST(Interpret, LoweredVectorsMasksAndIndirectLoads) {
  const Program program = parsed(kLowered);
  std::vector<HostTensor> inputs = random_inputs(program);
  const std::vector<double> x = inputs[0].values;
  const std::vector<double> out = run(program, inputs);
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(out[i], rounded(2 * x[i] + (i < 5 ? 0.5 : -1.0))) << i;
}

TEST(Interpret, ParallelOrderIsShuffled) {
  const Program program = parsed(
      "output C: i32[2] [0]\n"
      "main { store C[0] = 0 parallel i in 100 { store C[1] = i32(i) store C[0] = C[0] + 1 } }");
  Rng rng(1);
  const Result<Interpretation> shuffled = interpret(program, {}, {.shuffle = &rng});
  ASSERT_TRUE(shuffled.has_value()) << shuffled.error().to_string();
  EXPECT_EQ(shuffled->outputs[0].values[0], 100);
  EXPECT_NE(shuffled->outputs[0].values[1], 99);
  EXPECT_EQ(run(program, {}), (std::vector<double>{100, 99}));
}

TEST(Interpret, FreshMemoryIsNan) {
  // Written in the first iteration only: the second one's buffer is another.
  const std::vector<double> out = outputs_of(
      "output C: f32[3] [0]\n"
      "main { for i in 2 { alloc T: f32[2] thread [0] { if i < 1 { store T[1] = 5.0 } store C[i] = T[1] } } "
      "}");
  EXPECT_EQ(out[0], 5.0);
  EXPECT_TRUE(std::isnan(out[1]));
  EXPECT_TRUE(std::isnan(out[2]));
}

TEST(Interpret, LayoutsAndTheirPadding) {
  const std::string text =
      "input A: f32[5, 3] [1/2][0/4][0%4+1][1%2]\noutput C: f32[3, 5] [1][0]\n"
      "main { for i in 3 { for j in 5 { store C[i, j] = A[j, i] } } }";
  const Program program = parsed(text);
  const std::vector<HostTensor> inputs = random_inputs(program);
  const std::vector<double> out = run(program, inputs);
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 5; ++j) EXPECT_EQ(out[i * 5 + j], inputs[0].values[j * 3 + i]);
  }
  // Within the padding of a block nothing is wrong but the value; beyond it there is no storage.
  EXPECT_EQ(failure_of("input A: f32[5] [0/4][0%4]\noutput C: f32[1] [0]\nmain { store C[0] = A[7] }"),
            "none");
  EXPECT_EQ(failure_of("input A: f32[5] [0/4][0%4]\noutput C: f32[1] [0]\nmain { store C[0] = A[8] }"),
            "store to C: reads outside of A: index 0 is 8, its storage has room for 0 .. 7");
}

TEST(Interpret, ArithmeticOfTypes) {
  const std::vector<double> out = outputs_of(
      "output C: i32[8] [0]\n"
      "main { for i in 1 {\n"
      "store C[0] = i32(2147483647) + i32(i + 1)\n"
      "store C[1] = i32(i - 7) / 2\n"
      "store C[2] = i32(i - 7) % 4\n"
      "store C[3] = i32(2.9) + i32(-2.9)\n"
      "store C[4] = i32(f32(f16(2049.0)))\n"
      "store C[5] = i32(f32(bf16(257.0)))\n"
      "store C[6] = i32(i8(i + 200))\n"
      "store C[7] = i32(i / 3 + (i - 1) / 3 + (i - 1) % 3)\n"
      "} }");
  EXPECT_EQ(out, (std::vector<double>{-2147483648.0, -4, 1, 0, 2048, 256, -56, 1}));
}

// One group in all lanes, or one for each; integers wrap around.
TEST(Interpret, IntrinsicsAddUpGroups) {
  const std::string head = "input A: u8[8] [0]\ninput B: i8[8] [0]\noutput C: i32[2] [0]\nflat\n";
  const std::vector<HostTensor> inputs = {{DType::u8, {8}, {1, 2, 3, 4, 255, 255, 255, 255}},
                                          {DType::i8, {8}, {1, 1, 1, 1, -128, -128, -128, -128}}};
  const auto sums = [&](const std::string& accumulator, const std::string& factor) {
    return outputs_of(head + "main { store C[0; 2 by 1] = call(dot4_u8_i8, " + accumulator + ", " + factor +
                          ", B[0; 8 by 1]) }",
                      inputs);
  };
  EXPECT_EQ(sums("i32x2(5)", "A[0; 8 by 1]"), (std::vector<double>{15, 5 - 4 * 255 * 128}));
  EXPECT_EQ(sums("i32x2(5)", "A[0; 4 by 1]"), (std::vector<double>{15, 5 - 10 * 128}));
  EXPECT_EQ(sums("i32x2(-2147483648)", "A[0; 8 by 1]")[1], 2147483648.0 - 4 * 255 * 128);
}

TEST(Interpret, SelectRunsOneSide) {
  const std::vector<double> out = outputs_of(
      "input A: f32[3] [0]\noutput C: f32[5] [0]\n"
      "main { for i in 5 { store C[i] = select(i >= 1 && i < 4, A[i - 1], 0.0) } }",
      {{DType::f32, {3}, {1, 2, 3}}});
  EXPECT_EQ(out, (std::vector<double>{0, 1, 2, 3, 0}));
}

TEST(Interpret, AccessesOutsideAreErrors) {
  const std::string head = "input A: f32[4] [0]\ninput At: i32[4] [0]\noutput C: f32[4, 4] [0][1]\n";
  EXPECT_EQ(failure_of(head + "main { for i in 5 { block B { a: 4 = i C[a, 0] = A[a] } } }"),
            "block B: writes outside of C: index 0 is 4, its storage has room for 0 .. 3");
  EXPECT_EQ(failure_of(head + "main { for i in 4 { block B { a: 4 = i C[0, a] = A[2*a] } } }"),
            "block B: reads outside of A: index 0 is 4, its storage has room for 0 .. 3");
  EXPECT_EQ(failure_of(head + "main { for i in 4 { store C[0, i] = A[At[i] - 9] } }").substr(0, 44),
            "store to C: reads outside of A: index 0 is -");
  EXPECT_EQ(failure_of(head + "flat main { for i in 4 { store C[4*i; 8 by 1] = broadcast(A[i], 8) } }"),
            "store to C: writes outside of C: offset 16, its storage has room for 0 .. 15");
  EXPECT_EQ(failure_of(head + "flat main { store C[16] = 0.0 }"),
            "store to C: writes outside of C: offset 16, its storage has room for 0 .. 15");
}

TEST(Interpret, RolesAreKept) {
  const std::string head =
      "input A: f32[4] [0]\nconstant K: f32[4] [0]\noutput C: f32[4] [0]\nprepared P: f32[4] [0]\n"
      "table G: f32[1] = {1.0}\n";
  EXPECT_EQ(failure_of(head + "main { store A[0] = 0.0 }"),
            "store to A: A is written here: an input is read-only");
  EXPECT_EQ(failure_of(head + "main { store K[0] = 0.0 }"),
            "store to K: K is written here: a constant is read-only");
  EXPECT_EQ(failure_of(head + "main { store P[0] = 0.0 }"),
            "store to P: P is written here: main does not write prepared buffers");
  EXPECT_EQ(failure_of(head + "main { store G[0] = 0.0 }"),
            "store to G: G is written here: a table is read-only");
  EXPECT_EQ(failure_of(head + "prepare { store P[0] = A[0] } main { }"),
            "store to P: A is read here: prepare reads constants only");
  EXPECT_EQ(failure_of(head + "prepare { store C[0] = K[0] } main { }"),
            "store to C: C is written here: prepare does not see the outputs");
}

TEST(Interpret, OtherErrors) {
  EXPECT_EQ(failure_of("output C: f32[4] [0]\nmain { for i in 100000000 { store C[0] = 1.0 } }"),
            "the program runs for more steps than allowed");
  EXPECT_EQ(failure_of("output C: f32[1000000000] [0]\nmain { store C[0] = 0.0 }"),
            "C is too large to be interpreted");
  Program program = parsed("input A: f32[4] [0]\nmain { }");
  EXPECT_EQ(interpret(program, {}).error().message, "there is no input for A");
  EXPECT_EQ(interpret(program, std::vector<HostTensor>{{DType::i32, {4}, {0, 0, 0, 0}}}).error().message,
            "A takes f32 [4], the input is i32 [4]");
  const HostTensor fits{DType::f32, {4}, {0, 0, 0, 0}};
  EXPECT_EQ(interpret(program, std::vector<HostTensor>{fits, fits}).error().message,
            "there are 2 inputs for 1 arguments");
  program.main = make_stmt(Store{Tensor("T", {4}), {Affine(0)}, Expr(0.0), 0, {}});
  EXPECT_EQ(interpret(program, std::vector<HostTensor>{fits}).error().to_string(),
            "store to T: T is no argument, prepared buffer or table, and no alloc is around its access");
}

TEST(Interpret, CountsCoverage) {
  const Program program = parsed(kTiledMatmul);
  const Result<Interpretation> result = interpret(program, random_inputs(program), {.counts_coverage = true});
  ASSERT_TRUE(result.has_value()) << result.error().to_string();
  ASSERT_EQ(result->coverage.size(), 4);
  const BlockCoverage& update = result->coverage[2];
  EXPECT_EQ(update.block, "C");
  EXPECT_TRUE(update.reduces);
  EXPECT_FALSE(update.writes_argument);
  EXPECT_EQ(update.points, 10 * 11 * 9);
  EXPECT_EQ(update.visited, 10 * 11 * 9);
  EXPECT_EQ(update.most, 1);
  const BlockCoverage& out = result->coverage[3];
  EXPECT_EQ(out.block, "C.out");
  EXPECT_EQ(out.visited, 10 * 11);
  EXPECT_EQ(out.most, 3);
  EXPECT_FALSE(out.same_value);  // partial sums
}

BlockCoverage coverage_of(const std::string& text) {
  const Program program = parsed(text);
  const Result<Interpretation> result = interpret(program, random_inputs(program), {.counts_coverage = true});
  EXPECT_TRUE(result.has_value()) << result.error().to_string();
  return result ? result->coverage.front() : BlockCoverage();
}

TEST(Interpret, CoverageTellsWhatABlockMissesOrRepeats) {
  const std::string head = "input A: f32[4] [0]\noutput C: f32[4] [0]\n";
  const BlockCoverage again =
      coverage_of(head + "main { for i in 4 { for j in 2 { block B { a: 4 = i C[a] = A[a] } } } }");
  EXPECT_EQ(again.visited, again.points);
  EXPECT_EQ(again.most, 2);
  EXPECT_TRUE(again.same_value);
  const BlockCoverage missing =
      coverage_of(head + "main { for i in 3 { block B { a: 4 = i C[a] = A[a] } } }");
  EXPECT_EQ(missing.points, 4);
  EXPECT_EQ(missing.visited, 3);
  const BlockCoverage summed = coverage_of(head +
                                           "main { for i in 4 { for j in 2 { for k in 2 { block B {\n"
                                           "a: 4 = i reduce r: 4 = 2*j C[a] init sum= A[r] } } } } }");
  EXPECT_TRUE(summed.reduces);
  EXPECT_EQ(summed.most, 2);
  EXPECT_EQ(summed.visited, 4 * 2);
}

}  // namespace
}  // namespace lathe
