// CumSum: the reference against sums by hand, and the network against the reference.
#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

OnnxModel cumsum_model(const Shape& shape, int64_t axis, bool exclusive, bool reverse) {
  OnnxModel model = node_model(shape, "CumSum", {"x", "axis"}).integers("axis", {}, {axis});
  return model.attribute("exclusive", exclusive ? 1 : 0).attribute("reverse", reverse ? 1 : 0);
}

TEST(CumSum, SumsUpToEachPlaceOrFromIt) {
  const auto sums = [](int64_t axis, bool exclusive, bool reverse) {
    return run_network(cumsum_model({2, 3}, axis, exclusive, reverse), {numbered({2, 3})}).data;
  };
  EXPECT_EQ(sums(1, false, false), (std::vector<double>{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(sums(-1, true, false), (std::vector<double>{0, 1, 3, 0, 4, 9}));
  EXPECT_EQ(sums(1, false, true), (std::vector<double>{6, 5, 3, 15, 11, 6}));
  EXPECT_EQ(sums(1, true, true), (std::vector<double>{5, 3, 0, 11, 6, 0}));
  EXPECT_EQ(sums(0, false, false), (std::vector<double>{1, 2, 3, 5, 7, 9}));
}

// Blocks, whole ones or not, and blocks of blocks; the runner compares with the reference.
TEST(CumSum, RunsThroughBlocks) {
  for (const int64_t extent : {64, 65, 96, 2080}) {
    for (const bool exclusive : {false, true}) {
      for (const bool reverse : {false, true}) {
        SCOPED_TRACE(::testing::Message()
                     << extent << (exclusive ? " exclusive" : "") << (reverse ? " back" : ""));
        const Values x{{extent, 2}, std::vector<double>(static_cast<size_t>(2 * extent), 1)};
        const Values y = run_network(cumsum_model(x.shape, 0, exclusive, reverse), {x});
        EXPECT_EQ(y.data[static_cast<size_t>(reverse ? 0 : 2 * extent - 1)],
                  static_cast<double>(extent - (exclusive ? 1 : 0)));
      }
    }
  }
}

OnnxModel cumprod_model(const Shape& shape, bool exclusive, bool reverse,
                        int type = onnx::TensorProto_DataType_FLOAT) {
  OnnxModel model;
  model.operator_set(26).input("x", shape, type).integers("axis", {}, {-1});
  model.node("n", "CumProd", {"x", "axis"}, "y").output("y");
  return std::move(model.attribute("exclusive", exclusive ? 1 : 0).attribute("reverse", reverse ? 1 : 0));
}

TEST(CumProd, MultipliesUpToEachPlaceOrFromIt) {
  const auto products = [](bool exclusive, bool reverse) {
    return run_network(cumprod_model({2, 3}, exclusive, reverse), {numbered({2, 3})}).data;
  };
  EXPECT_EQ(products(false, false), (std::vector<double>{1, 2, 6, 4, 20, 120}));
  EXPECT_EQ(products(true, false), (std::vector<double>{1, 1, 2, 1, 4, 20}));
  EXPECT_EQ(products(false, true), (std::vector<double>{6, 6, 3, 120, 30, 6}));
  EXPECT_EQ(products(true, true), (std::vector<double>{6, 3, 1, 30, 6, 1}));
}

// Places that fill up the last block count for nothing, and integers wrap around.
TEST(CumProd, RunsThroughBlocks) {
  std::vector<double> halves(37, 1);
  halves[3] = halves[20] = 0.5;
  halves[36] = 8;
  const Values y = run_network(cumprod_model({37}, false, false), {{{37}, halves}});
  EXPECT_EQ(y.data[19], 0.5);
  EXPECT_EQ(y.data[35], 0.25);
  EXPECT_EQ(y.data[36], 2);
  const OnnxModel whole = cumprod_model({3}, false, false, onnx::TensorProto_DataType_INT32);
  EXPECT_EQ(run_network(whole, {{{3}, {65537, 65537, 2}, DType::i32}}).data,
            (std::vector<double>{65537, 131073, 262146}));
}

TEST(CumSum, NamesWhatItCannotTake) {
  EXPECT_EQ(import_error(cumsum_model({2, 3}, 2, false, false)),
            "node 'n' (CumSum): there is no axis 2 among 2 axes");
  OnnxModel two = node_model({2}, "CumSum", {"x", "axis"}).integers("axis", {0, 0});
  EXPECT_EQ(import_error(two), "node 'n' (CumSum): its axis has 2 values, not one");
}

}  // namespace
}  // namespace lathe
