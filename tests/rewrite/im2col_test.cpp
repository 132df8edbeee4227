// A windowed product as a matrix product gives the same result, whatever the window looks like.
#include "rewrite/im2col.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "expr/print.h"
#include "rewrite/same_result.h"
#include "space/all.h"

namespace lathe::testing {
namespace {

Task expression(const std::string& text) {
  return task_of_workload(R"({"name":"e", "op":"expression", "constants":["W"], "text":")" + text + "\"}");
}

constexpr const char* kConvolution =
    "O[n:2, f:16, y:4, x:3] = sum(c:3, p:3, q:3) X[n, c, 2*y + p, 2*x + q] * W[f, c, p, q]; "
    "R[n:2, f:16, y:4, x:3] = max(O[n, f, y, x] + B[f], 0.0)";

Trace as_matrix() { return {RewriteStep{"im2col", "O", {}}}; }

TEST(Im2col, GivesTheSameResult) {
  const std::vector<std::string> texts = {
      // Strided and dilated windows, batches, a flipped window.
      "O[n:2, f:4, y:5, x:3] = sum(c:3, p:3, q:2) X[n, c, 2*y + p, x + 3*q] * W[f, c, p, q]",
      "O[n:2, y:5, f:4] = sum(c:3, p:3) W[p, c, f] * X[n, y - p + 2, c]",
      // Groups as an axis of their own, a sum of the filters' alone, windows on both sides.
      "O[g:2, f:3, y:4] = sum(c:2, p:2) X[g, c, y + p] * W[g, f, c, p]",
      "O[f:3, y:4] = sum(c:2, p:2, k:3) X[c, y + p] * W[f, c, p, k]",
      "O[i:5, j:4] = sum(k:3) X[i + k] * W[j + k]",
      // Axes of one place, an axis that neither operand has.
      "O[n:1, f:4, y:1, x:6] = sum(c:1, p:1, q:3) X[n, c, y + p, x + q] * W[f, c, p, q]",
      "O[r:2, f:4, x:6] = sum(q:3) X[x + q] * W[f, q]",
      "O[f:4, y:4, x:5, z:3] = sum(c:2, p:2, q:2, r:2) X[c, y + p, x + q, z + r] * W[f, c, p, q, r]",
      // One tensor as both factors, a window at places that are read, padding in the product itself.
      "O[i:5, j:4] = sum(k:3) W[i + k] * W[2*j + k]",
      "input X[9] input P[5] i32 O[f:4, x:5] = sum(q:3) X[P[x] + q] * W[f, q]",
      "O[f:4, x:6] = sum(q:3) select(x + q >= 1 && x + q < 7, X[x + q - 1], 0.0) * W[f, q]",
      // Integers become floats after they were moved; the name of all places together is taken.
      "input X[8] i32 O[f:4, x:6] = sum(q:3) f32(X[x + q]) * W[f, q]",
      "O[yx:2, y:3, x:4, f:5] = sum(p:2) X[yx, y + p, x] * W[f, p]", kConvolution};
  for (const std::string& text : texts) {
    SCOPED_TRACE(text);
    expect_same(expression(text), as_matrix());
  }
}

// What is converted lies in the matrix as it lies in memory.
TEST(Im2col, TheMatrixHoldsTheElementsOfTheData) {
  const Task task = expression("input X[8] i32 O[f:4, x:6] = sum(q:3) f32(X[x + q]) * W[f, q]");
  const Result<Dag> dag = rewrite_im2col(task.dag, "O", {});
  ASSERT_TRUE(dag) << dag.error().to_string();
  EXPECT_EQ(dag->computes[0].output->dtype, DType::i32);
  EXPECT_EQ(to_string(dag->computes[1].body), "f32(O.col[x, q]) * W[f, q]");
}

TEST(Im2col, RowsOfAllImagesAreOneAxis) {
  const Task task =
      expression("O[n:2, f:4, y:5, x:3] = sum(c:3, p:3, q:2) X[n, c, 2*y + p, x + q] * W[f, c, p, q]");
  const Result<Dag> dag = rewrite_im2col(task.dag, "O", {});
  ASSERT_TRUE(dag) << dag.error().to_string();
  EXPECT_EQ(to_string(*dag),
            "O.col[nyx:30, p:3, q:2, c:3] = X[nyx/15, c, p + 2*((nyx/3)%5), q + nyx%3]\n"
            "O.G[f:4, nyx:30] = sum(p:3, q:2, c:3) O.col[nyx, p, q, c] * W[f, c, p, q]\n"
            "O[n:2, f:4, y:5, x:3] = O.G[f, 15*n + 3*y + x]\n");
}

TEST(Im2col, RefusesWhatIsNoMatrixProduct) {
  const std::string no_product =
      "im2col does not apply to 'O': it is no sum of products of two factors, one read in windows, the other "
      "one with a spatial axis of its own";
  const auto sentence = [](const std::string& text) {
    const Result<Dag> dag = rewrite(expression(text).dag, "im2col", "O", {});
    return dag ? to_string(*dag) : dag.error().message;
  };
  // No window, no filters, no product, no sum.
  EXPECT_EQ(sentence("O[f:4, x:5] = sum(c:3) X[c, x] * W[f, c]"), no_product);
  EXPECT_EQ(sentence("O[c:4, x:5] = sum(q:3) X[c, x + q] * W[c, q]"), no_product);
  EXPECT_EQ(sentence("O[f:4, x:5] = sum(q:3) X[x + q] + W[f, q]"), no_product);
  EXPECT_EQ(sentence("O[f:4, x:5] = max(q:3) X[x + q] * W[f, q]"), no_product);
  // Filters of one place, or that repeat one another.
  EXPECT_EQ(sentence("O[f:1, x:5] = sum(q:3) X[x + q] * W[f, q]"), no_product);
  EXPECT_EQ(sentence("O[r:2, x:5] = sum(q:3) X[x + q] * W[q]"), no_product);
  EXPECT_EQ(sentence("O[f:4, x:300000000] = sum(q:5) X[x + q] * W[f, q]"),
            "im2col does not apply to 'O': its matrix has 1500000000 elements");
}

// The matrix is a stage of its own, made once for all or for each block of rows. Without padding, too, where
// it does nothing but move elements.
TEST(Im2col, IsAnArmOfTheSpace) {
  const Task task = expression(kConvolution);
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space) << space.error().to_string();
  const auto arm = std::ranges::find_if(
      space->sketches(), [](const Sketch& sketch) { return sketch.name.starts_with("im2col"); });
  ASSERT_NE(arm, space->sketches().end());
  EXPECT_EQ(arm->name, "im2col O.G vector=f rows=nyx");
  const auto place = std::ranges::find(arm->domain.parameters, "O.col.place", &Parameter::name);
  ASSERT_NE(place, arm->domain.parameters.end());
  for (const int64_t choice : {0, 1}) {
    Point point{static_cast<int>(arm - space->sketches().begin()), arm->preferred};
    point.integers[static_cast<size_t>(place - arm->domain.parameters.begin())] = choice;
    const Result<Trace> trace = space->trace(point);
    ASSERT_TRUE(trace) << trace.error().to_string();
    EXPECT_THAT(to_string(*trace), ::testing::Not(::testing::HasSubstr("inline O.col")));
    // Channels are innermost in the matrix, so they are in the data.
    EXPECT_THAT(to_string(*trace), ::testing::HasSubstr("layout X [0][2][3][1]"));
    expect_same(task, *trace);
  }
}

