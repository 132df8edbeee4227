#include "expr/loop_counts.h"

#include <gtest/gtest.h>

#include "expr/parse.h"

namespace lathe {
namespace {

// FlexTensor's figure 3.
TEST(Analysis, MatrixProduct) {
  const DagAnalysis analysis = analyse(parse_dag("C[i:10, j:11] = sum(k:9) A[i,k] * B[k,j]").value());
  ASSERT_EQ(analysis.nodes.size(), 1u);
  const NodeAnalysis& node = analysis.nodes[0];
  EXPECT_EQ(node.name, "C");
  EXPECT_EQ(node.order, (std::vector<std::string>{"i", "j", "k"}));
  EXPECT_EQ(node.spatial_trip_counts, (std::vector<int64_t>{10, 11}));
  EXPECT_EQ(node.reduce_trip_counts, std::vector<int64_t>{9});
  EXPECT_EQ(node.inputs, 2);
  EXPECT_EQ(node.outputs, 1);
  EXPECT_EQ(node.consumers, 0);
}

TEST(Analysis, PointsCountReduceAxesToo) {
  const Dag dag = parse_dag("C[i:10, j:11] = sum(k:9) A[i,k] * B[k,j]").value();
  EXPECT_EQ(points_of(dag.computes.front()), 990);
}

TEST(Analysis, NodesHangTogether) {
  const DagAnalysis analysis = analyse(parse_dag(R"(
      table T[2] = {1, 2}
      M[b:2] = max(j:5) S[b, j]
      E[b:2, j:5] = exp(S[b, j] - M[b]) * T[b] + S[b, 0]
      D[b:2] = sum(j:5) E[b, j] - M[b]
      P[b:2, j:5] = E[b, j] / D[b])")
                                           .value());
  const std::vector<std::pair<int, int>> expected = {{1, 2}, {2, 2}, {2, 1}, {2, 0}};
  ASSERT_EQ(analysis.nodes.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(analysis.nodes[i].inputs, expected[i].first) << i;
    EXPECT_EQ(analysis.nodes[i].consumers, expected[i].second) << i;
  }
  EXPECT_EQ(analysis.spatial_loops, 6);
  EXPECT_EQ(analysis.reduce_loops, 2);
}

}  // namespace
}  // namespace lathe
