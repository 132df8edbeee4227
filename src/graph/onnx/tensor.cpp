#include "graph/onnx/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "graph/onnx/external.h"
#include "graph/onnx/proto.h"

namespace lathe {

namespace {

struct ElementType {
  int onnx;
  DType dtype;
};

constexpr ElementType kElementTypes[] = {
    {onnx::TensorProto_DataType_FLOAT, DType::f32},    {onnx::TensorProto_DataType_DOUBLE, DType::f64},
    {onnx::TensorProto_DataType_FLOAT16, DType::f16},  {onnx::TensorProto_DataType_BFLOAT16, DType::bf16},
    {onnx::TensorProto_DataType_INT64, DType::i64},    {onnx::TensorProto_DataType_INT32, DType::i32},
    {onnx::TensorProto_DataType_INT16, DType::i16},    {onnx::TensorProto_DataType_INT8, DType::i8},
    {onnx::TensorProto_DataType_UINT16, DType::u16},   {onnx::TensorProto_DataType_UINT8, DType::u8},
    {onnx::TensorProto_DataType_UINT64, DType::u64},   {onnx::TensorProto_DataType_UINT32, DType::u32},
    {onnx::TensorProto_DataType_BOOL, DType::boolean},
};

struct CodeNumber {
  int onnx;  // in TensorProto.DataType; the headers of older packages do not name them
  Code code;
};

constexpr CodeNumber kCodeNumbers[] = {
    {17, Code::f8e4m3fn}, {18, Code::f8e4m3fnuz}, {19, Code::f8e5m2}, {20, Code::f8e5m2fnuz},
    {24, Code::f8e8m0},   {23, Code::f4e2m1},     {22, Code::i4},     {21, Code::u4},
    {26, Code::i2},       {25, Code::u2},
};

std::string name_of_onnx_type(int64_t type) {
  const bool fits = type >= 0 && type <= std::numeric_limits<int>::max();
  if (!fits || !onnx::TensorProto_DataType_IsValid(static_cast<int>(type)))
    return fmt::format("number {}", type);
  return onnx::TensorProto_DataType_Name(static_cast<onnx::TensorProto_DataType>(type));
}

// An element of a typed field in its storage form; half floats lie in the low bits of 32-bit integers.
template <class Stored, class Field>
std::shared_ptr<const Bytes> pack(const Field& field) {
  auto bytes = std::make_shared<Bytes>(static_cast<size_t>(field.size()) * sizeof(Stored));
  for (int i = 0; i < field.size(); ++i) {
    const auto element = static_cast<Stored>(field[i]);
    std::memcpy(bytes->data() + static_cast<size_t>(i) * sizeof(Stored), &element, sizeof(Stored));
  }
  return bytes;
}

std::shared_ptr<const Bytes> data_of(const onnx::TensorProto& tensor, DType dtype) {
  if (tensor.has_raw_data()) {
    const auto* begin = reinterpret_cast<const std::byte*>(tensor.raw_data().data());
    return std::make_shared<Bytes>(begin, begin + tensor.raw_data().size());
  }
  if (dtype == DType::f32) return pack<float>(tensor.float_data());
  if (dtype == DType::f64) return pack<double>(tensor.double_data());
  if (dtype == DType::i64) return pack<int64_t>(tensor.int64_data());
  if (dtype == DType::u64) return pack<uint64_t>(tensor.uint64_data());
  if (dtype == DType::u32) return pack<uint32_t>(tensor.uint64_data());
  if (dtype == DType::boolean) return pack<bool>(tensor.int32_data());
  if (is_float(dtype)) return pack<uint16_t>(tensor.int32_data());
  return visit_storage(dtype, [&]<class T>(std::type_identity<T>) { return pack<T>(tensor.int32_data()); });
}

// Whatever a file has in the place of a truth: any bits but 0 are true.
std::shared_ptr<const Bytes> as_truths(const Bytes& bytes) {
  auto truths = std::make_shared<Bytes>(bytes);
  for (std::byte& truth : *truths) truth = std::byte{truth != std::byte{0}};
  return truths;
}

// What may be typed: 1 where any number may stand.
std::string example_of(const onnx::TensorShapeProto_Dimension& dim) {
  return dim.has_dim_value() && dim.dim_value() > 0 ? std::to_string(dim.dim_value()) : "1";
}

// The declared shape, or an Error naming the first open dimension.
Result<Shape> declared_shape(const onnx::TensorShapeProto& declared, const std::string& name) {
  Shape shape;
  for (const auto& dim : declared.dim()) {
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      shape.push_back(dim.dim_value());
      continue;
    }
    std::vector<std::string> dims;
    for (const auto& each : declared.dim()) dims.push_back(example_of(each));
    if (dim.has_dim_value()) {
      return fail(
          ErrorKind::unsupported,
          fmt::format("input '{}' has the extent {} in dimension {}, so its shape must be given, such "
                      "as --input {}={}",
                      name, dim.dim_value(), shape.size(), name, fmt::join(dims, ",")));
    }
    return fail(
        ErrorKind::unsupported,
        fmt::format(
            "input '{}' has the dynamic dimension {}, so its shape must be given, such as --input {}={}",
            name, dim.dim_param().empty() ? std::to_string(shape.size()) : "'" + dim.dim_param() + "'", name,
            fmt::join(dims, ",")));
  }
  return shape;
}

Status check_size(const OnnxConstant& constant, const std::string& label) {
  if (constant.data->empty()) return fail(ErrorKind::invalid_argument, fmt::format("{} has no data", label));
  if (static_cast<int64_t>(constant.data->size()) == bytes_of(constant.type)) return {};
  return fail(ErrorKind::invalid_argument,
              fmt::format("{} has {} bytes of data, and {} takes {}", label, constant.data->size(),
                          to_string(constant.type), bytes_of(constant.type)));
}

// As numbers; a file has as many codes in a byte as it has room for, the first in the lowest bits.
Result<OnnxConstant> take_codes(onnx::TensorProto& tensor, Code code, const Shape& shape,
                                const std::string& label, const DataFolders& folders) {
  const int64_t codes = 8 / bits_of(code);
  OnnxConstant packed{{DType::u8, {(elements_of(shape) + codes - 1) / codes}}, nullptr};
  if (is_external(tensor)) {
    LATHE_TRY(packed.data, read_external(tensor, packed.type, folders, label));
  } else {
    packed.data = data_of(tensor, DType::u8);
    LATHE_TRY_STATUS(check_size(packed, label));
  }
  std::vector<double> numbers;
  for (int64_t i = 0; i < elements_of(shape); ++i) {
    const auto byte = static_cast<unsigned>((*packed.data)[static_cast<size_t>(i / codes)]);
    numbers.push_back(value_of_code(code, static_cast<uint8_t>(byte >> (i % codes * bits_of(code)))));
  }
  return OnnxConstant{{held_in(code), shape}, to_bytes(held_in(code), numbers), code};
}

// The type in which memory has elements that ONNX numbers so.
Result<DType> stored_type(int64_t type, const std::string& label) {
  if (const std::optional<Code> code = code_of_onnx(type)) return stored_in(*code);
  return dtype_of_onnx(type, label);
}

}  // namespace