TEST(FlatPlaces, GiveTheSameResult) {
  const std::vector<std::string> texts = {
      "O[n:2, f:4, y:5, x:3] = sum(c:3, p:3, q:2) X[n, c, 2*y + p, x + 3*q] * W[f, c, p, q]",
      "O[f:4, y:4, x:5, z:3] = sum(c:2, p:2, q:2, r:2) X[c, y + p, x + q, z + r] * W[f, c, p, q, r]",
      // Groups, as an axis and as one that is divided.
      "O[g:2, f:3, y:4, x:3] = sum(c:2, p:2) X[g, c, y + p, x] * W[g, f, c, p]",
      "O[f:6, y:4, x:3] = sum(c:2, p:2) X[2*(f/3) + c, y + p, x] * W[f, c, p]",
      "input X[8, 3] i32 O[f:4, x:6, y:3] = sum(q:3) f32(X[x + q, y]) * W[f, q]", kConvolution};
  for (const std::string& text : texts) {
    SCOPED_TRACE(text);
    expect_same(expression(text), {RewriteStep{"flat_places", "O", {}}});
  }
}

TEST(FlatPlaces, AreOneAxisOfWhatIsReadWhereItLies) {
  const Task task = expression("O[f:4, y:5, x:3] = sum(c:3, p:3, q:2) X[c, 2*y + p, x + q] * W[f, c, p, q]");
  const Result<Dag> dag = rewrite_flat_places(task.dag, "O", {});
  ASSERT_TRUE(dag) << dag.error().to_string();
  EXPECT_EQ(to_string(*dag),
            "O.G[f:4, yx:15] = sum(p:3, q:2, c:3) X[c, p + 2*(yx/3), q + yx%3] * W[f, c, p, q]\n"
            "O[f:4, y:5, x:3] = O.G[f, 3*y + x]\n");
}

TEST(FlatPlaces, RefuseASingleRow) {
  const Task task = expression("O[f:4, x:5] = sum(c:3, q:2) X[c, x + q] * W[f, c, q]");
  const Result<Dag> dag = rewrite(task.dag, "flat_places", "O", {});
  ASSERT_FALSE(dag);
  EXPECT_EQ(dag.error().message,
            "flat_places does not apply to 'O': it is no sum of products of two factors, one read in windows "
            "along several axes, the other one with a spatial axis of its own");
}

}  // namespace
}  // namespace lathe::testing
