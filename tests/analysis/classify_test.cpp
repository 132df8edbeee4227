// What each compute of a Dag is to a schedule, by small formulas.
#include "analysis/classify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr/parse.h"
#include "expr/print.h"
#include "target/all.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;

Task task_of(const std::string& text, const std::vector<std::string>& constants = {}) {
  const Result<Dag> dag = parse_dag(text);
  EXPECT_TRUE(dag) << dag.error().to_string();
  return make_task("t", *dag, generic_target("x86-avx2"), constants).value();
}

// "O:product C:pointwise", and "->" where an epilogue takes a stage's results.
std::string roles(const std::string& text, const std::vector<std::string>& constants = {},
                  const std::set<std::string>& stored = {}) {
  const Task task = task_of(text, constants);
  const Classified classified = classify(task, task.dag, stored);
  const char* names[] = {"inlined", "prepared", "pointwise", "reduction", "transform", "product"};
  std::string result;
  for (const Stage& stage : classified.stages) {
    result += (result.empty() ? "" : " ") + task.dag.computes[stage.compute].output->name + ":";
    result += names[static_cast<size_t>(stage.role)];
    if (stage.epilogue) result += "->" + task.dag.computes[*stage.epilogue].output->name;
  }
  return result;
}

// A sum over products whose operands serve several results; without reuse it is a reduction.
TEST(Classify, ProductsAndReductions) {
  EXPECT_EQ(roles("C[i:8, j:8] = sum(r:8) A[i, r] * B[r, j]"), "C:product");
  EXPECT_EQ(roles("C[i:8] = sum(r:8) A[i, r] * B[i, r]"), "C:reduction");
  EXPECT_EQ(roles("C[i:8] = sum(r:8) A[i, r]"), "C:reduction");
  EXPECT_EQ(roles("C[i:8, j:8] = max(r:8) A[i, r] * B[r, j]"), "C:reduction");
  EXPECT_EQ(roles("C[i:8, j:8] = sum(r:8) A[i, r] + B[r, j]"), "C:reduction");
  // A matrix that is read once is what takes the time, unless it can be packed beforehand.
  EXPECT_EQ(roles("C[i:8] = sum(r:8) A[i, r] * x[r]"), "C:reduction");
  EXPECT_EQ(roles("C[i:8] = sum(r:8) A[i, r] * x[r]", {"A"}), "C:product");
  // Conditions before what is added change nothing.
  EXPECT_EQ(roles("C[i:8, j:8] = sum(r:8) select(r < i, A[i, r] * B[r, j], 0.0)"), "C:product");
}

// A short sum with a table's rows along one axis; weights that all results share make none.
TEST(Classify, Transforms) {
  const std::string table = "table G[2, 3] = {1.0, 0.0, 1.0, 0.0, 1.0, 1.0}\n";
  EXPECT_EQ(roles(table + "T[i:8, e:2] = sum(k:3) G[e, k] * A[i, k]"), "T:transform");
  EXPECT_EQ(roles("table g[3] = {1.0, 2.0, 1.0}\nT[i:8] = sum(k:3) g[k] * A[i + k]"), "T:reduction");
  EXPECT_EQ(roles("table H[2, 12] = {1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, "
                  "1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0}\n"
                  "T[i:8, e:2] = sum(k:12) H[e, k] * A[i, k]"),
            "T:reduction");
}

// Of constants alone: computed once, also of each other, but no output.
TEST(Classify, Prepared) {
  EXPECT_EQ(roles("S[i:8] = W[i] * 2.0\nT[i:8] = exp(S[i])\nO[i:8] = T[i] * A[i]", {"W"}),
            "S:prepared->T T:prepared->O O:pointwise");
  EXPECT_EQ(roles("O[i:8] = W[i] * 2.0", {"W"}), "O:pointwise");
  EXPECT_EQ(roles("T[i:8] = 2.0\nO[i:8] = T[i] * A[i]"), "T:inlined->O O:pointwise");
}

// Views go anywhere, arithmetic into the only element-wise consumer; what is to be stored stays.
TEST(Classify, Inlined) {
  const std::string view = "T[i:8, j:4] = A[j, i]\nC[i:8, k:8] = sum(j:4) T[i, j] * B[j, k]";
  EXPECT_EQ(roles(view), "T:inlined C:product");
  EXPECT_EQ(roles(view, {}, {"T"}), "T:pointwise C:product");
  EXPECT_EQ(roles("T[i:8, j:4] = exp(A[j, i])\nC[i:8, k:8] = sum(j:4) T[i, j] * B[j, k]"),
            "T:pointwise C:product");
  EXPECT_EQ(roles("T[i:8] = exp(A[i])\nO[i:8] = T[i] + 1.0"), "T:inlined->O O:pointwise");
  EXPECT_EQ(roles("T[i:8] = exp(A[i])\nO[i:8] = T[i] + 1.0\nP[i:8] = T[i] + 2.0"),
            "T:pointwise O:pointwise P:pointwise");
  // What is read at places that only the data tells.
  EXPECT_EQ(roles("T[i:8] = exp(A[i])\nO[i:8] = T[P[i]] + 1.0"), "T:pointwise O:pointwise");
}

