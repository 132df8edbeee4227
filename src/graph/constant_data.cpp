// Constant bytes to numbers and back.
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/check.h"
#include "graph/graph.h"
#include "graph/half_float.h"

namespace lathe {

namespace {

template <class T>
std::vector<double> decode(const Bytes& bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  if (!elements.empty()) std::memcpy(elements.data(), bytes.data(), bytes.size());
  return std::vector<double>(elements.begin(), elements.end());
}

// Integers take the nearest value that they can hold, and 0 for what is no number.
template <class T>
T element_of(double value) {
  if constexpr (std::is_integral_v<T>) {
    constexpr auto kLeast = static_cast<double>(std::numeric_limits<T>::min());
    if (std::isnan(value)) return 0;
    if (value <= kLeast) return std::numeric_limits<T>::min();
    if (value >= -kLeast) return std::numeric_limits<T>::max();
  }
  return static_cast<T>(value);
}

template <class T>
std::shared_ptr<const Bytes> encode(std::span<const double> values) {
  auto bytes = std::make_shared<Bytes>(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    const T element = element_of<T>(values[i]);
    std::memcpy(bytes->data() + i * sizeof(T), &element, sizeof(T));
  }
  return bytes;
}

std::vector<double> decode_halves(const HalfFormat& format, const Bytes& bytes) {
  std::vector<double> values(bytes.size() / sizeof(uint16_t));
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * sizeof(bits), sizeof(bits));
    values[i] = value_of_half(format, bits);
  }
  return values;
}

std::shared_ptr<const Bytes> encode_halves(const HalfFormat& format, std::span<const double> values) {
  auto bytes = std::make_shared<Bytes>(values.size() * sizeof(uint16_t));
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t bits = half_of_value(format, values[i]);
    std::memcpy(bytes->data() + i * sizeof(bits), &bits, sizeof(bits));
  }
  return bytes;
}

}  // namespace

std::vector<double> values_of(const GraphTensor& constant) {
  LATHE_CHECK(constant.is_constant());
  switch (constant.type.dtype) {
    case DType::boolean:
    case DType::i8: return decode<int8_t>(*constant.data);
    case DType::i32: return decode<int32_t>(*constant.data);
    case DType::i64: return decode<int64_t>(*constant.data);
    case DType::f32: return decode<float>(*constant.data);
    case DType::f64: return decode<double>(*constant.data);
    case DType::f16: return decode_halves(kF16, *constant.data);
    case DType::bf16: return decode_halves(kBf16, *constant.data);
  }
  return {};
}

std::shared_ptr<const Bytes> to_bytes(DType dtype, std::span<const double> values) {
  switch (dtype) {
    case DType::boolean:
    case DType::i8: return encode<int8_t>(values);
    case DType::i32: return encode<int32_t>(values);
    case DType::i64: return encode<int64_t>(values);
    case DType::f32: return encode<float>(values);
    case DType::f64: return encode<double>(values);
    case DType::f16: return encode_halves(kF16, values);
    case DType::bf16: return encode_halves(kBf16, values);
  }
  return nullptr;
}

}  // namespace lathe
