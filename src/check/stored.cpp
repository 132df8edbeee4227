#include "check/stored.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace lathe {

namespace {

template <class T>
T stored_at(std::span<const std::byte> from, size_t element) {
  T value;
  std::memcpy(&value, from.data() + element * sizeof(T), sizeof(T));
  return value;
}

template <class T>
T padding_of() {
  if constexpr (std::is_integral_v<T>)
    return 0;
  else
    return static_cast<T>(NAN);
}

// Whether each element lies at its row-major position: no table of offsets is needed, as long as the tensor.
bool is_plain(const Layout& layout, std::span<const int64_t> shape, size_t elements, size_t places) {
  return places == elements && is_row_major(layout, shape);
}

// Writes what `read` gives for each of so many row-major positions where the layout puts it.
template <class T, class Read>
void write_in_layout(std::span<const int64_t> shape, size_t elements, const Layout& layout,
                     std::span<std::byte> to, const Read& read) {
  const auto store = [&](size_t offset, T value) {
    std::memcpy(to.data() + offset * sizeof(T), &value, sizeof(T));
  };
  const size_t places = to.size() / sizeof(T);
  if (is_plain(layout, shape, elements, places)) {
    for (size_t i = 0; i < elements; ++i) store(i, read(i));
    return;
  }
  for (size_t i = 0; places > elements && i < places; ++i) store(i, padding_of<T>());
  for_each_offset_nearby(layout, shape, [&](int64_t position, int64_t offset) {
    store(static_cast<size_t>(offset), read(static_cast<size_t>(position)));
  });
}

}  // namespace

void write_stored(DType dtype, std::span<const int64_t> shape, std::span<const double> values,
                  const Layout& layout, std::span<std::byte> to) {
  visit_storage(dtype, [&]<class T>(std::type_identity<T>) {
    write_in_layout<T>(shape, values.size(), layout, to,
                       [&](size_t position) { return element_of<T>(values[position]); });
  });
}

void write_stored(const StoredTensor& tensor, const Layout& layout, std::span<std::byte> to) {
  if (to.size() == tensor.bytes.size() && is_row_major(layout, tensor.shape)) {
    std::ranges::copy(tensor.bytes, to.begin());
    return;
  }
  visit_storage(tensor.dtype, [&]<class T>(std::type_identity<T>) {
    write_in_layout<T>(tensor.shape, tensor.bytes.size() / sizeof(T), layout, to,
                       [&](size_t position) { return stored_at<T>(tensor.bytes, position); });
  });
}

StoredTensor store(const HostTensor& tensor) {
  StoredTensor stored{tensor.dtype, tensor.shape, {}};
  stored.bytes.resize(tensor.values.size() * static_cast<size_t>(bytes_of(tensor.dtype)));
  write_stored(tensor.dtype, tensor.shape, tensor.values, Layout::row_major(tensor.shape.size()),
               stored.bytes);
  return stored;
}

HostTensor load(const StoredTensor& tensor) {
  HostTensor loaded{tensor.dtype, tensor.shape, {}};
  loaded.values.resize(tensor.bytes.size() / static_cast<size_t>(bytes_of(tensor.dtype)));
  read_stored(tensor.dtype, tensor.shape, tensor.bytes, Layout::row_major(tensor.shape.size()),
              loaded.values);
  return loaded;
}

void read_stored(DType dtype, std::span<const int64_t> shape, std::span<const std::byte> from,
                 const Layout& layout, std::span<double> values) {
  visit_storage(dtype, [&]<class T>(std::type_identity<T>) {
    const auto take = [&](int64_t position, int64_t offset) {
      values[static_cast<size_t>(position)] =
          static_cast<double>(stored_at<T>(from, static_cast<size_t>(offset)));
    };
    if (!is_plain(layout, shape, values.size(), from.size() / sizeof(T)))
      return for_each_offset_nearby(layout, shape, take);
    for (int64_t i = 0; i < std::ssize(values); ++i) take(i, i);
  });
}

}  // namespace lathe
