// Bytes and models: what is told apart, with its sentence.
#include "graph/onnx/file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_folder.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

std::string parse_refusal(const std::string& bytes) {
  const auto model = parse_model(bytes, "m.onnx");
  return model ? "parsed" : model.error().to_string();
}

TEST(OnnxFile, ReadsAllBytes) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "m.onnx").string();
  const std::string bytes = small_conv_model().bytes() + std::string("\0\n\r\xff", 4);
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(read_model_file(path).value(), bytes);
}

TEST(OnnxFile, NamesAPathThatIsNoFile) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "none.onnx").string();
  EXPECT_EQ(read_model_file(path).error().to_string(), path + ": there is no such file");
  EXPECT_EQ(read_model_file(path).error().kind, ErrorKind::not_found);
  EXPECT_EQ(read_model_file("/dev/zero").error().to_string(),
            "/dev/zero: this is a device, which may have no end, and not a file");
  EXPECT_EQ(read_model_file(folder.path().string()).error().to_string(),
            folder.path().string() + ": it is a folder, not a model");
  EXPECT_EQ(read_model_file(folder.path().string()).error().kind, ErrorKind::io);
  EXPECT_EQ(read_model_file("").error().kind, ErrorKind::not_found);
}

TEST(OnnxFile, BeyondTwoGigabytesIsToldBeforeItIsRead) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "m.onnx").string();
  std::ofstream(path).put('x');
  std::filesystem::resize_file(path, uintmax_t{1} << 31);  // a hole, which takes no room
  EXPECT_EQ(read_model_file(path).error().to_string(),
            path +
                ": it has 2147483648 bytes, and an ONNX file has at most 2147483647: models with more keep "
                "their tensors in files beside it");
}

TEST(OnnxFile, AModelKeepsWhatItHolds) {
  const auto model = parse_model(small_conv_model().bytes(), "m.onnx");
  ASSERT_TRUE(model) << model.error().to_string();
  EXPECT_EQ((*model)->SerializeAsString(), small_conv_model().bytes());
}

TEST(OnnxFile, AModelHasAVersionAndAGraph) {
  OnnxModel model = small_conv_model();
  model.proto.clear_ir_version();
  EXPECT_EQ(parse_refusal(model.bytes()), "m.onnx: it is not an ONNX model");
  model.proto.set_ir_version(8);
  EXPECT_EQ(parse_refusal(model.bytes()), "parsed");
  model.proto.clear_graph();
  EXPECT_EQ(parse_refusal(model.bytes()), "m.onnx: the ONNX model has no graph; it may be truncated");
  EXPECT_EQ(parse_model("", "m.onnx").error().kind, ErrorKind::parse);
}

// Wherever a model ends too early it is told that it does, or what is missing behind the cut.
TEST(OnnxFile, APartOfAModelIsToldAsSuch) {
  const std::string whole = small_conv_model().bytes();
  size_t truncated = 0;
  for (size_t size = 1; size < whole.size(); ++size) {
    const std::string refusal = parse_refusal(whole.substr(0, size));
    if (refusal == "m.onnx: the ONNX model is truncated") {
      ++truncated;
      continue;
    }
    EXPECT_TRUE(refusal == "m.onnx: the ONNX model has no graph; it may be truncated" || refusal == "parsed")
        << size << ": " << refusal;
  }
  EXPECT_GE(truncated, whole.size() - 4);
}

TEST(OnnxFile, TellsOtherFilesFromCutOnes) {
  for (const std::string text : {"{\"a\": 1}", "import onnx\n",
                                 "\x7f"
                                 "ELF\x02\x01\x01",
                                 "\x93NUMPY"})
    EXPECT_EQ(parse_refusal(text), "m.onnx: it is not an ONNX model") << text;
}

// A model whose operator sets are these, a domain and a version each.
std::string sets_refusal(const std::vector<std::pair<std::string, int64_t>>& sets) {
  OnnxModel model = small_conv_model();
  model.proto.clear_opset_import();
  for (const auto& [domain, version] : sets) {
    onnx::OperatorSetIdProto& set = *model.proto.add_opset_import();
    if (!domain.empty()) set.set_domain(domain);
    set.set_version(version);
  }
  return parse_refusal(model.bytes());
}

TEST(OnnxFile, KnowsTheOperatorSetsOfOnnx) {
  EXPECT_EQ(sets_refusal({{"", 1}}), "parsed");
  EXPECT_EQ(sets_refusal({{"ai.onnx", 28}}), "parsed");
  EXPECT_EQ(sets_refusal({{"", 0}}),
            "m.onnx: the model uses ONNX operator set 0, and Lathe supports 1 to 28");
  EXPECT_EQ(sets_refusal({{"", 29}}),
            "m.onnx: the model uses ONNX operator set 29, and Lathe supports 1 to 28");
  EXPECT_EQ(sets_refusal({{"", -1}}),
            "m.onnx: the model uses ONNX operator set -1, and Lathe supports 1 to 28");
}

TEST(OnnxFile, OperatorSetsOfOthersSayNothing) {
  EXPECT_EQ(sets_refusal({{"com.acme", 99}, {"", 17}}), "parsed");
  EXPECT_EQ(sets_refusal({{"com.acme", 17}}), "parsed");
  EXPECT_EQ(sets_refusal({{"", 17}, {"ai.onnx", 17}}), "parsed");
  EXPECT_EQ(sets_refusal({{"", 17}, {"ai.onnx", 18}}),
            "m.onnx: the model uses two ONNX operator sets, 17 and 18");
}

}  // namespace
}  // namespace lathe
