// Numbers in layouts: each in its place and type, padding beside them.
#include "check/stored.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/text_cursor.h"

namespace lathe::testing {
namespace {

Layout layout_of(const std::string& text) {
  TextCursor cursor(text, "layout");
  return parse_layout(cursor).value();
}

TEST(WriteStored, PutsEachElementInItsPlace) {
  std::vector<float> stored(6);
  write_stored(DType::f32, std::vector<int64_t>{2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6},
               layout_of("[1][0]"), std::as_writable_bytes(std::span(stored)));
  EXPECT_EQ(stored, (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(WriteStored, RoundsToTheType) {
  std::vector<int8_t> stored(2);
  write_stored(DType::i8, std::vector<int64_t>{2}, std::vector<double>{-3, 100}, Layout::row_major(1),
               std::as_writable_bytes(std::span(stored)));
  EXPECT_EQ(stored, (std::vector<int8_t>{-3, 100}));
  std::vector<BFloat16> narrow(1);
  write_stored(DType::bf16, std::vector<int64_t>{1}, std::vector<double>{1 + 0x1p-10}, Layout::row_major(1),
               std::as_writable_bytes(std::span(narrow)));
  EXPECT_EQ(static_cast<double>(narrow[0]), 1);
}

TEST(WriteStored, PaddingIsNoNumber) {
  std::vector<float> stored(8);
  write_stored(DType::f32, std::vector<int64_t>{5}, std::vector<double>{1, 2, 3, 4, 5},
               layout_of("[0/4][0%4]"), std::as_writable_bytes(std::span(stored)));
  EXPECT_EQ(std::vector<float>(stored.begin(), stored.begin() + 5), (std::vector<float>{1, 2, 3, 4, 5}));
  for (size_t i = 5; i < 8; ++i) EXPECT_TRUE(std::isnan(stored[i]));
}

TEST(ReadStored, GivesBackWhatWasWritten) {
  const std::vector<int64_t> shape{5, 3};
  const Layout layout = layout_of("[1][0/4][0%4]");
  for (const DTypeInfo& type : kDTypes) {
    std::vector<double> values(15);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = type.kind == NumberKind::boolean ? static_cast<double>(i % 2) : static_cast<double>(i);
    std::vector<std::byte> stored(static_cast<size_t>(24 * type.bytes));
    write_stored(type.dtype, shape, values, layout, stored);
    std::vector<double> back(15, -1);
    read_stored(type.dtype, shape, stored, layout, back);
    EXPECT_EQ(back, values) << type.name;
  }
}

TEST(StoredTensor, KeepsEveryElementOfEveryType) {
  for (const DTypeInfo& type : kDTypes) {
    HostTensor tensor{type.dtype, {3, 2}, {}};
    for (int i = 0; i < 6; ++i) tensor.values.push_back(type.kind == NumberKind::boolean ? i % 2 : i);
    const StoredTensor stored = store(tensor);
    EXPECT_EQ(stored.bytes.size(), static_cast<size_t>(6 * type.bytes)) << type.name;
    const HostTensor back = load(stored);
    EXPECT_EQ(back.dtype, type.dtype);
    EXPECT_EQ(back.shape, tensor.shape);
    EXPECT_EQ(back.values, tensor.values) << type.name;
  }
}

TEST(StoredTensor, IsWrittenInALayoutAsItsNumbersAre) {
  const std::vector<int64_t> shape{5, 3};
  for (const DTypeInfo& type : kDTypes) {
    HostTensor tensor{type.dtype, shape, {}};
    for (int i = 0; i < 15; ++i) tensor.values.push_back(type.kind == NumberKind::boolean ? i % 2 : i);
    const StoredTensor kept = store(tensor);
    // Row-major, another order, blocks with padding, and blocks in whose place every element stays.
    for (const char* text : {"[0][1]", "[1][0]", "[1][0/4][0%4]", "[0/4][0%4][1]"}) {
      const Layout layout = layout_of(text);
      const auto bytes = static_cast<size_t>(physical_elements(layout, shape) * type.bytes);
      std::vector<std::byte> expected(bytes, std::byte{77});
      std::vector<std::byte> written(bytes, std::byte{88});
      write_stored(type.dtype, shape, tensor.values, layout, expected);
      write_stored(kept, layout, written);
      EXPECT_EQ(written, expected) << type.name << " " << text;
    }
  }
}

}  // namespace
}  // namespace lathe::testing
