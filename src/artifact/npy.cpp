#include "artifact/npy.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/read_file.h"
#include "base/text_cursor.h"
#include "base/write_file.h"

namespace lathe {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::array<std::pair<std::string_view, DType>, 7> kTypes = {{{"<f4", DType::f32},
                                                                       {"<f8", DType::f64},
                                                                       {"<f2", DType::f16},
                                                                       {"<i4", DType::i32},
                                                                       {"<i8", DType::i64},
                                                                       {"|i1", DType::i8},
                                                                       {"|b1", DType::boolean}}};

std::optional<DType> dtype_of(std::string_view text) {
  for (const auto& [name, dtype] : kTypes) {
    if (name == text) return dtype;
  }
  return std::nullopt;
}

std::unexpected<Error> bad(const std::string& path, std::string message) {
  return fail(ErrorKind::parse, std::move(message), path);
}

// The head's dictionary, such as {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
struct Head {
  std::string type;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

std::optional<std::string> read_string(TextCursor& cursor) {
  if (!cursor.accept("'")) return std::nullopt;
  std::string text;
  for (char c = cursor.peek(); c != '\''; c = cursor.peek()) {
    if (c == 0 || !cursor.accept(std::string_view(&c, 1))) return std::nullopt;
    text += c;
  }
  cursor.accept("'");
  return text;
}

bool read_shape(TextCursor& cursor, std::vector<int64_t>& shape) {
  if (!cursor.accept("(")) return false;
  while (!cursor.accept(")")) {
    const Result<int64_t> extent = cursor.integer();
    if (!extent || *extent < 0) return false;
    shape.push_back(*extent);
    if (!cursor.accept(",") && cursor.peek() != ')') return false;
  }
  return true;
}

bool read_entry(TextCursor& cursor, Head& head) {
  const std::optional<std::string> key = read_string(cursor);
  if (!key || !cursor.accept(":")) return false;
  if (*key == "shape") return read_shape(cursor, head.shape);
  if (*key == "fortran_order") {
    head.fortran_order = cursor.accept_word("True");
    return head.fortran_order || cursor.accept_word("False");
  }
  const std::optional<std::string> value = read_string(cursor);
  head.type = value.value_or("");
  return *key == "descr" && value.has_value();
}

std::optional<Head> parse_head(std::string_view text) {
  TextCursor cursor(text, "head");
  Head head;
  if (!cursor.accept("{")) return std::nullopt;
  while (!cursor.accept("}")) {
    if (!read_entry(cursor, head)) return std::nullopt;
    if (!cursor.accept(",") && cursor.peek() != '}') return std::nullopt;
  }
  return head;
}

// The number of bytes of so many elements, or nothing where that is no sensible number.
std::optional<size_t> byte_count(const Head& head, DType dtype) {
  int64_t count = lathe::bytes_of(dtype);
  for (const int64_t extent : head.shape) {
    if (__builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  }
  return static_cast<size_t>(count);
}

uint32_t little_endian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

Result<NpyArray> array_of(const std::string& path, const Head& head, std::string_view data) {
  if (head.fortran_order) return bad(path, "the array is in Fortran order, it must be in C order");
  const std::optional<DType> dtype = dtype_of(head.type);
  if (!dtype) {
    return bad(path,
               fmt::format("the elements have type '{}', it must be one of <f4, <f8, <f2, <i4, <i8, |i1, |b1",
                           head.type));
  }
  const std::optional<size_t> bytes = byte_count(head, *dtype);
  if (!bytes || data.size() < *bytes) return bad(path, "the file is cut short");
  NpyArray array{*dtype, head.shape, std::vector<std::byte>(*bytes)};
  if (*bytes > 0) std::memcpy(array.bytes.data(), data.data(), *bytes);
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
  std::string type;
  for (const auto& [name, dtype] : kTypes) {
    if (dtype == array.dtype) type = name;
  }
  if (type.empty()) {
    return fail(ErrorKind::unsupported, fmt::format("a .npy file cannot hold {}", to_string(array.dtype)),
                path);
  }
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
