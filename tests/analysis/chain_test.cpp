// Runs of transforms, and the product between two of them: as in Winograd's way, in one dimension and two.
#include "analysis/chain.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr/parse.h"
#include "target/all.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;

constexpr const char* kTables =
    "table P[4, 4] = {1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0, 1.0, 0.0, -1.0}\n"
    "table Q[2, 4] = {1.0, 1.0, 1.0, 0.0, 0.0, 1.0, -1.0, -1.0}\n";

// Computes 0 and 1 take tiles of 4 x 4 pixels apart, 2 is the product over channels, 3 and 4 put 2 x 2
// together.
constexpr const char* kWinograd =
    "V[e:4, y:4, t:6, c:8] = sum(x:4) P[e, x] * I[t, x, y, c]\n"
    "U[e:4, f:4, t:6, c:8] = sum(y:4) P[f, y] * V[e, y, t, c]\n"
    "M[e:4, f:4, t:6, k:16] = sum(c:8) U[e, f, t, c] * W[e, f, c, k]\n"
    "R[a:2, f:4, t:6, k:16] = sum(e:4) Q[a, e] * M[e, f, t, k]\n"
    "O[a:2, b:2, t:6, k:16] = sum(f:4) Q[b, f] * R[a, f, t, k]\n";

struct Stages {
  Dag dag;
  Classified classified;
};

Stages stages_of(const std::string& text) {
  const Result<Dag> dag = parse_dag(kTables + text);
  EXPECT_TRUE(dag) << dag.error().to_string();
  const Task task = make_task("t", *dag, generic_target("x86-avx2"), {"W"}).value();
  return {task.dag, classify(task, task.dag)};
}

TEST(Chain, EndsAtATransform) {
  const auto [dag, stages] = stages_of(kWinograd);
  EXPECT_THAT(chain_ending_at(dag, stages, 1), ElementsAre(0u, 1u));
  EXPECT_THAT(chain_ending_at(dag, stages, 0), ElementsAre(0u));
  // Behind the product a new one begins.
  EXPECT_THAT(chain_ending_at(dag, stages, 4), ElementsAre(3u, 4u));
}

// What somebody else reads, too, is in no chain.
TEST(Chain, WhatOthersReadBelongsToNone) {
  const auto [dag, stages] = stages_of(fmt::format("{}output V\noutput O\n", kWinograd));
  EXPECT_THAT(chain_ending_at(dag, stages, 1), ElementsAre(1u));
}

// An axis followed to the stage before, where it indexes that plainly.
TEST(Chain, AxisOfTheProducer) {
  const auto [dag, stages] = stages_of(kWinograd);
  EXPECT_EQ(axis_of_producer(dag, stages.of(1), 2, 0), 2u);            // t
  EXPECT_EQ(axis_of_producer(dag, stages.of(1), 4, 0), 1u);            // y, summed over
  EXPECT_EQ(axis_of_producer(dag, stages.of(1), 1, 0), std::nullopt);  // f, of the table
  EXPECT_EQ(axis_of_producer(dag, stages.of(3), 2, 0), std::nullopt);  // not what it reads
}

// Tiles and channels are common to all stages; e and y are carried along where the other's table runs.
TEST(Chain, Axes) {
  const auto [dag, stages] = stages_of(kWinograd);
  const ChainAxes axes = axes_of_chain(dag, stages, {0, 1});
  EXPECT_THAT(axes.common, ElementsAre(ElementsAre(2u, 3u), ElementsAre(2u, 3u)));
  EXPECT_THAT(axes.carried, ElementsAre(ElementsAre(1u), ElementsAre(0u)));
  EXPECT_THAT(axes.table, ElementsAre(0u, 1u));
  // Vectors run along the channels, which lie innermost in the image.
  EXPECT_THAT(vector_axes(dag, stages, {0, 1}), ::testing::Contains(3u));
}

// All between the first and the last transform has the tiles in common.
TEST(Chain, AGroupAroundAProduct) {
  const auto [dag, stages] = stages_of(kWinograd);
  const std::optional<Group> group = group_around(dag, stages, 2);
  ASSERT_TRUE(group.has_value());
  EXPECT_EQ(group->product, 2u);
  EXPECT_THAT(group->consumer, ElementsAre(3u, 4u));
  EXPECT_THAT(group->producers, ElementsAre(ElementsAre(0u, 1u)));
  for (size_t stage = 0; stage < 5; ++stage) EXPECT_EQ(group->axis.at(stage), 2u) << stage;
}

// Without a transform behind the product there is none.
TEST(Chain, AProductAlone) {
  const auto [dag, stages] =
      stages_of("C[i:8, j:8] = sum(r:8) A[i, r] * W[r, j]\nO[i:8, j:8] = C[i, j] + 1.0\n");
  EXPECT_FALSE(group_around(dag, stages, 0).has_value());
}

}  // namespace
}  // namespace lathe
