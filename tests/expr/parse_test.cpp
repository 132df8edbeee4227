#include "expr/parse.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "expr/print.h"
#include "expr/structural_hash.h"

namespace lathe {
namespace {

Dag parsed(std::string_view text) {
  Result<Dag> dag = parse_dag(text);
  EXPECT_TRUE(dag.has_value()) << text << "\n" << (dag ? "" : dag.error().to_string());
  return dag.value_or(Dag{});
}

std::string error_of(std::string_view text) {
  const Result<Dag> dag = parse_dag(text, "text");
  return dag ? "no error" : dag.error().to_string();
}

// Texts in printed form.
constexpr const char* kGolden[] = {
    "C[i:1000, j:1001] = sum(r:999) A[i, r] * B[r, j]\n",
    "y[i:8] = sum(r:7) A[i, r] * x[r]\n",
    R"(I.pad[n:1, y:6, x:6] = select(y - 1 >= 0 && y < 5, I[n, y - 1, x], 0.0)
O[n:1, y:4] = sum(k:3, x:6) I.pad[n, y + k, x]
)",
    R"(M[b:2] = max(j:5) S[b, j]
E[b:2, j:5] = exp(S[b, j] - M[b])
D[b:2] = sum(j:5) E[b, j]
P[b:2, j:5] = E[b, j] / D[b]
)",
    "O[f:8, x:6] = sum(c:2, k:3) I[c + 2*(f/4), 2*x + k] * W[f, c, k]\n",
    "input I[7, 4]\ninput s[4] i32\nO[h:5, c:4] = I[h + i64(s[c] / 3), c]\n",
    "input I[9, 4]\ninput s[4] i32\nO[c:4] = I[s[c] / 3, c]\n",
    "input A[9] u64\nX[i:9] = bit_xor(shift_left(A[i], u64(3)), u64(-9223372036854775807))\n",
    "X[i:9] = bit_cast(f32, bit_and(bit_cast(u32, A[i]), u32(2147483647)))\n",
    "input B[4] i32\nX[i:8] = B[-((i * i64(B[i%2]))%2) + 3]\n",
    "input B[4]\nX[i:8] = B[i64(B[i%2])%2 + 2]\n",
    "input A[8] f64\nB[i:8] = f32(A[i] * f64(2.5)) + f32(i)\n",
    "input A[8, 9]\nB[i:4] = A[i, i + 1]\n",
    "table G[2, 2] = {1.0, -0.5, inf, 0.0}\nB[i:2, j:2] = sum(k:2) G[i, k] * A[k, j]\n",
    "A[i:4] = X[i] + 1.0\nB[i:4] = A[i] * 2.0\noutput A\noutput B\n",
    "Z[i:4] = select(X[i] < 0.0 || !(i%2 == 0), -X[i], pow(abs(X[i]), 3.0))\n",
    "Z[i:4] = max(min(X[i], 6.0), -(1.0)) - (X[i] - -2.0) - 1e-05\n",
    "Z[] = sum(i:4) X[i] * X[i]\n",
    "Z[i:4] = sin(X[i]) * cos(X[i]) + copy_sign(ceil(X[i]), round(X[i]) - truncate(X[i]))\n",
    "Z[j:2] = product(i:4) X[i, j]\n",
};

TEST(Parse, PrintsGoldenTextsAgain) {
  for (const char* text : kGolden) {
    const Dag dag = parsed(text);
    const std::string printed = to_string(dag);
    EXPECT_EQ(hash_of(parsed(printed)), hash_of(dag)) << printed;
    EXPECT_EQ(to_string(parsed(printed)), printed);
  }
  EXPECT_EQ(to_string(parsed(kGolden[0])), kGolden[0]);
  for (size_t i = 3; i < std::size(kGolden); ++i) EXPECT_EQ(to_string(parsed(kGolden[i])), kGolden[i]);
}

