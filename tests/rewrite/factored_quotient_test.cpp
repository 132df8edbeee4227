// A sum of quotients gives the same as the quotient of a sum.
#include "rewrite/factored_quotient.h"

#include <gtest/gtest.h>

#include "expr/parse.h"
#include "expr/print.h"
#include "rewrite/same_result.h"

namespace lathe::testing {
namespace {

constexpr const char* kAttended =
    "T[i:6] = sum(j:9) E[i,j] * E[i,j]\n"
    "P[i:6, j:9] = E[i,j] / T[i]\n"
    "O[i:6, v:5] = sum(j:9) P[i,j] * V[j,v]";

std::string rewritten(const std::string& text) {
  const Result<Dag> dag = rewrite(parse_dag(text).value(), "factored_quotient", "O", {});
  return dag ? to_string(*dag) : dag.error().message;
}

TEST(FactoredQuotient, DividesWhatWasAddedUp) {
  EXPECT_EQ(rewritten(kAttended),
            "T[i:6] = sum(j:9) E[i, j] * E[i, j]\n"
            "O.N[i:6, v:5] = sum(j:9) E[i, j] * V[j, v]\n"
            "O[i:6, v:5] = O.N[i, v] / T[i]\n");
}

TEST(FactoredQuotient, GivesTheSameResult) {
  const Task task = make_task("t", parse_dag(kAttended).value(), generic_target("x86-avx2")).value();
  expect_same(task, {RewriteStep{"factored_quotient", "O", {}}});
}

// The quotient may be any of the factors, and stand at other places than its own.
TEST(FactoredQuotient, TakesTheQuotientWhereItIsRead) {
  EXPECT_EQ(rewritten("P[i:16, j:9] = E[i,j] / (T[i] + 1.0)\n"
                      "O[v:5, i:8] = sum(j:9) V[j,v] * P[2 * i + 1,j]"),
            "input E[16, 9]\ninput T[16]\ninput V[9, 5]\n"
            "O.N[v:5, i:8] = sum(j:9) V[j, v] * E[2*i + 1, j]\n"
            "O[v:5, i:8] = O.N[v, i] / (T[2*i + 1] + 1.0)\n");
}

TEST(FactoredQuotient, RefusesWhereNothingIsGained) {
  for (const char* text :
       {"P[i:6, j:9] = E[i,j] / T[j]\nO[i:6, v:5] = sum(j:9) P[i,j] * V[j,v]",  // another divisor a term
        "P[i:6, j:9] = E[i,j] / T[i]\nO[i:6, v:9] = sum(j:9) P[i,j] * V[j,v]",  // no fewer results
        "P[i:6, j:9] = E[i,j] / T[i]\nO[i:6, v:5] = max(j:9) P[i,j] * V[j,v]",  // no sum
        "P[i:6, j:9] = E[i,j] / T[i]\nO[i:6] = sum(j:9) P[i,j]",                // no product
        "P[i:6, j:9] = exp(E[i,j]) / T[i]\nO[i:6, v:5] = sum(j:9) P[i,j] * V[j,v]",
        "P[i:6, j:9] = E[i,j] / T[i]\nO[i:6, v:5] = sum(j:9) P[i,j] * V[j,v]\nQ[i:6] = P[i,0]"}) {
    EXPECT_EQ(rewritten(text),
              "factored_quotient does not apply to 'O': it is no sum of products with a quotient, which "
              "nothing else reads, of more elements than the sum and whose divisor stays the same while it "
              "is added up")
        << text;
  }
}

}  // namespace
}  // namespace lathe::testing
