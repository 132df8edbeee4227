#include "artifact/open/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/read_file.h"
#include "base/text_cursor.h"
#include "base/write_file.h"

namespace lathe {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

// The order of an element's bytes, then kind and size, such as "<f4". NumPy has one float of 16 bits, IEEE
// 754's; what packages add lies in its files as bytes without a meaning.
std::string npy_type(const DTypeInfo& info) {
  const bool is_added = is_float(info.dtype) && info.bytes == 2 && info.digits != 11;
  char kind = 'f';
  if (is_added) kind = 'V';
  if (info.kind == NumberKind::boolean) kind = 'b';
  if (is_integer(info.dtype)) kind = is_unsigned(info.dtype) ? 'u' : 'i';
  return fmt::format("{}{}{}", info.bytes == 1 ? '|' : '<', kind, info.bytes);
}

// Of a text such as ">f4", whatever the order of bytes that it begins with.
std::optional<DType> dtype_of(std::string_view text) {
  if (text.size() < 2 || std::string_view("<>=|").find(text[0]) == std::string_view::npos)
    return std::nullopt;
  for (const DTypeInfo& info : kDTypes) {
    if (npy_type(info).substr(1) == text.substr(1)) return info.dtype;
  }
  return std::nullopt;
}

std::unexpected<Error> bad(const std::string& path, std::string message) {
  return fail(ErrorKind::parse, std::move(message), path);
}

// The head's dictionary, such as {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
struct Head {
  std::optional<std::string> type;
  std::optional<bool> fortran_order;
  std::optional<std::vector<int64_t>> shape;

  bool is_whole() const { return type && fortran_order && shape; }
};

std::optional<std::string> read_string(TextCursor& cursor) {
  const std::string_view quote = cursor.peek() == '"' ? "\"" : "'";
  if (!cursor.accept(quote)) return std::nullopt;
  std::string text;
  for (char c = cursor.peek(); c != quote[0]; c = cursor.peek()) {
    if (c == 0 || !cursor.accept(std::string_view(&c, 1))) return std::nullopt;
    text += c;
  }
  cursor.accept(quote);
  return text;
}

std::optional<std::vector<int64_t>> read_shape(TextCursor& cursor) {
  if (!cursor.accept("(")) return std::nullopt;
  std::vector<int64_t> shape;
  while (!cursor.accept(")")) {
    const Result<int64_t> extent = cursor.integer();
    if (!extent || *extent < 0) return std::nullopt;
    cursor.accept("L");  // NumPy wrote long integers so while it ran on Python 2
    shape.push_back(*extent);
    if (!cursor.accept(",") && cursor.peek() != ')') return std::nullopt;
  }
  return shape;
}

std::optional<bool> read_truth(TextCursor& cursor) {
  if (cursor.accept_word("True")) return true;
  if (cursor.accept_word("False")) return false;
  return std::nullopt;
}

// Each key once.
bool read_entry(TextCursor& cursor, Head& head) {
  const std::optional<std::string> key = read_string(cursor);
  if (!key || !cursor.accept(":")) return false;
  if (*key == "shape" && !head.shape) return (head.shape = read_shape(cursor)).has_value();
  if (*key == "fortran_order" && !head.fortran_order)
    return (head.fortran_order = read_truth(cursor)).has_value();
  return *key == "descr" && !head.type && (head.type = read_string(cursor)).has_value();
}

std::optional<Head> parse_head(std::string_view text) {
  TextCursor cursor(text, "head");
  Head head;
  if (!cursor.accept("{")) return std::nullopt;
  while (!cursor.accept("}")) {
    if (!read_entry(cursor, head)) return std::nullopt;
    if (!cursor.accept(",") && cursor.peek() != '}') return std::nullopt;
  }
  return head.is_whole() && cursor.at_end() ? std::optional(head) : std::nullopt;
}

// The number of bytes of so many elements, or nothing where that is no sensible number.
std::optional<size_t> byte_count(const std::vector<int64_t>& shape, DType dtype) {
  int64_t count = lathe::bytes_of(dtype);
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  }
  return static_cast<size_t>(count);
}

uint32_t little_endian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