TEST(Parse, InfersInputsInOrderOfFirstUse) {
  const Dag dag = parsed("C[i:1000, j:1001] = sum(r:999) A[i,r] * B[r,j]");
  ASSERT_EQ(dag.inputs.size(), 2u);
  EXPECT_EQ(dag.inputs[0]->name, "A");
  EXPECT_EQ(dag.inputs[0]->shape, (std::vector<int64_t>{1000, 999}));
  EXPECT_EQ(dag.inputs[1]->shape, (std::vector<int64_t>{999, 1001}));
  EXPECT_EQ(dag.outputs, std::vector<Tensor>{dag.computes[0].output});
  EXPECT_EQ(dag.computes[0].reduction, Reduction::sum);
  // The order is the text's, also where a comparison is turned round.
  EXPECT_EQ(parsed("C[i:4] = select(A[i] > B[i], 1.0, 0.0)").inputs[0]->name, "A");
  // A tensor inside an index is i32, after the tensor around it.
  const Dag shift = parsed("input I[9, 4]; O[c:4] = I[s[c] / 3, c]");
  EXPECT_EQ(shift.inputs[1]->name, "s");
  EXPECT_EQ(shift.inputs[1]->dtype, DType::i32);
}

TEST(Parse, InfersShapesUnderSelects) {
  const Dag dag =
      parsed("P[y:10, x:10] = select(y >= 1 && y < 9 && x > 0 && !(x > 8), I[y - 1, x - 1], 0.0)");
  EXPECT_EQ(dag.inputs[0]->shape, (std::vector<int64_t>{8, 8}));
  const Dag scatter = parsed("P[x:10] = select((x + 1) % 2 == 0 && x >= 3, I[(x - 3) / 2], 0.0)");
  EXPECT_EQ(scatter.inputs[0]->shape, std::vector<int64_t>{4});
}

TEST(Parse, SeparatorsAndComments) {
  const Dag a = parsed("A[i:4] = X[i] + 1 # one\n\n# two\nB[i:4] = A[i] * 2;;C[j:4] = B[j]");
  EXPECT_EQ(a.computes.size(), 3u);
  EXPECT_EQ(hash_of(a), hash_of(parsed("a[k:4]=x[k]+1.0 b[l:4]=a[l]*2.0 c[m:4]=b[m]")));
}

TEST(Parse, KeywordsAreNamesToo) {
  const Dag dag = parsed("input[sum:4] = table[sum] output[f32:4] = sum(max:4) input[max] * input[f32]");
  EXPECT_EQ(dag.inputs[0]->name, "table");
  EXPECT_EQ(dag.computes[1].reduction, Reduction::sum);
}

TEST(Parse, AnIndexThatComesToANumberIsOne) {
  EXPECT_EQ(to_string(parsed("o[i:3] = f32(i * 0) + A[i]")), to_string(parsed("o[i:3] = 0.0 + A[i]")));
}

TEST(Parse, ACastToBoolIsAComparisonWith0) {
  EXPECT_EQ(to_string(parsed("o[i:3] = bool(A[i])")), "o[i:3] = A[i] != 0.0\n");
  EXPECT_EQ(to_string(parsed("input A[3] i32\no[i:3] = bool(A[i])")), "input A[3] i32\no[i:3] = A[i] != 0\n");
  EXPECT_EQ(to_string(parsed("input A[3] bool\no[i:3] = bool(A[i])")), "input A[3] bool\no[i:3] = A[i]\n");
  EXPECT_EQ(to_string(parsed("o[i:3] = bool(i - 1)")), "o[i:3] = i - 1 != 0\n");
  EXPECT_EQ(to_string(parsed("o[i:3] = bool(2) && A[i] > 0")),
            to_string(parsed("o[i:3] = true && A[i] > 0")));
}

TEST(Parse, IntegersBesideFloats) {
  const Dag dag = parsed("B[i:4] = max(2 * A[i] / 3, 0)");
  EXPECT_EQ(to_string(dag), "B[i:4] = max(2.0 * A[i] / 3.0, 0.0)\n");
  EXPECT_EQ(to_string(parsed("B[i:4, j:4] = f32((i * 4 + j + 3) / 2)")),
            "B[i:4, j:4] = f32(2*i + (j + 1)/2 + 1)\n");
}

