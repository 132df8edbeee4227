#include "graph/onnx/external.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/temporary_folder.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "graph/reference.h"

namespace lathe {
namespace {

// A model `net/m.onnx` whose four weights 1, 2, 3, 4 lie in `net/weights` behind 8 other bytes; beside `net`
// lies a file `secret` of the same length.
class OnnxExternalTest : public ::testing::Test {
 protected:
  OnnxExternalTest() {
    std::filesystem::create_directories(folder_ / "net/deep");
    const float weights[] = {-1, -1, 1, 2, 3, 4};
    const std::string bytes(reinterpret_cast<const char*>(weights), sizeof weights);
    for (const char* file : {"net/weights", "net/deep/weights", "secret"}) write(file, bytes);
  }

  void write(const std::string& file, const std::string& bytes) {
    std::ofstream(folder_ / file, std::ios::binary) << bytes;
  }

  using Entries = std::vector<std::pair<std::string, std::string>>;

  Result<Graph> import(const Entries& entries) {
    OnnxModel model;
    model.input("x", {4}).initializer("w", {4}).node("n", "Add", {"x", "w"}, "y").output("y");
    onnx::TensorProto& tensor = *model.proto.mutable_graph()->mutable_initializer(0);
    tensor.clear_raw_data();
    tensor.clear_float_data();
    tensor.set_data_location(onnx::TensorProto_DataLocation_EXTERNAL);
    for (const auto& [key, value] : entries) {
      onnx::StringStringEntryProto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    write("net/m.onnx", model.bytes());
    return import_onnx((folder_ / "net/m.onnx").string());
  }

  std::string refusal(const Entries& entries) {
    const Result<Graph> graph = import(entries);
    return graph ? "imported" : graph.error().message;
  }

  Entries at(const std::string& location) {
    return {{"location", location}, {"offset", "8"}, {"length", "16"}};
  }

  TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
};

TEST_F(OnnxExternalTest, ReadsThePartThatIsNamed) {
  for (const Entries& entries : {at("weights"), at("deep/weights"), at("./weights"),
                                 Entries{{"location", "weights"}, {"offset", "8"}, {"checksum", "any"}}}) {
    const Result<Graph> graph = import(entries);
    ASSERT_TRUE(graph) << graph.error().to_string();
    EXPECT_EQ(evaluate_graph(*graph, std::vector<Values>{{{4}, {0, 0, 0, 0}}})->front().data,
              (std::vector<double>{1, 2, 3, 4}));
  }
}

// As ONNX Runtime does: writers may leave the length out, and put several tensors into a file.
TEST_F(OnnxExternalTest, WithoutALengthItTakesWhatItNeeds) {
  const Result<Graph> graph = import({{"location", "weights"}, {"offset", "4"}});
  ASSERT_TRUE(graph) << graph.error().to_string();
  const std::vector<double> sum =
      evaluate_graph(*graph, std::vector<Values>{{{4}, {0, 0, 0, 0}}})->front().data;
  EXPECT_EQ(std::vector<double>(sum.begin() + 1, sum.end()), (std::vector<double>{1, 2, 3}));
}

TEST_F(OnnxExternalTest, LinksMayLeadAnywhereWithinTheFolder) {
  std::filesystem::create_symlink("deep/weights", folder_ / "net/inner");
  EXPECT_TRUE(import(at("inner")));
  std::filesystem::create_symlink("../secret", folder_ / "net/outer");
  std::filesystem::create_directory_symlink("..", folder_ / "net/up");
  for (const char* location : {"outer", "up/secret"}) {
    EXPECT_EQ(refusal(at(location)), "initializer 'w' keeps its data in the file '" + std::string(location) +
                                         "', which links lead out of the model's folder");
  }
}

// As caches of downloaded models keep them: the model and its data are links to files with other names.
TEST_F(OnnxExternalTest, ALinkToAModelMayHaveLinksToWhereItsFileLies) {
  ASSERT_TRUE(import(at("weights")));
  std::filesystem::create_directories(folder_ / "snapshot");
  std::filesystem::create_symlink("../net/m.onnx", folder_ / "snapshot/model.onnx");
  std::filesystem::create_symlink("../net/weights", folder_ / "snapshot/weights");
  EXPECT_TRUE(import_onnx((folder_ / "snapshot/model.onnx").string()));
  std::filesystem::remove(folder_ / "snapshot/weights");
  std::filesystem::create_symlink("../secret", folder_ / "snapshot/weights");
  EXPECT_FALSE(import_onnx((folder_ / "snapshot/model.onnx").string()));
}

TEST_F(OnnxExternalTest, NamesAPathThatLeavesTheFolder) {
  const std::string absolute = (folder_ / "net/weights").string();
  for (const std::string& location :
       {std::string("../secret"), std::string("deep/../../secret"), absolute, std::string("weights\0", 8)}) {
    EXPECT_EQ(refusal(at(location)), "initializer 'w' keeps its data in the file '" + location +
                                         "', and Lathe reads only files in the model's folder");
  }
}

TEST_F(OnnxExternalTest, NamesAFileThatCannotBeRead) {
  EXPECT_EQ(refusal(at("none")),
            "initializer 'w' keeps its data in the file 'none', which is not in the model's folder");
  EXPECT_EQ(refusal(at("deep")), "initializer 'w' keeps its data in the file 'deep', which is no file");
  EXPECT_EQ(refusal(at("")), "initializer 'w' keeps its data in the file '', which is no file");
  EXPECT_EQ(refusal({}), "initializer 'w' keeps its data in another file and does not say in which");
}

TEST_F(OnnxExternalTest, NamesAPartOfAnotherSize) {
  EXPECT_EQ(refusal({{"location", "weights"}, {"offset", "12"}, {"length", "16"}}),
            "initializer 'w' keeps its data in 16 bytes of the file 'weights' from byte 12 on, and the file "
            "has 24 bytes");
  EXPECT_EQ(refusal({{"location", "weights"}, {"offset", "9223372036854775807"}, {"length", "16"}}),
            "initializer 'w' keeps its data in 16 bytes of the file 'weights' from byte 9223372036854775807 "
            "on, and the file has 24 bytes");
  EXPECT_EQ(refusal({{"location", "weights"}, {"length", "24"}}),
            "initializer 'w' has 24 bytes of data in the file 'weights', and f32[4] takes 16");
  for (const char* number : {"-8", "8 ", "0x8", "", "99999999999999999999"}) {
    EXPECT_EQ(refusal({{"location", "weights"}, {"offset", number}}),
              "initializer 'w' keeps its data in another file, with '" + std::string(number) +
                  "' as its offset, which must be a number of bytes");
  }
}

TEST_F(OnnxExternalTest, AModelInMemoryReadsNoFile) {
  OnnxModel model;
  model.input("x", {4}).initializer("w", {4}).node("n", "Add", {"x", "w"}, "y").output("y");
  onnx::StringStringEntryProto& entry =
      *model.proto.mutable_graph()->mutable_initializer(0)->add_external_data();
  entry.set_key("location");
  entry.set_value("weights");
  EXPECT_EQ(import_onnx_bytes(model.bytes(), "m.onnx").error().message,
            "initializer 'w' keeps its data in the file 'weights', which Lathe does not read there");
}

}  // namespace
}  // namespace lathe
