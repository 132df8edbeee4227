#include "tune/term_squares.h"

#include <gtest/gtest.h>

#include "expr/parse.h"
#include "expr/print.h"

namespace lathe {
namespace {

// Each of the text's tensors of floats has a twin; those of the outputs are printed.
std::string terms(const std::string& text) {
  const Dag dag = term_squares(parse_dag(text).value());
  EXPECT_TRUE(verify({dag.inputs, dag.computes, [&] {
                        std::vector<Tensor> all;
                        for (const Compute& compute : dag.computes) all.push_back(compute.output);
                        return all;
                      }()}));
  Dag twins{dag.inputs, {}, dag.outputs};
  for (const Compute& compute : dag.computes) {
    if (compute.output->name.ends_with(".terms")) twins.computes.push_back(compute);
  }
  return to_string(twins);
}

TEST(TermSquares, OfSumsAddUpAndOfProductsMultiply) {
  EXPECT_EQ(terms("S[i:4] = sum(r:8) A[i, r] * B[r] - 2.0\nD[i:4] = -S[i] / (abs(S[i]) + 1.0)"),
            "input A[4, 8]\ninput B[8]\n"
            "S.terms[i:4] = sum(r:8) A[i, r] * A[i, r] * (B[r] * B[r]) + 2.0 * 2.0\n"
            "D.terms[i:4] = max(S.terms[i], S[i] * S[i]) / ((abs(S[i]) + 1.0) * (abs(S[i]) + 1.0))\n");
}

TEST(TermSquares, OfAChoiceAreThoseOfWhatIsChosen) {
  EXPECT_EQ(
      terms("M[i:4] = min(r:8) A[i, r]\nE[i:4] = select(i < 2, max(M[i] - 1.0, -1e9), min(M[i], B[i]))"),
      "input A[4, 8]\ninput B[4]\nM.terms[i:4] = M[i] * M[i]\n"
      "E.terms[i:4] = select(i < 2, select(-1000000000.0 < M[i] - 1.0, max(M.terms[i], M[i] * M[i]) + "
      "1.0 * 1.0, -1000000000.0 * -1000000000.0), select(M[i] < B[i], max(M.terms[i], M[i] * M[i]), "
      "B[i] * B[i]))\n");
}

TEST(TermSquares, OfOtherFunctionsAreWhatTheyGive) {
  EXPECT_EQ(terms("E[i:4, r:8] = f32(f64(exp(A[i, r] - 1.0)))"),
            "E.terms[i:4, r:8] = f32(f64(exp(A[i, r] - 1.0) * exp(A[i, r] - 1.0)))\n");
}

TEST(TermSquares, OfIntegersThereAreNone) {
  EXPECT_EQ(terms("N[i:4] = sum(r:8) i32(A[i, r])\nF[i:4] = f32(N[i]) + 1.0\noutput N\noutput F"),
            "input A[4, 8]\nF.terms[i:4] = f32(N[i]) * f32(N[i]) + 1.0 * 1.0\n");
}

}  // namespace
}  // namespace lathe
