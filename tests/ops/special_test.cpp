#include "ops/special.h"

#include "ops/small_dags.h"

namespace lathe {
namespace {

using ops_testing::computed;
using ops_testing::counted;
using ops_testing::operator_of;
using ops_testing::refusal_of;

TEST(OpsSpecial, FrobeniusNormOfEachMatrix) {
  const Operator made = operator_of("frobenius_norm", R"({"batch": 2, "m": 1, "n": 2})").value();
  EXPECT_EQ(computed(made.dag, {{3, -4, 0, 5}}), (std::vector<double>{5, 5}));
}

// Of one block, the means of its two diagonals, wrapped around.
TEST(OpsSpecial, DiagonalsOfABlockBecomeTheirMeans) {
  const Operator one = operator_of("block_circulant_matrix", R"({"rows": 2, "cols": 2, "block": 2})").value();
  EXPECT_EQ(computed(one.dag, {{1, 10, 20, 3}}), (std::vector<double>{2, 15, 15, 2}));
  const Operator three =
      operator_of("block_circulant_matrix", R"({"rows": 3, "cols": 3, "block": 3})").value();
  EXPECT_EQ(computed(three.dag, {counted(9)}), (std::vector<double>{5, 5, 5, 5, 5, 5, 5, 5, 5}));
  EXPECT_EQ(computed(three.dag, {{3, 0, 0, 0, 6, 0, 9, 0, 0}}),
            (std::vector<double>{3, 3, 0, 0, 3, 3, 3, 0, 3}));
}

TEST(OpsSpecial, IsZeroOutsideOfTheFullBlocks) {
  const Operator made =
      operator_of("block_circulant_matrix", R"({"rows": 2, "cols": 3, "block": 2})").value();
  EXPECT_EQ(computed(made.dag, {{1, 1, 7, 1, 1, 7}}), (std::vector<double>{1, 1, 0, 1, 1, 0}));
  const Operator tall =
      operator_of("block_circulant_matrix", R"({"rows": 3, "cols": 2, "block": 2})").value();
  EXPECT_EQ(computed(tall.dag, {{1, 1, 1, 1, 7, 7}}), (std::vector<double>{1, 1, 1, 1, 0, 0}));
}

TEST(OpsSpecial, ABlockOfOneIsTheMatrix) {
  const Operator made =
      operator_of("block_circulant_matrix", R"({"rows": 2, "cols": 2, "block": 1})").value();
  EXPECT_EQ(computed(made.dag, {counted(4)}), counted(4));
}

TEST(OpsSpecial, NamesABlockThatDoesNotFit) {
  EXPECT_EQ(refusal_of("block_circulant_matrix", R"({"rows": 4, "cols": 3, "block": 4})"),
            "a block of 4 does not fit a 4 x 3 matrix");
  EXPECT_EQ(refusal_of("block_circulant_matrix", R"({"rows": 3, "cols": 4, "block": 4})"),
            "a block of 4 does not fit a 3 x 4 matrix");
}

// Each channel moves by its own choice among the nine neighbours; 4 is the place itself.
TEST(OpsSpecial, ChannelsMoveByTheirChoice) {
  const Operator made = operator_of("shift_conv2d", R"({"batch": 1, "height": 2, "width": 2, "channels": 1,
                                                        "kernel": 3})")
                            .value();
  const auto shifted = [&](double choice) { return computed(made.dag, {counted(4), {choice}}); };
  EXPECT_EQ(shifted(4), counted(4));
  EXPECT_EQ(shifted(0), (std::vector<double>{0, 0, 0, 1}));
  EXPECT_EQ(shifted(8), (std::vector<double>{4, 0, 0, 0}));
  EXPECT_EQ(shifted(5), (std::vector<double>{2, 0, 4, 0}));
  EXPECT_EQ(shifted(1), (std::vector<double>{0, 0, 1, 2}));
}

TEST(OpsSpecial, AnEvenKernelReachesFurtherBehind) {
  const Operator made = operator_of("shift_conv2d", R"({"batch": 1, "height": 1, "width": 2, "channels": 1,
                                                        "kernel": 2})")
                            .value();
  EXPECT_EQ(computed(made.dag, {{1, 2}, {0}}), (std::vector<double>{1, 2}));
  EXPECT_EQ(computed(made.dag, {{1, 2}, {1}}), (std::vector<double>{2, 0}));
}

}  // namespace
}  // namespace lathe
