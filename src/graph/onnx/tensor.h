// Types and constant tensors of ONNX as those of a Graph.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/onnx/external.h"

namespace onnx {
class NodeProto;
class TensorProto;
class ValueInfoProto;
}  // namespace onnx

namespace lathe {

struct OnnxConstant {
  TensorType type;
  std::shared_ptr<const Bytes> data;
  // In the model its elements are of this code; here they are numbers of the type that holds it.
  std::optional<Code> code = {};
};

// The code that ONNX numbers so, if it is one: a float of 8 or 4 bits, an integer of 4 or 2.
std::optional<Code> code_of_onnx(int64_t type);

// The element type that ONNX numbers so; an Error, of what `label` calls, if Lathe has none.
Result<DType> dtype_of_onnx(int64_t type, const std::string& label);
// Type and data of an initializer or of the value of a Constant node, called `label` in errors. The data is
// moved out of the message, or read from the file beside the model that holds it (graph/onnx/external.h):
// `folders` are the model's. An Error for a type without conversion, or data of another size than the
// shape's.
Result<OnnxConstant> take_constant(onnx::TensorProto& tensor, const std::string& label,
                                   const DataFolders& folders);
// What a node of type Constant gives, moved out of it.
Result<std::unique_ptr<onnx::TensorProto>> take_constant_node(onnx::NodeProto& node);
// f16 and bf16, whose numbers the graph holds in f32 (graph/onnx/half_tensors.h).
bool is_half(DType dtype);
// The declared type of a graph input, of codes that in which memory has them; `given` (may be null) replaces
// its shape. An Error if it is no tensor, has a type without conversion, or leaves a dimension open that
// `given` does not set.
Result<TensorType> input_type(const onnx::ValueInfoProto& input, const Shape* given);
// What the model declares a tensor to be where that contradicts its computed type; an open dimension
// contradicts nothing.
std::optional<std::string> contrary_declaration(const onnx::ValueInfoProto& declared, const TensorType& type);

}  // namespace lathe