// The only consumer takes results point by point where its place follows from theirs.
TEST(Classify, Epilogues) {
  const std::string product = "C[i:8, j:8] = sum(r:8) A[i, r] * B[r, j]\n";
  EXPECT_EQ(roles(product + "O[i:8, j:8] = max(C[i, j] + b[j], 0.0)"), "C:product->O O:pointwise");
  EXPECT_EQ(roles(product + "O[j:8, i:8] = C[i, j]"), "C:product->O O:pointwise");
  EXPECT_EQ(roles(product + "O[i:8, j:4] = C[i, 2*j]"), "C:product O:pointwise");
  EXPECT_EQ(roles(product + "O[i:8, j:8] = C[i, j] + C[j, i]"), "C:product O:pointwise");
  EXPECT_EQ(roles(product + "O[i:8, j:9] = select(j < 8, C[i, j], 0.0)"), "C:product O:pointwise");
  EXPECT_EQ(roles(product + "O[i:8] = C[i, 3]"), "C:product O:pointwise");
  EXPECT_EQ(roles(product + "O[i:8, j:8] = C[i, j] + 1.0\noutput C\noutput O"), "C:product O:pointwise");
  // Another operand that comes later is not there yet.
  EXPECT_EQ(roles(product + "D[i:8] = sum(r:8) A[i, r]\nO[i:8, j:8] = C[i, j] + D[i]"),
            "C:product D:reduction O:pointwise");
  // What spreads a reduction's results has vectors of its own.
  EXPECT_EQ(roles("M[i:8] = max(r:8) A[i, r]\nO[i:8] = M[i] * 2.0"), "M:reduction->O O:pointwise");
  EXPECT_EQ(roles("M[i:8] = max(r:8) A[i, r]\nO[i:8, j:8] = A[i, j] - M[i]"), "M:reduction O:pointwise");
}

// Which dimension an axis moves in: alone, by steps of one, or as the lowest digit.
TEST(Classify, Operands) {
  const Task task = task_of("C[i:4, j:6] = sum(r:5) A[i + r, 6*i + j] * W[r, j, j / 2]", {"W"});
  const std::vector<Operand> operands = operands_of(task, task.dag.computes[0]);
  ASSERT_EQ(operands.size(), 2u);
  EXPECT_FALSE(operands[0].is_constant);
  EXPECT_THAT(operands[0].uses, ElementsAre(true, true, true));
  EXPECT_THAT(operands[0].dim_of_axis, ElementsAre(-1, -1, -1));
  EXPECT_THAT(operands[0].step_dim, ElementsAre(-1, 1, 0));
  EXPECT_THAT(operands[0].digit_dim, ElementsAre(-1, 1, -1));
  EXPECT_TRUE(operands[1].is_constant);
  EXPECT_THAT(operands[1].uses, ElementsAre(false, true, true));
  EXPECT_THAT(operands[1].dim_of_axis, ElementsAre(-1, -1, 0));
  EXPECT_THAT(operands[1].digit_dim, ElementsAre(-1, -1, 0));
}

// Axes of one place are not there; tables are no operands.
TEST(Classify, OperandsOfSinglePlaces) {
  const Task task = task_of("table G[3] = {1.0, 2.0, 3.0}\nO[n:1, i:3] = A[n + i, n] * G[i]");
  const std::vector<Operand> operands = operands_of(task, task.dag.computes[0]);
  ASSERT_EQ(operands.size(), 1u);
  EXPECT_THAT(operands[0].uses, ElementsAre(false, true));
  EXPECT_THAT(operands[0].dim_of_axis, ElementsAre(-1, 0));
}

TEST(Classify, TheFirstThatIsInlined) {
  const auto first = [](const std::string& text, const std::set<std::string>& stored = {}) {
    const Task task = task_of(text);
    return first_inlined(task, task.dag, stored);
  };
  const std::string views =
      "C[i:8, j:8] = sum(r:8) A[i, r] * B[r, j]\nV[j:8, i:8] = C[i, j]\nO[i:8] = sum(r:8) V[r, i]";
  EXPECT_EQ(first(views), 1U);
  EXPECT_EQ(first(views, {"V"}), std::nullopt);
  EXPECT_EQ(first("O[i:8] = A[i] + 1.0"), std::nullopt);
}

// A body in its consumers, at their indices.
TEST(Classify, InlineCompute) {
  const Dag dag = parse_dag("T[i:4, j:2] = A[i] + B[j]\nO[i:2, j:4] = T[j, i] * T[3 - j, 0]").value();
  const Dag inlined = inline_compute(dag, 0);
  ASSERT_EQ(inlined.computes.size(), 1u);
  EXPECT_EQ(to_string(inlined.computes[0].body), "(A[j] + B[i]) * (A[-j + 3] + B[0])");
}

}  // namespace
}  // namespace lathe
