#include "graph/onnx/tensor.h"

#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

TEST(OnnxTensor, ATruthIsAnythingButZero) {
  for (const bool is_raw : {true, false}) {
    OnnxModel model;
    model.input("x", {3}, onnx::TensorProto_DataType_INT64).node("c", "Cast", {"t"}, "n");
    model.attribute("to", onnx::TensorProto_DataType_INT64).node("s", "Add", {"x", "n"}, "y").output("y");
    onnx::TensorProto& truths = *model.proto.mutable_graph()->add_initializer();
    truths.set_name("t");
    truths.set_data_type(onnx::TensorProto_DataType_BOOL);
    truths.add_dims(3);
    if (is_raw) truths.set_raw_data(std::string("\x02\0\xff", 3));
    for (const int value : {256, 0, -1})
      if (!is_raw) truths.add_int32_data(value);
    EXPECT_EQ(run_network(model, {{{3}, {0, 0, 0}}}).data, (std::vector<double>{1, 0, 1}));
  }
}

}  // namespace
}  // namespace lathe
