// Constant bytes to numbers and back.
#include <cstring>
#include <type_traits>

#include "base/check.h"
#include "graph/graph.h"

namespace lathe {

namespace {

template <class T>
std::vector<double> decode(const Bytes& bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  if (!elements.empty()) std::memcpy(elements.data(), bytes.data(), bytes.size());
  return std::vector<double>(elements.begin(), elements.end());
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

}  // namespace

std::vector<double> values_of(const GraphTensor& constant) {
  LATHE_CHECK(constant.is_constant());
  return visit_storage(constant.type.dtype,
                       [&]<class T>(std::type_identity<T>) { return decode<T>(*constant.data); });
}

std::shared_ptr<const Bytes> to_bytes(DType dtype, std::span<const double> values) {
  return visit_storage(dtype, [&]<class T>(std::type_identity<T>) { return encode<T>(values); });
}

}  // namespace lathe
