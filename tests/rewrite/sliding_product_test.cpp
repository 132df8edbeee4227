#include "rewrite/sliding_product.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "expr/parse.h"
#include "expr/print.h"

namespace lathe {
namespace {

// "X: y+2*p | channels c | rows n | features f | shared g", by the names of the axes; "none" where none
// slides.
std::string slid(const std::string& text) {
  const Dag dag = parse_dag(text).value();
  const Compute& compute = dag.computes.back();
  const auto product = match_sliding_product(compute);
  if (!product) return "none";
  const auto name = [&](size_t axis) { return compute.axes[axis].var.name(); };
  const auto names = [&](const char* what, const std::vector<size_t>& axes) {
    std::vector<std::string> list;
    for (const size_t axis : axes) list.push_back(name(axis));
    return list.empty() ? std::string() : fmt::format(" | {} {}", what, fmt::join(list, " "));
  };
  std::string found = product->data.tensor->name + ":";
  for (const SlidingProduct::Window& window : product->windows) {
    const std::string times = window.dilation == 1 ? "" : fmt::format("{}*", window.dilation);
    found += fmt::format(" {}+{}{} in {}", name(window.output_axis), times, name(window.reduce_axis),
                         window.data_dim);
  }
  return found + names("channels", product->channels) + names("rows", product->rows) +
         names("features", product->features) + names("shared", product->shared);
}

TEST(SlidingProduct, IsAConvolution) {
  EXPECT_EQ(slid("O[n:2, f:4, y:5, x:6] = sum(c:3, p:3, q:2) X[n, c, y + p, x + 3*q] * W[f, c, p, q]"),
            "X: y+p in 2 x+3*q in 3 | channels c | rows n | features f");
  EXPECT_EQ(slid("O[n:2, f:4, y:5] = sum(p:3, c:3) W[f, c, p] * X[n, y + p, c]"),
            "X: y+p in 1 | channels c | rows n | features f");
}

TEST(SlidingProduct, WindowsAreInTheOrderOfTheirOutputs) {
  EXPECT_EQ(slid("O[y:5, x:6, f:2] = sum(q:2, p:3) X[y + p, x + q] * W[f, p, q]"),
            "X: y+p in 0 x+q in 1 | features f");
}

TEST(SlidingProduct, GroupsAreShared) {
  EXPECT_EQ(slid("O[g:2, f:3, y:4] = sum(c:2, p:2) X[g, c, y + p] * W[g, f, c, p]"),
            "X: y+p in 2 | channels c | features f | shared g");
  EXPECT_EQ(slid("O[f:4, y:4] = sum(c:2, p:2) X[c + 2*(f/2), y + p] * W[f, c, p]"),
            "X: y+p in 1 | channels c | shared f");
}

TEST(SlidingProduct, TheWeightIsAnyFactor) {
  EXPECT_EQ(slid("O[y:4] = sum(p:2) X[y + p] * (W[p] + 1.0)"), "X: y+p in 0");
  EXPECT_EQ(slid("table T[2] = {1.0, 2.0} O[y:4] = sum(p:2) T[p] * X[y + p]"), "X: y+p in 0");
}

TEST(SlidingProduct, WhatElseStandsInTheIndexIsTheRest) {
  EXPECT_EQ(slid("O[y:4, f:2] = sum(p:2) X[y + p + 5] * W[f, p]"), "X: y+p in 0 | features f");
  EXPECT_EQ(slid("O[r:3, y:4] = sum(p:2) X[7*r + y + p] * W[p]"), "X: y+p in 0 | rows r");
}

// Of several reduce axes over one output the first is the window, of several outputs the last.
TEST(SlidingProduct, AnAxisHasOneWindow) {
  EXPECT_EQ(slid("O[y:4] = sum(p:2, q:3) X[y + p + 4*q] * W[p, q]"), "X: y+p in 0 | channels q");
  EXPECT_EQ(slid("O[x:4, y:5] = sum(k:3) X[x + y + k] * W[k]"), "X: y+k in 0 | rows x");
}

TEST(SlidingProduct, AxesOfOnePlaceAreNoWindows) {
  EXPECT_EQ(slid("O[y:1, x:4] = sum(p:2, q:2) X[y + p, x + q] * W[p, q]"),
            "X: x+q in 1 | channels p | rows y");
  EXPECT_EQ(slid("O[x:4] = sum(p:1, q:2) X[x + q] * W[q]"), "X: x+q in 0 | channels p");
  EXPECT_EQ(slid("O[x:4] = sum(q:1) X[x + q] * W[q]"), "none");
}

TEST(SlidingProduct, StepsAreSingle) {
  EXPECT_EQ(slid("O[y:4] = sum(p:2) X[2*y + p] * W[p]"), "none");
  EXPECT_EQ(slid("O[y:4] = sum(p:2) X[y - p + 1] * W[p]"), "none");
  EXPECT_EQ(slid("O[y:4] = sum(p:2) X[(y + p)/2] * W[p]"), "none");
  EXPECT_EQ(slid("O[y:4] = sum(p:2) X[y + p, p] * W[p]"), "none");
  EXPECT_EQ(slid("O[y:4] = sum(p:2) X[y + p, y] * W[p]"), "none");
}

TEST(SlidingProduct, OthersAreNone) {
  EXPECT_EQ(slid("O[y:4] = max(p:2) X[y + p] * W[p]"), "none");
  EXPECT_EQ(slid("O[y:4] = sum(p:2) X[y + p] + W[p]"), "none");
  EXPECT_EQ(slid("O[y:4] = X[y] * W[y]"), "none");
  EXPECT_EQ(slid("O[i:4, j:5] = sum(r:3) A[i, r] * B[r, j]"), "none");
  // A weight that goes along with the output, and a sum of one factor alone.
  EXPECT_EQ(slid("O[y:4] = sum(p:2) X[y + p] * W[p, y]"), "none");
  EXPECT_EQ(slid("O[y:4] = sum(c:3, p:2) X[c, y + p] * W[p]"), "none");
  EXPECT_EQ(slid("O[y:4] = sum(c:3, p:2) X[y + p] * W[c, p]"), "none");
  EXPECT_EQ(slid("O[y:4] = sum(p:2) exp(X[y + p]) * exp(W[p])"), "none");
}

}  // namespace
}  // namespace lathe