std::optional<Code> code_of_onnx(int64_t type) {
  for (const CodeNumber& row : kCodeNumbers)
    if (row.onnx == type) return row.code;
  return std::nullopt;
}

Result<DType> dtype_of_onnx(int64_t type, const std::string& label) {
  for (const ElementType& candidate : kElementTypes) {
    if (candidate.onnx == type) return candidate.dtype;
  }
  return fail(ErrorKind::unsupported, fmt::format("{} has the element type {}, which Lathe does not support",
                                                  label, name_of_onnx_type(type)));
}

Result<OnnxConstant> take_constant(onnx::TensorProto& tensor, const std::string& label,
                                   const DataFolders& folders) {
  const std::optional<Code> code = code_of_onnx(tensor.data_type());
  LATHE_TRY(const DType dtype, stored_type(tensor.data_type(), label));
  const Shape shape(tensor.dims().begin(), tensor.dims().end());
  LATHE_TRY_STATUS(check_shape(shape, label));
  if (code) return take_codes(tensor, *code, shape, label, folders);
  if (is_external(tensor)) {
    LATHE_TRY(auto data, read_external(tensor, {dtype, shape}, folders, label));
    return OnnxConstant{{dtype, shape}, dtype == DType::boolean ? as_truths(*data) : std::move(data)};
  }
  OnnxConstant constant{{dtype, shape}, data_of(tensor, dtype)};
  const std::unique_ptr<std::string> taken(tensor.release_raw_data());  // cleared it would keep its memory
  LATHE_TRY_STATUS(check_size(constant, label));
  if (dtype == DType::boolean) constant.data = as_truths(*constant.data);
  return constant;
}

