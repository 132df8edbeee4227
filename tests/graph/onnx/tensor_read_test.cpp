// Types and data of ONNX tensors, each by itself; in models: import_test.cpp.
#include <gtest/gtest.h>

#include "graph/onnx/proto.h"
#include "graph/onnx/tensor.h"

namespace lathe {
namespace {

onnx::TensorProto tensor_of(int type, const Shape& shape) {
  onnx::TensorProto tensor;
  tensor.set_data_type(type);
  for (const int64_t extent : shape) tensor.add_dims(extent);
  return tensor;
}

// The values of a constant, or why it is none.
std::string taken(onnx::TensorProto tensor) {
  const Result<OnnxConstant> constant = take_constant(tensor, "initializer 'w'", {});
  if (!constant) return constant.error().message;
  std::string text = to_string(constant->type) + " =";
  for (const double value : values_of({"w", constant->type, constant->data}))
    text += " " + std::to_string(value).substr(0, 6);
  return text;
}

TEST(OnnxTensorTypes, HaveTheirNumbers) {
  const auto named = [](int64_t type) {
    const Result<DType> dtype = dtype_of_onnx(type, "it");
    return dtype ? to_string(*dtype) : dtype.error().message;
  };
  EXPECT_EQ(named(onnx::TensorProto_DataType_FLOAT), "f32");
  EXPECT_EQ(named(onnx::TensorProto_DataType_DOUBLE), "f64");
  EXPECT_EQ(named(onnx::TensorProto_DataType_FLOAT16), "f16");
  EXPECT_EQ(named(onnx::TensorProto_DataType_BFLOAT16), "bf16");
  EXPECT_EQ(named(onnx::TensorProto_DataType_INT8), "i8");
  EXPECT_EQ(named(onnx::TensorProto_DataType_INT32), "i32");
  EXPECT_EQ(named(onnx::TensorProto_DataType_INT64), "i64");
  EXPECT_EQ(named(onnx::TensorProto_DataType_BOOL), "bool");
  EXPECT_EQ(named(onnx::TensorProto_DataType_STRING),
            "it has the element type STRING, which Lathe does not support");
  EXPECT_EQ(named(onnx::TensorProto_DataType_UNDEFINED),
            "it has the element type UNDEFINED, which Lathe does not support");
  EXPECT_EQ(named(-1), "it has the element type number -1, which Lathe does not support");
  EXPECT_EQ(named(int64_t{1} << 40),
            "it has the element type number 1099511627776, which Lathe does not support");
}

TEST(OnnxTensorData, CodesLiePackedInBytes) {
  onnx::TensorProto integers = tensor_of(onnx::TensorProto_DataType_FLOAT, {3});
  integers.set_data_type(22);  // INT4
  integers.set_raw_data(std::string("\x8f\x07", 2));
  EXPECT_EQ(taken(integers), "i8[3] = -1.000 -8.000 7.0000");
  integers.set_data_type(25);  // UINT2
  integers.set_raw_data("\x1b");
  EXPECT_EQ(taken(integers), "u8[3] = 3.0000 2.0000 1.0000");
  integers.set_raw_data("");
  EXPECT_EQ(taken(integers), "initializer 'w' has no data");
  onnx::TensorProto floats = tensor_of(onnx::TensorProto_DataType_FLOAT, {2});
  floats.set_data_type(17);  // FLOAT8E4M3FN
  floats.add_int32_data(0x38);
  floats.add_int32_data(0xc0);
  EXPECT_EQ(taken(floats), "f32[2] = 1.0000 -2.000");
  floats.add_int32_data(0);
  EXPECT_EQ(taken(floats), "initializer 'w' has 3 bytes of data, and u8[2] takes 2");
}

TEST(OnnxTensorData, StandsInTheFieldOfItsType) {
  onnx::TensorProto reals = tensor_of(onnx::TensorProto_DataType_FLOAT, {2});
  reals.add_float_data(0.5F);
  reals.add_float_data(-2);
  EXPECT_EQ(taken(reals), "f32[2] = 0.5000 -2.000");
  onnx::TensorProto wide = tensor_of(onnx::TensorProto_DataType_DOUBLE, {});
  wide.add_double_data(0.1);
  EXPECT_EQ(taken(wide), "f64[] = 0.1000");
  onnx::TensorProto large = tensor_of(onnx::TensorProto_DataType_INT64, {1, 2});
  large.add_int64_data(-7);
  large.add_int64_data(9);
  EXPECT_EQ(taken(large), "i64[1,2] = -7.000 9.0000");
  onnx::TensorProto small = tensor_of(onnx::TensorProto_DataType_INT8, {2});
  small.add_int32_data(-128);
  small.add_int32_data(127);
  EXPECT_EQ(taken(small), "i8[2] = -128.0 127.00");
  onnx::TensorProto half = tensor_of(onnx::TensorProto_DataType_FLOAT16, {2});
  half.add_int32_data(0x3c00);
  half.add_int32_data(0xc000);
  EXPECT_EQ(taken(half), "f16[2] = 1.0000 -2.000");
}

TEST(OnnxTensorData, RawBytesComeFirst) {
  onnx::TensorProto tensor = tensor_of(onnx::TensorProto_DataType_INT32, {1});
  tensor.add_int32_data(5);
  tensor.set_raw_data(std::string("\x07\0\0\0", 4));
  EXPECT_EQ(taken(tensor), "i32[1] = 7.0000");
}

TEST(OnnxTensorData, NamesWhatDoesNotFill) {
  onnx::TensorProto tensor = tensor_of(onnx::TensorProto_DataType_FLOAT, {3});
  EXPECT_EQ(taken(tensor), "initializer 'w' has no data");
  tensor.add_float_data(1);
  EXPECT_EQ(taken(tensor), "initializer 'w' has 4 bytes of data, and f32[3] takes 12");
  // Numbers in the field of another type are none.
  onnx::TensorProto other = tensor_of(onnx::TensorProto_DataType_INT64, {1});
  other.add_float_data(1);
  EXPECT_EQ(taken(other), "initializer 'w' has no data");
  EXPECT_EQ(taken(tensor_of(onnx::TensorProto_DataType_FLOAT, {0})),
            "initializer 'w' has shape [0], and every extent must be at least 1");
}

onnx::ValueInfoProto declared_as(int type, const std::vector<std::string>& dims) {
  onnx::ValueInfoProto info;
  info.set_name("x");
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape();
  for (const std::string& dim : dims) {
    auto& added = *tensor.mutable_shape()->add_dim();
    if (dim.empty()) continue;
    const bool is_number = std::isdigit(static_cast<unsigned char>(dim.back())) != 0;
    is_number ? added.set_dim_value(std::stoll(dim)) : added.set_dim_param(dim);
  }
  return info;
}

std::string input_read(const onnx::ValueInfoProto& info, const Shape* given = nullptr) {
  const Result<TensorType> type = input_type(info, given);
  return type ? to_string(*type) : type.error().message;
}

TEST(OnnxInputType, IsAsItIsDeclaredOrGiven) {
  constexpr int kReal = onnx::TensorProto_DataType_FLOAT;
  const Shape given{4, 5};
  EXPECT_EQ(input_read(declared_as(kReal, {"2", "3"})), "f32[2,3]");
  EXPECT_EQ(input_read(declared_as(kReal, {})), "f32[]");
  EXPECT_EQ(input_read(declared_as(kReal, {"2", "3"}), &given), "f32[4,5]");
  EXPECT_EQ(input_read(declared_as(kReal, {"", "N"}), &given), "f32[4,5]");
  EXPECT_EQ(input_read(declared_as(kReal, {"2"}), &given),
            "input 'x' has 1 dimension, and the shape given for it, [4,5], has 2");
}

TEST(OnnxInputType, NamesDimensionsThatAreOpen) {
  constexpr int kInteger = onnx::TensorProto_DataType_INT64;
  EXPECT_EQ(input_read(declared_as(kInteger, {"2", ""})),
            "input 'x' has the dynamic dimension 1, so its shape must be given, such as --input x=2,1");
  EXPECT_EQ(input_read(declared_as(kInteger, {"batch", "3"})),
            "input 'x' has the dynamic dimension 'batch', so its shape must be given, such as --input x=1,3");
  EXPECT_EQ(input_read(declared_as(kInteger, {"-1", "3"})),
            "input 'x' has the extent -1 in dimension 0, so its shape must be given, such as --input x=1,3");
  onnx::ValueInfoProto shapeless = declared_as(kInteger, {});
  const Shape given{6};
  shapeless.mutable_type()->mutable_tensor_type()->clear_shape();
  EXPECT_EQ(input_read(shapeless),
            "input 'x' has no shape, so its shape must be given, such as --input x=1,3,224,224");
  EXPECT_EQ(input_read(shapeless, &given), "i64[6]");
}

TEST(OnnxDeclaration, ContradictsByElementsRankOrExtent) {
  constexpr int kReal = onnx::TensorProto_DataType_FLOAT;
  const TensorType type{DType::f32, {2, 3}};
  const auto contrary = [&](const onnx::ValueInfoProto& info) {
    return contrary_declaration(info, type).value_or("none");
  };
  EXPECT_EQ(contrary(declared_as(kReal, {"2", "3"})), "none");
  EXPECT_EQ(contrary(declared_as(kReal, {"N", ""})), "none");
  EXPECT_EQ(contrary(declared_as(kReal, {"2", "4"})), "f32[2,4]");
  EXPECT_EQ(contrary(declared_as(kReal, {"2", "", "4"})), "f32[2,?,4]");
  EXPECT_EQ(contrary(declared_as(onnx::TensorProto_DataType_INT64, {"2", "3"})), "i64[2,3]");
  EXPECT_EQ(contrary(declared_as(onnx::TensorProto_DataType_STRING, {"N", "3"})), "STRING[?,3]");
  EXPECT_EQ(contrary(declared_as(onnx::TensorProto_DataType_UNDEFINED, {"2", "3"})), "none");
  EXPECT_EQ(contrary({}), "none");
}

TEST(IsHalf, AreF16AndBf16) {
  for (const DTypeInfo& info : kDTypes)
    EXPECT_EQ(is_half(info.dtype), info.dtype == DType::f16 || info.dtype == DType::bf16) << info.name;
}

}  // namespace
}  // namespace lathe
