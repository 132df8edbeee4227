#include "graph/onnx/nodes/determinant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

Numbers determinants(const Shape& shape, const Numbers& numbers) {
  return run_network(node_model(shape, "Det"), {{shape, numbers}}).data;
}

TEST(OnnxDet, EliminatesColumnByColumn) {
  EXPECT_EQ(determinants({1, 1}, {-3}), Numbers{-3});
  EXPECT_THAT(determinants({2, 2, 2}, {1, 2, 3, 4, 5, 0, 7, 2}),
              ::testing::Pointwise(::testing::DoubleNear(1e-5), Numbers{-2, 10}));
  EXPECT_THAT(determinants({3, 3}, {2, -1, 0, 1, 3, 2, 4, 0, -5}),
              ::testing::Pointwise(::testing::DoubleNear(1e-4), Numbers{-43}));
}

// The first pivot is 0, or no pivot is there; small ones do not lose what the others have.
TEST(OnnxDet, TakesTheLargestPivots) {
  EXPECT_EQ(determinants({2, 2}, {0, 1, 1, 0}), Numbers{-1});
  EXPECT_EQ(determinants({3, 3}, {0, 0, 2, 0, 3, 0, 4, 0, 0}), Numbers{-24});
  EXPECT_EQ(determinants({3, 3}, {0, 1, 2, 0, 3, 4, 0, 5, 6}), Numbers{0});
  EXPECT_THAT(determinants({2, 2}, {1e-8, 1, 1, 1}),
              ::testing::Pointwise(::testing::DoubleNear(1e-6), Numbers{-1}));
}

TEST(OnnxDet, NamesWhatItCannotTake) {
  EXPECT_EQ(import_error(node_model({2, 3}, "Det")),
            "node 'n' (Det): its operand [2,3] does not hold square matrices");
  EXPECT_EQ(import_error(node_model({129, 129}, "Det")),
            "node 'n' (Det): its matrices have 129 rows, and Lathe supports 128");
}

}  // namespace
}  // namespace lathe
