// Networks read from files of their models.
#pragma once

#include <fstream>
#include <string>

#include "artifact/compile_model.h"
#include "base/temporary_folder.h"
#include "graph/onnx/models.h"

namespace lathe {

// The path of the model in the folder.
inline std::string model_file(const TemporaryFolder& folder, const OnnxModel& model,
                              const std::string& name = "net.onnx") {
  const std::string path = (folder.path() / name).string();
  std::ofstream(path, std::ios::binary) << model.bytes();
  return path;
}

inline Network network_in(const TemporaryFolder& folder, const OnnxModel& model, const Target& target) {
  return load_network(model_file(folder, model), {}, target).value();
}

// The model with a file that says of its output what it is not, of which reading it makes a note.
inline OnnxModel declared_otherwise(OnnxModel model) {
  auto& tensor = *model.proto.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(onnx::TensorProto_DataType_FLOAT);
  tensor.mutable_shape()->add_dim()->set_dim_value(7);
  return model;
}

// A convolution for which the model's first choice is Winograd: its filters take more than their 147,456
// bytes.
inline OnnxModel wide_conv_model() {
  OnnxModel model;
  model.input("x", {1, 64, 28, 28}).initializer("w", {64, 64, 3, 3});
  model.node("n", "Conv", {"x", "w"}, "y").attribute("pads", {1, 1, 1, 1}).output("y");
  return model;
}

}  // namespace lathe
