#include "space/rules/nest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr/parse.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Nest nest_of(const char* text) { return Nest(parse_dag(text).value().computes[0]); }

TEST(Nest, LoopsOfAProductByTheirKind) {
  const Nest nest = nest_of("C[i:3, j:1] = sum(r:5, s:2) A[i,r,s] * B[r,s,j]");
  EXPECT_EQ(nest.block, "C");
  EXPECT_THAT(nest.spatial, ElementsAre(Pair("i", 3), Pair("j", 1)));
  EXPECT_THAT(nest.reduce, ElementsAre("r", "s"));
  EXPECT_EQ(nest.epilogue, std::nullopt);
}

TEST(Nest, WithoutAReductionThereAreSpatialLoopsAlone) {
  EXPECT_THAT(nest_of("C[i:3] = A[i]").reduce, IsEmpty());
}

TEST(Nest, OfAScalarThereAreReduceLoopsAlone) {
  const Nest nest = nest_of("C[] = sum(r:5) A[r]");
  EXPECT_THAT(nest.spatial, IsEmpty());
  EXPECT_THAT(nest.reduce, ElementsAre("r"));
}

TEST(Nest, TheEpilogueIsTheCallers) {
  const Dag dag = parse_dag("C[i:3] = sum(r:5) A[i,r]\nD[i:3] = C[i] + B[i]").value();
  EXPECT_EQ(Nest(dag.computes[0], 1).epilogue, 1U);
}

}  // namespace
}  // namespace lathe
