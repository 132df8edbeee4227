// Files of models on the command line: those beside them, and what they declare.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_line.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using ModelFilesTest = CliTest;

TEST_F(ModelFilesTest, DataBesideAModelIsNotOverwritten) {
  OnnxModel model = small_conv_model();
  onnx::TensorProto& weight = *model.proto.mutable_graph()->mutable_initializer(0);
  write("weights.bin", std::string(4 * 2 * 3 * 3 * 4, '\0'));
  weight.clear_raw_data();
  weight.clear_float_data();
  weight.set_data_location(onnx::TensorProto_DataLocation_EXTERNAL);
  onnx::StringStringEntryProto& entry = *weight.add_external_data();
  entry.set_key("location");
  entry.set_value("weights.bin");
  write("net.onnx", model.bytes());
  const std::string same = "--out ./weights.bin and the model's data ";
  EXPECT_EQ(sentence("compile net.onnx --out ."),
            "lathe: " + same + "./weights.bin name the same file, which would be overwritten");
  EXPECT_THAT(sentence("tune net.onnx --trials 1 --records r.db --out ."),
              StartsWith("lathe: ./weights.bin: the file is no artifact's, "));
}

TEST_F(ModelFilesTest, ANoteTellsOfAnOutputThatIsDeclaredOtherwise) {
  OnnxModel model = small_conv_model();
  auto& tensor = *model.proto.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(onnx::TensorProto_DataType_FLOAT);
  tensor.mutable_shape()->add_dim()->set_dim_value(7);
  write("net.onnx", model.bytes());
  const Outcome done = lathe("compile net.onnx --cores 1 --out o");
  EXPECT_EQ(done.status, 0);
  EXPECT_THAT(done.err, HasSubstr("lathe: note: net.onnx: output 'y' is declared as f32[7], and what the "
                                  "model computes is f32[1,4,5,5]\n"));
}

// A number has no axes.
TEST_F(ModelFilesTest, AShapeWithoutExtentsIsThatOfANumber) {
  OnnxModel model;
  model.input("rate", {}).node("n", "Neg", {"rate"}, "y").output("y");
  write("net.onnx", model.bytes());
  EXPECT_EQ(lathe("compile net.onnx --input rate= --cores 1 --out o").status, 0);
  write("conv.onnx", small_conv_model().bytes());
  EXPECT_EQ(sentence("compile conv.onnx --input x= --out o"),
            "lathe: conv.onnx: input 'x' has 4 dimensions, and the shape given for it, [], has 0");
}

}  // namespace
}  // namespace lathe
