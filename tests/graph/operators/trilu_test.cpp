// Triangles of matrices: what rearrange_test.cpp does not look at.
#include "graph/operators/trilu.h"

#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

OnnxModel trilu_model(const Shape& shape, bool upper, int64_t offset) {
  OnnxModel model = node_model(shape, "Trilu", {"x", "k"}).integers("k", {}, {offset});
  return std::move(model.attribute("upper", upper ? 1 : 0));
}

TEST(TriluOperator, KeepsWhatLiesOnItsSideOfTheDiagonal) {
  for (const Shape& shape : {Shape{3, 3}, Shape{2, 4}, Shape{4, 2}, Shape{1, 1}, Shape{2, 1, 2, 3}}) {
    for (int64_t offset = -4; offset <= 4; ++offset) {
      for (const bool upper : {false, true}) {
        SCOPED_TRACE(::testing::Message() << to_string(shape) << (upper ? " upper " : " lower ") << offset);
        const Values x = numbered(shape);
        std::vector<double> expected;
        Shape index(shape.size(), 0);
        do {
          const int64_t beyond = index.back() - index[index.size() - 2] - offset;
          const bool is_kept = upper ? beyond >= 0 : beyond <= 0;
          expected.push_back(is_kept ? element_at(x, index) : 0);
        } while (next_index(index, shape));
        EXPECT_EQ(run_network(trilu_model(shape, upper, offset), {x}).data, expected);
      }
    }
  }
}

TEST(TriluOperator, TakesElementsOfAnyType) {
  for (const int type : {onnx::TensorProto_DataType_INT64, onnx::TensorProto_DataType_INT32,
                         onnx::TensorProto_DataType_INT8, onnx::TensorProto_DataType_BOOL}) {
    OnnxModel model;
    model.input("x", {2, 2}, type).node("n", "Trilu", {"x"}, "y").output("y");
    const Values y = run_network(model, {{{2, 2}, {1, 1, 1, 1}}});
    EXPECT_EQ(y.data, (std::vector<double>{1, 1, 0, 1}));
    EXPECT_NE(y.dtype, DType::f32);
  }
}

TEST(TriluOperator, PrintsItsSideAndOffset) {
  EXPECT_EQ(to_string(GraphOp(TriluOp{true, -2})), "Trilu(upper from -2)");
  EXPECT_EQ(to_string(GraphOp(TriluOp{false, 0})), "Trilu(lower from 0)");
}

// Offsets beyond any matrix are held back before places are added to them.
TEST(TriluOperator, TakesOffsetsBeyondItsMatrix) {
  constexpr int64_t kFar = int64_t{1} << 53;
  const std::vector<Values> x{numbered({2, 2})};
  EXPECT_EQ(run_network(trilu_model({2, 2}, true, -kFar), x).data, numbered({2, 2}).data);
  EXPECT_EQ(run_network(trilu_model({2, 2}, false, kFar), x).data, numbered({2, 2}).data);
  EXPECT_EQ(run_network(trilu_model({2, 2}, false, -kFar), x).data, std::vector<double>(4, 0));
}

TEST(TriluOperator, NamesWhatItCannotTake) {
  OnnxModel two = node_model({2, 2}, "Trilu", {"x", "k"}).integers("k", {1, 2});
  EXPECT_EQ(import_error(two), "node 'n' (Trilu): its offset has 2 values, not one");
  OnnxModel real = node_model({2, 2}, "Trilu", {"x", "k"}).initializer("k", {}, {1});
  EXPECT_EQ(import_error(real), "node 'n' (Trilu): input 1, 'k', is of type f32, and must be i64");
  OnnxModel given = node_model({2, 2}, "Trilu", {"x", "k"}).input("k", {}, onnx::TensorProto_DataType_INT64);
  EXPECT_EQ(import_error(given),
            "node 'n' (Trilu): input 1, 'k', is an input of the model, and Lathe supports a constant there");
  EXPECT_EQ(
      import_error(trilu_model({2, 2}, true, INT64_MIN)),
      "node 'n' (Trilu): input 1, 'k', holds -9.22337e+18, and Lathe supports integers up to 2^53 there");
  EXPECT_EQ(infer(TriluOp{}, std::vector<TensorType>{{DType::f32, {}}}).error().message, "[] is no matrix");
}

}  // namespace
}  // namespace lathe