TEST(Parse, Errors) {
  EXPECT_EQ(error_of("C[i:4] = A[i] +"), "text:1:16: expected a value");
  EXPECT_EQ(error_of("C[i:4] = A[i] * k"), "text:1:17: 'k' is no axis of this compute");
  EXPECT_EQ(error_of("C[i:4] = mean(r:3) A[i, r]"),
            "text:1:10: there is no reduction 'mean'; there are sum, max, min, product");
  EXPECT_EQ(error_of("C[i:4] = sum(r:3) A[i, r] + sum(s:3) B[s]"),
            "text:1:33: 'sum' of an axis is a reduction, which stands once, at the beginning of a compute");
  EXPECT_EQ(
      error_of("input A[5]\n u9 C[i:5] = A[i]"),
      "text:2:2: 'u9' is not a type; there are bool, i8, i32, i64, f16, bf16, f32, f64, u8, i16, u16, u32, "
      "u64");
  EXPECT_EQ(error_of("C[i:4] = A[i % -3]"),
            "text:1:18: integers are divided by positive constants only, not by '-3'");
  EXPECT_EQ(error_of("C[i:4] = A[i / s[i]]"),
            "text:1:20: integers are divided by positive constants only, not by 's[i]'");
  EXPECT_EQ(error_of("C[i:4] = bit_or(A[i], A[i])"), "text:1:28: bit_or needs integer operands");
  EXPECT_EQ(error_of("C[i:4] = bit_cast(u64, A[i])"), "text:1:29: 'A[i]' is f32, whose bits are no u64");
  EXPECT_EQ(error_of("C[i:4]\n = foo(A[i])"), "text:2:8: there is no function 'foo'");
  EXPECT_EQ(error_of("C[i:4] = A[i] + mantissa(A[i])"),
            "text: compute 'C' uses 'mantissa(A[i])', which is for compiled programs only");
  EXPECT_EQ(error_of("C[i:4] = exp(i)"), "text:1:16: exp needs a floating-point operand, not 'i' (i64)");
  EXPECT_EQ(error_of("C[i:4] = A[i] * i"),
            "text:1:18: 'A[i]' and 'i' differ in type (f32 and i64): cast one");
  EXPECT_EQ(error_of("input B[4] C[i:4] = A[B[i] + 0.5]"),
            "text:1:33: 'B[i] + 0.5' is f32, but an index is an integer");
  EXPECT_EQ(error_of("C[i:4] = A[i] + A[i, i]"), "text:1:24: 'A' has 1 dimension, not 2");
  EXPECT_EQ(error_of("C[i:4] = A[s[i]]"),
            "text: the shape of 'A' does not follow from its indices: declare it as in 'input A[8, 8]'");
  EXPECT_EQ(error_of("C[i:4] = A[i / 0]"), "text:1:17: 'i' is divided by zero");
  EXPECT_EQ(error_of("C[i:0] = 1.0"), "text:1:6: an extent is 1 to 2147483648, not 0");
  EXPECT_EQ(error_of("C[i:4] = A[i] A[j:4] = 1.0"),
            "text:1:15: 'A' is read above: give it before it is read");
  const std::string reads_itself =
      "text:1:1: 'C' reads itself: it may read inputs and what is computed above it";
  EXPECT_EQ(error_of("C[i:3] = C[i]"), reads_itself);
  EXPECT_EQ(error_of("C[i:3] = sum(r:3) A[C[r], i]"), reads_itself);
  EXPECT_EQ(error_of("C[i:3] = A[i"), "text:1:13: expected ',' or ']'");
  EXPECT_EQ(error_of("C[i:3] = max(A[i], 1.0"), "text:1:23: expected ',' or ')'");
  EXPECT_EQ(error_of("C[i:3 = A[i]"), "text:1:7: expected ',' or ']'");
  EXPECT_EQ(error_of("C[i:3] = sum(r:3 A[i]"), "text:1:18: expected ',' or ')'");
  EXPECT_EQ(error_of("table T[2] = {1, 2; C[i:2] = T[i]"), "text:1:19: expected ',' or '}'");
  EXPECT_EQ(error_of("A[i:4] = 1.0 A[j:4] = 1.0"), "text:1:14: there are two tensors named 'A'");
  EXPECT_EQ(error_of("C[i:4] = select(A[i], 1.0, 2.0)"), "text:1:32: 'A[i]' is no condition to select by");
  EXPECT_EQ(error_of("C[i:4] = exp(A[i], A[i])"), "text:1:25: exp takes 1 operand, not 2");
  EXPECT_EQ(error_of("table T[2] = {1} C[i:2] = T[i]"), "text:1:17: table 'T' needs 2 values, not 1");
  EXPECT_EQ(error_of("C[i:4] = A[i]; output D"), "text:1:24: output 'D' is not computed above");
  EXPECT_EQ(error_of("C[i:2147483648] = A[2147483648 * 2147483648 * i]"),
            "text:1:44: an index may not grow beyond 4503599627370496");
  // An i32 beside an i64 is widened.
  EXPECT_EQ(error_of("input A[4] i64 input B[4] i32 input X[9] C[i:4] = X[A[i] * B[i]]"),
            "text:1:64: an index may not grow beyond 4503599627370496");
  EXPECT_EQ(error_of("C[i:4] = 9007199254740992"),
            "text:1:26: a whole number may not go beyond 4503599627370496");
  EXPECT_EQ(error_of("input A[3] C[i:4] = A[i]"),
            "text: compute 'C' reads outside of 'A': A[i] reaches 3 in dimension 0, which has 3 elements");
  EXPECT_EQ(
      error_of("C[i:4] = A[i - 1]"),
      "text: compute 'C' reads outside of 'A': A[i - 1] reaches -1 in dimension 0, which has 3 elements");
  EXPECT_EQ(error_of(""), "text: nothing is computed: there is no output");
}

