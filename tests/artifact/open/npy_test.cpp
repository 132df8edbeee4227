#include "artifact/open/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "base/temporary_folder.h"

namespace lathe {
namespace {

// A file in the test's folder with these bytes.
class NpyTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  std::string file(const std::string& bytes) const {
    std::ofstream(path("x.npy"), std::ios::binary) << bytes;
    return path("x.npy");
  }

  // A version 1 file with this head.
  static std::string with_head(const std::string& head, const std::string& data) {
    const auto length = static_cast<char>(head.size());
    return std::string("\x93NUMPY\x01\x00", 8) + length + '\0' + head + data;
  }

  std::string message(const std::string& bytes) const {
    const Result<NpyArray> array = read_npy(file(bytes));
    return array ? "no error" : array.error().message;
  }

  TemporaryFolder folder_;
};

TEST_F(NpyTest, WhatIsWrittenIsRead) {
  for (const auto& shape : {std::vector<int64_t>{}, {3}, {2, 3}, {2, 0, 3}}) {
    NpyArray array{DType::i32, shape, {}};
    int64_t bytes = 4;
    for (const int64_t extent : shape) bytes *= extent;
    for (int64_t i = 0; i < bytes; ++i) array.bytes.push_back(static_cast<std::byte>(i * 37));
    ASSERT_TRUE(write_npy(path("y.npy"), array).has_value());
    const Result<NpyArray> read = read_npy(path("y.npy"));
    ASSERT_TRUE(read.has_value()) << read.error().to_string();
    EXPECT_EQ(read->dtype, DType::i32);
    EXPECT_EQ(read->shape, shape);
    EXPECT_EQ(read->bytes, array.bytes);
  }
}

TEST_F(NpyTest, ReadsVersionsTwoAndThree) {
  const std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  const auto length = static_cast<char>(head.size());
  for (const char version : {'\2', '\3'}) {
    const std::string begin = std::string("\x93NUMPY") + version + '\0' + length + std::string(3, '\0');
    const Result<NpyArray> array = read_npy(file(begin + head + std::string(8, 'a')));
    ASSERT_TRUE(array.has_value()) << array.error().to_string();
    EXPECT_EQ(array->shape, (std::vector<int64_t>{2}));
    EXPECT_EQ(array->bytes.size(), 8u);
  }
}

// The bytes 0, 1 .. of so many elements.
std::string counted(int count, int element, bool big_endian) {
  std::string bytes;
  for (int i = 0; i < count; ++i) {
    for (int b = 0; b < element; ++b) bytes += static_cast<char>(b == (big_endian ? element - 1 : 0) ? i : 0);
  }
  return bytes;
}

TEST_F(NpyTest, EitherOrderOfIndicesAndOfBytesIsRead) {
  // a[i, j, k] of shape (2, 3, 2) lies at i + 2 j + 6 k.
  const std::vector<int32_t> expected = {0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11};
  for (const bool big_endian : {false, true}) {
    std::string head = "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3, 2), }\n";
    if (big_endian) head.replace(head.find('<'), 1, ">");
    const Result<NpyArray> array = read_npy(file(with_head(head, counted(12, 4, big_endian))));
    ASSERT_TRUE(array.has_value()) << array.error().to_string();
    EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 3, 2}));
    std::vector<int32_t> values(12);
    std::memcpy(values.data(), array->bytes.data(), array->bytes.size());
    EXPECT_EQ(values, expected) << big_endian;
  }
  const Result<NpyArray> empty =
      read_npy(file(with_head("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 0, 3)}", "")));
  ASSERT_TRUE(empty.has_value()) << empty.error().to_string();
  EXPECT_TRUE(empty->bytes.empty());
}

TEST_F(NpyTest, HeadsAsOtherProgramsWriteThemAreRead) {
  for (const char* head : {R"({"descr": "<i4", "fortran_order": False, "shape": (3L,)})",
                           "{ 'shape':(3 , ),'fortran_order':False,'descr':'=i4' }  \n"}) {
    const Result<NpyArray> array = read_npy(file(with_head(head, counted(3, 4, false))));
    ASSERT_TRUE(array.has_value()) << array.error().to_string();
    EXPECT_EQ(array->shape, (std::vector<int64_t>{3})) << head;
    EXPECT_EQ(array->dtype, DType::i32) << head;
  }
}

TEST_F(NpyTest, ErrorsSayWhatIsWrong) {
  const std::string data(16, 'a');
  EXPECT_EQ(read_npy(path("none.npy")).error().to_string(),
            path("none.npy") + ": there is no such file, or it cannot be read");
  EXPECT_EQ(message("hello, world"), "this is not a .npy file");
  EXPECT_EQ(message(std::string("\x93NUMPY\x09\x00", 8) + data), "version 9 of the .npy format is unknown");
  EXPECT_EQ(
      message(with_head("{'descr': '<c8', 'fortran_order': False, 'shape': (2, 2)}", data)),
      "the elements have type '<c8', it must be one of V2, b1, f2, f4, f8, i1, i2, i4, i8, u1, u2, u4, u8 "
      "behind one of <, >, =, |");
  EXPECT_EQ(message(with_head("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", data)),
            "the file is cut short");
  EXPECT_EQ(
      message(with_head("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", data)),
      "the file is cut short");
  for (const char* head : {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 2)}",
                           "{'descr': '<f4', 'fortran_order': False}", "{'descr': '<f4', 'shape': (2, 2)}",
                           "{'fortran_order': False, 'shape': (2, 2)}",
                           "{'descr': '<f4', 'descr': '<i4', 'fortran_order': False, 'shape': (2, 2)}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)} more"}) {
    EXPECT_EQ(message(with_head(head, data)), "the head of the .npy file is no description of an array");
  }
}

}  // namespace
}  // namespace lathe
