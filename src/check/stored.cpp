#include "check/stored.h"

#include <cmath>
#include <cstring>

#include "loop/host_tensor.h"

namespace lathe {

void write_stored(DType dtype, std::span<const int64_t> shape, std::span<const double> values,
                  const Layout& layout, std::span<std::byte> to) {
  visit_storage(dtype, [&]<class T>(std::type_identity<T>) {
    const auto store = [&](size_t offset, double value) {
      const T stored = static_cast<T>(value);
      std::memcpy(to.data() + offset * sizeof(T), &stored, sizeof(T));
    };
    const size_t elements = to.size() / sizeof(T);
    for (size_t i = 0; elements > values.size() && i < elements; ++i) store(i, is_float(dtype) ? NAN : 0.0);
    for_each_offset(layout, shape, [&](int64_t position, int64_t offset) {
      store(static_cast<size_t>(offset), values[static_cast<size_t>(position)]);
    });
  });
}

void read_stored(DType dtype, std::span<const int64_t> shape, std::span<const std::byte> from,
                 const Layout& layout, std::span<double> values) {
  visit_storage(dtype, [&]<class T>(std::type_identity<T>) {
    for_each_offset(layout, shape, [&](int64_t position, int64_t offset) {
      T stored;
      std::memcpy(&stored, from.data() + static_cast<size_t>(offset) * sizeof(T), sizeof(T));
      values[static_cast<size_t>(position)] = static_cast<double>(stored);
    });
  });
}

}  // namespace lathe