Result<std::unique_ptr<onnx::TensorProto>> take_constant_node(onnx::NodeProto& node) {
  if (node.attribute_size() != 1 || node.output_size() != 1)
    return fail(ErrorKind::invalid_argument, "it has not one attribute and one output");
  onnx::AttributeProto& value = *node.mutable_attribute(0);
  auto numbers = std::make_unique<onnx::TensorProto>();
  if (value.name() == "value" && value.has_t()) {
    *numbers = std::move(*value.mutable_t());
  } else if (value.name() == "value_int" || value.name() == "value_ints") {
    numbers->set_data_type(onnx::TensorProto_DataType_INT64);
    *numbers->mutable_int64_data() = value.ints();
    if (value.name() == "value_int") numbers->add_int64_data(value.i());
  } else if (value.name() == "value_float" || value.name() == "value_floats") {
    numbers->set_data_type(onnx::TensorProto_DataType_FLOAT);
    *numbers->mutable_float_data() = value.floats();
    if (value.name() == "value_float") numbers->add_float_data(value.f());
  } else {
    return fail(ErrorKind::unsupported,
                fmt::format("it has the attribute '{}', which Lathe does not support", value.name()));
  }
  if (value.name().ends_with('s')) numbers->add_dims(value.ints_size() + value.floats_size());
  return numbers;
}

bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

Result<TensorType> input_type(const onnx::ValueInfoProto& input, const Shape* given) {
  if (!input.type().has_tensor_type()) {
    return fail(ErrorKind::unsupported,
                fmt::format("input '{}' is not a tensor, and Lathe supports tensors", input.name()));
  }
  const onnx::TypeProto_Tensor& tensor = input.type().tensor_type();
  LATHE_TRY(const DType dtype, stored_type(tensor.elem_type(), fmt::format("input '{}'", input.name())));
  if (given != nullptr) {
    const int rank = tensor.shape().dim_size();
    if (tensor.has_shape() && rank != static_cast<int>(given->size())) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("input '{}' has {} dimension{}, and the shape given for it, {}, has {}",
                              input.name(), rank, rank == 1 ? "" : "s", to_string(*given), given->size()));
    }
    return TensorType{dtype, *given};
  }
  if (!tensor.has_shape()) {
    return fail(
        ErrorKind::unsupported,
        fmt::format("input '{}' has no shape, so its shape must be given, such as --input {}=1,3,224,224",
                    input.name(), input.name()));
  }
  LATHE_TRY(Shape shape, declared_shape(tensor.shape(), input.name()));
  return TensorType{dtype, std::move(shape)};
}

std::optional<std::string> contrary_declaration(const onnx::ValueInfoProto& declared,
                                                const TensorType& type) {
  if (!declared.type().has_tensor_type()) return std::nullopt;
  const onnx::TypeProto_Tensor& tensor = declared.type().tensor_type();
  const auto dtype = stored_type(tensor.elem_type(), "");
  bool agrees = tensor.elem_type() == onnx::TensorProto_DataType_UNDEFINED || (dtype && *dtype == type.dtype);
  std::string text = dtype ? to_string(*dtype) : name_of_onnx_type(tensor.elem_type());
  if (tensor.has_shape()) {
    const auto& dims = tensor.shape().dim();
    const auto fits = [](const auto& dim, int64_t extent) {
      return !dim.has_dim_value() || dim.dim_value() == extent;
    };
    agrees = agrees && std::ranges::equal(dims, type.shape, fits);
    std::vector<std::string> texts;
    for (const auto& dim : dims) texts.push_back(dim.has_dim_value() ? std::to_string(dim.dim_value()) : "?");
    text += fmt::format("[{}]", fmt::join(texts, ","));
  }
  return agrees ? std::nullopt : std::optional(text);
}

}  // namespace lathe
