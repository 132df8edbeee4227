// The inputs of an ONNX model that whoever runs it gives, and its outputs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/tensor_type.h"

namespace onnx {
class GraphProto;
class NodeProto;
class ValueInfoProto;
}  // namespace onnx

namespace lathe {

// Without initializers, which before IR version 4 are listed among the inputs too.
std::vector<const onnx::ValueInfoProto*> inputs_of(const onnx::GraphProto& graph);
// An Error for a shape whose name no input has: that is the better explanation of an input that lacks its
// shape.
Status check_given_names(const onnx::GraphProto& graph, const std::map<std::string, Shape>& shapes);

// What a file says of an axis of an input: its extent, or a name that stands for one, or neither.
struct DeclaredExtent {
  std::optional<int64_t> extent = {};
  std::string name = {};
};
struct DeclaredInput {
  std::string name;
  std::vector<DeclaredExtent> shape;
};
// The inputs of the model in a file, in its order.
Result<std::vector<DeclaredInput>> declared_inputs(const std::string& path);

// Whether the model has an output of that name.
bool is_output_of(const onnx::GraphProto& graph, const std::string& name);

// Outputs that are listed more than once get names of their own, "y.2" for "y", and a node that copies them;
// what is noticed is a sentence.
void name_outputs_apart(onnx::GraphProto& graph, std::vector<onnx::NodeProto>& copies,
                        std::vector<std::string>& notes);

// "its output 1, 'm', is read, and Lathe supports the first alone": of an output beyond those supported.
std::string unsupported_output(const onnx::NodeProto& node, int output, size_t supported);

}  // namespace lathe
