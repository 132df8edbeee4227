#include "graph/onnx/nodes/quantized_mixed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

constexpr int kU8 = onnx::TensorProto_DataType_UINT8;
constexpr int kI8 = onnx::TensorProto_DataType_INT8;

auto is_near(const Numbers& numbers) { return ::testing::Pointwise(::testing::DoubleNear(1e-4), numbers); }

void add_bytes(OnnxModel& model, const std::string& name, const Shape& shape, const std::vector<int>& bytes) {
  onnx::TensorProto& tensor = *model.proto.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(kU8);
  for (const int64_t extent : shape) tensor.add_dims(extent);
  for (const int byte : bytes) tensor.add_int32_data(byte);
}

// Zero points of a and of each column of b, whose scales are columns' too.
TEST(OnnxMatMulIntegerToFloat, GivesWhatTheSumsStandFor) {
  OnnxModel model;
  model.input("a", {1, 2}, kU8).input("b", {2, 2}, kI8).input("z", {2}, kI8).input("o", {}, kU8);
  model.initializer("s", {}, {0.5F}).initializer("t", {2}, {1, 2}).initializer("c", {2}, {10, 20});
  model.runtime_node("n", "MatMulIntegerToFloat", {"a", "b", "s", "t", "o", "z", "c"}, "y").output("y");
  const Values a{{1, 2}, {3, 200}, DType::u8}, b{{2, 2}, {1, -2, 3, 4}, DType::i8},
      zeros{{2}, {1, -1}, DType::i8}, zero{{}, {100}, DType::u8};
  // -97 * (0, -1) + 100 * (2, 5)
  EXPECT_THAT(run_network(model, {a, b, zeros, zero}).data, is_near({110, 617}));
  OnnxModel real;
  real.input("a", {1, 2}).input("b", {2, 2}, kI8).initializer("s", {}, {1});
  real.runtime_node("n", "MatMulIntegerToFloat", {"a", "b", "s", "s"}, "y").output("y");
  EXPECT_EQ(import_error(real),
            "node 'n' (MatMulIntegerToFloat): input 0 is of type f32, and Lathe supports i8 and u8 here");
}

// The range of a is 0 to 255, by which its numbers are whole.
TEST(OnnxDynamicQuantizeMatMul, RoundsItsFirstFactor) {
  OnnxModel model;
  model.input("a", {2, 2}).input("b", {2, 1}, kI8).initializer("s", {}, {0.5F}).initializer("c", {1}, {1});
  model.runtime_node("n", "DynamicQuantizeMatMul", {"a", "b", "s", "", "c"}, "y").output("y");
  const Values a{{2, 2}, {-55, 200, 3.4, 7}}, b{{2, 1}, {2, -1}, DType::i8};
  EXPECT_THAT(run_network(model, {a, b}).data, is_near({1 + (-110 - 200) / 2.0, 1 + (6 - 7) / 2.0}));
}

// Columns of 20 numbers in two blocks of 16; number i of column c is i + c, in 4 bits.
OnnxModel block_model() {
  OnnxModel model;
  std::vector<int> bytes;
  for (int column = 0; column < 2; ++column)
    for (int i = 0; i < 32; i += 2) bytes.push_back((i + column) % 16 | (i + 1 + column) % 16 << 4);
  model.input("a", {1, 20});
  add_bytes(model, "b", {2, 2, 8}, bytes);
  model.initializer("s", {4}, {1, 10, 2, 20});
  return model;
}

OnnxModel& with_node(OnnxModel& model, const std::vector<std::string>& inputs) {
  model.runtime_node("n", "MatMulNBits", inputs, "y").attribute("K", 20).attribute("N", 2);
  return model.attribute("bits", 4).attribute("block_size", 16).output("y");
}

Values unit(size_t place) {
  Values x{{1, 20}, Numbers(20, 0)};
  x.data[place] = 1;
  return x;
}

TEST(OnnxMatMulNBits, UnpacksWeightsByBlocks) {
  OnnxModel model = block_model();
  with_node(model, {"a", "b", "s"});
  EXPECT_EQ(run_network(model, {unit(3)}).data, (Numbers{3 - 8, 2 * (4 - 8)}));
  EXPECT_EQ(run_network(model, {unit(19)}).data, (Numbers{10 * (3 - 8), 20 * (4 - 8)}));
}

TEST(OnnxMatMulNBits, ZeroPointsArePackedOrReal) {
  OnnxModel packed = block_model();
  add_bytes(packed, "z", {2}, {0x31, 0x42});
  with_node(packed, {"a", "b", "s", "z"});
  EXPECT_EQ(run_network(packed, {unit(3)}).data, (Numbers{3 - 1, 2 * (4 - 2)}));
  EXPECT_EQ(run_network(packed, {unit(19)}).data, (Numbers{10 * (3 - 3), 20 * (4 - 4)}));
  OnnxModel reals = block_model();
  reals.initializer("z", {4}, {0.5F, 1, 0, 0}).initializer("bias", {2}, {100, 200});
  with_node(reals, {"a", "b", "s", "z", "", "bias"});
  EXPECT_EQ(run_network(reals, {unit(3)}).data, (Numbers{102.5, 208}));
}

TEST(OnnxMatMulNBits, GroupsNameTheBlockOfARow) {
  OnnxModel model = block_model();
  std::vector<int64_t> groups(20, 1);
  model.integers("g", groups);
  with_node(model, {"a", "b", "s", "", "g"});
  EXPECT_EQ(run_network(model, {unit(3)}).data, (Numbers{10 * (3 - 8), 20 * (4 - 8)}));
}

// Two rows of 20 numbers in two blocks; the indices come with the run.
TEST(OnnxGatherBlockQuantized, LooksUpRowsOfRealNumbers) {
  OnnxModel model;
  std::vector<int> bytes;
  for (int row = 0; row < 2; ++row)
    for (int i = 0; i < 20; i += 2) bytes.push_back((i + row) % 16 | (i + 1 + row) % 16 << 4);
  add_bytes(model, "t", {2, 10}, bytes);
  add_bytes(model, "z", {2, 1}, {0x31, 0x42});
  model.input("i", {1}, onnx::TensorProto_DataType_INT64).initializer("s", {2, 2}, {1, 10, 2, 20});
  model.runtime_node("n", "GatherBlockQuantized", {"t", "i", "s", "z"}, "y").attribute("block_size", 16);
  const Values row = run_network(model.output("y"), {{{1}, {1}, DType::i64}});
  EXPECT_EQ(row.shape, (Shape{1, 20}));
  EXPECT_EQ(row.data[3], 2 * (4 - 2));
  EXPECT_EQ(row.data[19], 20 * (4 - 4));
  EXPECT_EQ(row.data[17], 20 * (2 - 4));
  model.attribute("quantize_axis", 0);
  EXPECT_EQ(
      import_error(model),
      "node 'n' (GatherBlockQuantized): its table u8[2,10] is not one of 4 or 8 bits in blocks of 16 or "
      "more along its last axis");
}

TEST(OnnxMatMulNBits, NamesWhatItCannotTake) {
  OnnxModel model = block_model();
  with_node(model, {"a", "b", "s"});
  model.proto.mutable_graph()->mutable_node(0)->mutable_attribute(0)->set_i(40);
  EXPECT_EQ(
      import_error(model),
      "node 'n' (MatMulNBits): its data [1,20] and weights [2,2,8] are not those of 40 by 2 numbers of 4 "
      "bits in blocks of 16");
}

}  // namespace
}  // namespace lathe
