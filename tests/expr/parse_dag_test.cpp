// Statements: what parse_test.cpp, which is about expressions, does not look at.
#include <gtest/gtest.h>

#include "expr/parse.h"
#include "expr/print.h"

namespace lathe {
namespace {

// The Dag as it prints, or why there is none.
std::string read_dag(std::string_view text) {
  const Result<Dag> dag = parse_dag(text, "t");
  return dag ? to_string(*dag) : dag.error().to_string();
}

TEST(ParseDag, DeclaredInputsComeFirst) {
  EXPECT_EQ(read_dag("C[i:4] = A[i] * B[i]\ninput D[4]\nE[i:4] = C[i] + D[i]"),
            "input D[4]\ninput A[4]\ninput B[4]\nC[i:4] = A[i] * B[i]\nE[i:4] = C[i] + D[i]\n");
}

TEST(ParseDag, InputsMayBeLargerThanWhatIsRead) {
  EXPECT_EQ(read_dag("input A[9] f64 C[i:4] = A[i]"), "input A[9] f64\nC[i:4] = A[i]\n");
  EXPECT_EQ(read_dag("input A[9] C[i:4] = A[i] input B[2] i8 D[i:2] = B[i]"),
            "input A[9]\ninput B[2] i8\nC[i:4] = A[i]\nD[i:2] = B[i]\n");
}

// A word is a keyword only where a name follows it, and a type only where no statement begins.
TEST(ParseDag, KeywordsAreNamesToo) {
  EXPECT_EQ(read_dag("output[i:4] = input[i] + table[i]"), "output[i:4] = input[i] + table[i]\n");
  EXPECT_EQ(read_dag("sum[max:4] = sum(min:3) A[max, min]"), "sum[max:4] = sum(min:3) A[max, min]\n");
  EXPECT_EQ(read_dag("input A[4] i32[i:4] = A[i]"), "i32[i:4] = A[i]\n");
  EXPECT_EQ(read_dag("input A[4] output[i:4] = A[i]"), "output[i:4] = A[i]\n");
}

TEST(ParseDag, AReductionIsToldFromAFunction) {
  EXPECT_EQ(read_dag("C[i:4] = max(A[i], B[i])"), "C[i:4] = max(A[i], B[i])\n");
  EXPECT_EQ(read_dag("C[i:4] = max(r:3) max(A[i], B[r])"), "C[i:4] = max(r:3) max(A[i], B[r])\n");
  EXPECT_EQ(read_dag("C[i:4] = product(r:3, s:2) A[i, r] + B[s]"),
            "C[i:4] = product(r:3, s:2) A[i, r] + B[s]\n");
}

TEST(ParseDag, ReductionsOfHalfFloatsAreOfF32) {
  EXPECT_EQ(read_dag("input A[3] bf16 C[] = sum(r:3) A[r]"), "input A[3] bf16\nC[] = sum(r:3) f32(A[r])\n");
  EXPECT_EQ(read_dag("input A[3] bf16 C[i:3] = A[i]"), "input A[3] bf16\nC[i:3] = A[i]\n");
}

TEST(ParseDag, OutputsAreInTheOrderOfTheirStatements) {
  EXPECT_EQ(read_dag("A[i:2] = X[i]\nB[i:2] = A[i]\noutput B\noutput A"),
            "A[i:2] = X[i]\nB[i:2] = A[i]\noutput B\noutput A\n");
  EXPECT_EQ(read_dag("A[i:2] = X[i] output A output A"), "t: 'A' is an output twice");
  EXPECT_EQ(read_dag("A[i:2] = X[i] B[i:2] = X[i] output A"), "t: compute 'B' is neither read nor an output");
  EXPECT_EQ(read_dag("output A A[i:2] = X[i]"), "t:1:9: output 'A' is not computed above");
  EXPECT_EQ(read_dag("A[i:2] = X[i] output X"), "t:1:23: output 'X' is not computed above");
}

TEST(ParseDag, TablesHaveTheirNumbers) {
  EXPECT_EQ(read_dag("table T[2, 1] = {-1, 2.5e-1} C[i:2] = T[i, 0] * X[i]"),
            "table T[2, 1] = {-1.0, 0.25}\nC[i:2] = T[i, 0] * X[i]\n");
  EXPECT_EQ(read_dag("table T[1048577] = {1}"), "t:1:17: a table has at most 1048576 elements");
  EXPECT_EQ(read_dag("table T[1024, 1025] = {1}"), "t:1:20: a table has at most 1048576 elements");
  EXPECT_EQ(read_dag("table T[1] = {1, 2}"), "t:1:20: table 'T' needs 1 values, not 2");
  EXPECT_EQ(read_dag("table T[1] = {}"), "t:1:16: table 'T' needs 1 values, not 0");
}

TEST(ParseDag, NamesAreTakenOnce) {
  EXPECT_EQ(read_dag("input A[4] input A[4]"), "t:1:18: there are two tensors named 'A'");
  EXPECT_EQ(read_dag("table T[1] = {1} input T[4]"), "t:1:24: there are two tensors named 'T'");
  EXPECT_EQ(read_dag("C[i:4] = A[i] input A[4]"), "t:1:21: 'A' is read above: give it before it is read");
  EXPECT_EQ(read_dag("C[i:4] = A[i] table A[4] = {1, 2, 3, 4}"),
            "t:1:21: 'A' is read above: give it before it is read");
  EXPECT_EQ(read_dag("C[i:4, i:4] = 1.0"), "t: compute 'C' has two axes named 'i'");
}

TEST(ParseDag, ExtentsAreLimited) {
  EXPECT_EQ(read_dag("input A[2147483649]"), "t:1:19: an extent is 1 to 2147483648, not 2147483649");
  EXPECT_EQ(read_dag("input A[-1]"), "t:1:11: an extent is 1 to 2147483648, not -1");
  EXPECT_EQ(read_dag("C[i:4] = sum(r:0) A[r]"), "t:1:17: an extent is 1 to 2147483648, not 0");
}

// Shapes follow from all reads; of what is read nowhere or through values they do not.
TEST(ParseDag, ShapesFollowFromAllReads) {
  EXPECT_EQ(read_dag("input s[4] i32 C[i:4] = A[i] + A[s[i]]"),
            "t: the shape of 'A' does not follow from its indices: declare it as in 'input A[8, 8]'");
  const Dag dag = parse_dag("C[i:4] = A[i, 0]\nD[i:2] = A[2*i, i + 5]").value();
  EXPECT_EQ(dag.inputs[0]->shape, (std::vector<int64_t>{4, 7}));
  // A dimension that nothing reaches into has one place.
  const Dag single = parse_dag("C[i:4] = select(i < 0, A[i], 1.0)").value();
  EXPECT_EQ(single.inputs[0]->shape, std::vector<int64_t>{1});
}

TEST(ParseDag, NamesTheTextAndThePlace) {
  EXPECT_EQ(read_dag("C[i:4] = A[i]\n  D[j:4] = A[j]]"), "t:2:16: expected a name");
  EXPECT_EQ(parse_dag("C[i:4 = 1.0").error().kind, ErrorKind::parse);
  EXPECT_EQ(parse_dag("").error().where, "expression");
}

}  // namespace
}  // namespace lathe