TEST(Parse, DeepAndLongTextIsRefused) {
  const std::string deep = "C[i:4] = " + std::string(100000, '(') + "A[i]";
  EXPECT_EQ(error_of(deep), "text:1:210: an expression is nested at most 200 deep");
  std::string chain = "C[i:4] = A[i]";
  for (int i = 0; i < 100000; ++i) chain += "+A[i]";
  EXPECT_EQ(error_of(chain), "text:1:10015: an expression has at most 2000 operators");
  EXPECT_EQ(error_of("C[i:4] = " + std::string(100000, '-') + "A[i]"),
            "text:1:210: an expression is nested at most 200 deep");
}

// Damaged text gives an Error or a Dag that prints and reads again; it never crashes.
TEST(Parse, SurvivesMutatedText) {
  Rng rng(7);
  const std::string_view alphabet = "[](){}:;,=+-*/%<>!&|.# \n0123456789eijrACsxfmaxinputselect";
  int valid = 0;
  for (int round = 0; round < 100000; ++round) {
    std::string text = kGolden[rng.below(std::size(kGolden))];
    for (uint64_t edits = 1 + rng.below(4); edits-- > 0 && !text.empty();) {
      const size_t at = rng.below(text.size());
      switch (rng.below(4)) {
        case 0: text.erase(at, 1 + rng.below(4)); break;
        case 1: text.insert(at, 1, alphabet[rng.below(alphabet.size())]); break;
        case 2: text[at] = alphabet[rng.below(alphabet.size())]; break;
        default: text.insert(at, text.substr(rng.below(text.size()), rng.below(12))); break;
      }
    }
    const Result<Dag> dag = parse_dag(text);
    if (!dag) continue;
    ++valid;
    const std::string printed = to_string(*dag);
    const Result<Dag> again = parse_dag(printed);
    ASSERT_TRUE(again.has_value()) << text << "\nprinted\n" << printed << again.error().to_string();
    ASSERT_EQ(hash_of(*again), hash_of(*dag)) << text << "\nprinted\n" << printed;
  }
  EXPECT_GT(valid, 2000);
}

}  // namespace
}  // namespace lathe