void reverse_bytes(std::vector<std::byte>& bytes, size_t element) {
  for (auto at = bytes.begin(); at != bytes.end(); at += static_cast<std::ptrdiff_t>(element))
    std::reverse(at, at + static_cast<std::ptrdiff_t>(element));
}

// Elements of so many bytes that lie in Fortran order (the first index runs fastest), in C order.
std::vector<std::byte> in_c_order(const std::vector<std::byte>& bytes, const std::vector<int64_t>& shape,
                                  size_t element) {
  std::vector<std::byte> result(bytes.size());
  std::vector<int64_t> index(shape.size(), 0);
  std::vector<size_t> stride(shape.size(), element);
  for (size_t d = 1; d < shape.size(); ++d) stride[d] = stride[d - 1] * static_cast<size_t>(shape[d - 1]);
  size_t from = 0;
  for (size_t to = 0; to < bytes.size(); to += element) {
    std::memcpy(result.data() + to, bytes.data() + from, element);
    for (size_t d = shape.size(); d-- > 0;) {
      from += stride[d];
      if (++index[d] < shape[d]) break;
      from -= stride[d] * static_cast<size_t>(shape[d]);
      index[d] = 0;
    }
  }
  return result;
}

Result<NpyArray> array_of(const std::string& path, const Head& head, std::string_view data) {
  const std::optional<DType> dtype = dtype_of(*head.type);
  if (!dtype) {
    std::set<std::string> known;
    for (const DTypeInfo& info : kDTypes) known.insert(npy_type(info).substr(1));
    return bad(path, fmt::format("the elements have type '{}', it must be one of {} behind one of <, >, =, |",
                                 *head.type, fmt::join(known, ", ")));
  }
  const std::optional<size_t> bytes = byte_count(*head.shape, *dtype);
  if (!bytes || data.size() < *bytes) return bad(path, "the file is cut short");
  NpyArray array{*dtype, *head.shape, std::vector<std::byte>(*bytes)};
  if (*bytes > 0) std::memcpy(array.bytes.data(), data.data(), *bytes);
  const auto element = static_cast<size_t>(bytes_of(*dtype));
  if (head.type->starts_with('>')) reverse_bytes(array.bytes, element);
  if (*head.fortran_order && array.shape.size() > 1)
    array.bytes = in_c_order(array.bytes, array.shape, element);
  return array;
}

}  // namespace

Result<NpyArray> read_npy(const std::string& path) {
  LATHE_TRY(const std::string file, read_file(path));
  const std::string_view text = file;
  if (text.size() < 10 || !text.starts_with(kMagic)) return bad(path, "this is not a .npy file");
  const int version = static_cast<unsigned char>(text[6]);
  if (version < 1 || version > 3)
    return bad(path, fmt::format("version {} of the .npy format is unknown", version));
  const size_t length_bytes = version == 1 ? 2 : 4;
  if (text.size() < 8 + length_bytes) return bad(path, "the file is cut short");
  const size_t begin = 8 + length_bytes;
  const size_t length = little_endian(text.substr(8, length_bytes));
  if (text.size() - begin < length) return bad(path, "the file is cut short");
  const std::optional<Head> head = parse_head(text.substr(begin, length));
  if (!head) return bad(path, "the head of the .npy file is no description of an array");
  return array_of(path, *head, text.substr(begin + length));
}

Status write_npy(const std::string& path, const NpyArray& array) {
  const std::string type = npy_type(info_of(array.dtype));
  std::string shape;
  for (const int64_t extent : array.shape) shape += fmt::format("{}, ", extent);
  std::string head = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  // The data begins at a multiple of 64.
  head.resize((kMagic.size() + 4 + head.size() + 1 + 63) / 64 * 64 - kMagic.size() - 4 - 1, ' ');
  head += '\n';
  if (head.size() > std::numeric_limits<uint16_t>::max()) {
    return fail(ErrorKind::unsupported, "the array has too many dimensions for a .npy file", path);
  }
  const char version_and_length[] = {1, 0, static_cast<char>(head.size() & 0xff),
                                     static_cast<char>(head.size() >> 8)};
  return write_file(path, {kMagic,
                           std::string_view(version_and_length, sizeof(version_and_length)),
                           head,
                           {reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()}});
}

}  // namespace lathe
