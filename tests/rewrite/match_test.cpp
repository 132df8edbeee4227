#include "rewrite/match.h"

#include <gmock/gmock.h>

#include "expr/parse.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;

Dag dag_of(const std::string& text) {
  const Result<Dag> dag = parse_dag(text);
  EXPECT_TRUE(dag) << dag.error().to_string();
  return *dag;
}

std::vector<std::string> names(const Dag& dag) {
  std::vector<std::string> found;
  for (const Compute& compute : dag.computes) found.push_back(compute.output->name);
  return found;
}

constexpr const char* kChain = "T[i:4] = A[i] + 1.0\nU[i:4] = A[i] * 2.0\nO[i:4] = T[i] * 2.0";

TEST(Match, StagesAreFoundByName) {
  const Dag dag = dag_of(kChain);
  EXPECT_EQ(find_stage(dag, "T"), 0U);
  EXPECT_EQ(find_stage(dag, "O"), 2U);
  const auto missing = find_stage(dag, "A");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::illegal_schedule);
  EXPECT_EQ(missing.error().message, "there is no compute 'A' to rewrite");
}

TEST(Match, OneStageGivesPlaceToSeveral) {
  const Dag dag = dag_of(kChain);
  Compute first = dag.computes[1], second = dag.computes[1];
  first.output = Tensor("X", {4});
  EXPECT_THAT(names(replace_stage(dag, 1, {first, second})), ElementsAre("T", "X", "U", "O"));
  EXPECT_THAT(names(replace_stage(dag, 0, {})), ElementsAre("U", "O"));
  EXPECT_THAT(names(dag), ElementsAre("T", "U", "O"));
}

// Of what nothing reads any more, what only that read goes as well.
TEST(Match, UnusedComputesGo) {
  Dag dag = dag_of("T[i:4] = A[i] + 1.0\nU[i:4] = T[i] * 2.0\nV[i:4] = U[i] - 1.0\nO[i:4] = A[i] * 2.0");
  dag.outputs = {dag.computes[3].output};
  EXPECT_THAT(names(without_unused(dag)), ElementsAre("O"));
  dag.outputs.push_back(dag.computes[1].output);
  EXPECT_THAT(names(without_unused(dag)), ElementsAre("T", "U", "O"));
}

std::optional<WindowedProduct> matched(const std::string& text) {
  return match_windowed_product(dag_of(text).computes.back());
}

TEST(Match, AConvolutionIsAWindowedProduct) {
  const auto product = matched("O[y:8, x:9, f:4] = sum(a:3, b:2, c:5) I[y + a, x + b, c] * W[a, b, c, f]");
  ASSERT_TRUE(product);
  EXPECT_EQ(product->data.tensor->name, "I");
  EXPECT_EQ(product->weight.tensor->name, "W");
  ASSERT_EQ(product->windows.size(), 2U);
  EXPECT_EQ(product->windows[1].output_dim, 1U);
  EXPECT_EQ(product->windows[1].reduce_axis, 4U);
  EXPECT_EQ(product->windows[1].data_dim, 1U);
  EXPECT_THAT(product->channels, ElementsAre(5U));
}

TEST(Match, AFlippedWindowIsOneToo) {
  const auto product = matched("O[x:9] = sum(b:3) I[x + b] * W[2 - b]");
  ASSERT_TRUE(product);
  EXPECT_EQ(product->windows.size(), 1U);
}

TEST(Match, HalfFloatsAreSeenThroughTheirCasts) {
  EXPECT_TRUE(matched("input I[11] f16\ninput W[3] f16\nO[x:9] = sum(b:3) f32(I[x + b]) * f32(W[b])"));
}

TEST(Match, AMatrixProductHasNoWindows) {
  const auto product = matched("C[i:4, j:5] = sum(r:3) A[i, r] * B[r, j]");
  ASSERT_TRUE(product);
  EXPECT_TRUE(product->windows.empty());
  EXPECT_THAT(product->channels, ElementsAre(2U));
}

TEST(Match, OthersAreNone) {
  for (const char* text : {"O[x:9] = max(b:3) I[x + b] * W[b]", "O[x:9] = sum(b:3) I[x + b] + W[b]",
                           "O[x:9] = sum(b:3) I[x + b] * 2.0", "O[x:9] = I[x] * W[x]",
                           "O[x:9] = sum(b:3, c:2) I[x + b] * W[b, c]"})
    EXPECT_FALSE(matched(text)) << text;
}

// A stride or a dilation is no window of single steps, but may be a channel of the sum.
TEST(Match, WiderStepsAreNoWindow) {
  for (const char* text : {"O[x:9] = sum(b:3) I[2*x + b] * W[b]", "O[x:9] = sum(b:3) I[x + 2*b] * W[b]"}) {
    const auto product = matched(text);
    ASSERT_TRUE(product) << text;
    EXPECT_TRUE(product->windows.empty()) << text;
  }
}

}  // namespace
}  // namespace lathe
