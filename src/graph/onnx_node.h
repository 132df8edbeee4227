// One ONNX node as the operator families see it while they import it: attributes by name with their defaults,
// the inputs' types and constant values. Keeps protobuf out of the families. The first attribute of a wrong
// type is remembered, so that reading needs no checks; `finish` reports it, and any attribute that nobody has
// read. Lives for one import call only; not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace onnx {
class AttributeProto;
class NodeProto;
}  // namespace onnx

namespace lathe {

class OnnxNode {
 public:
  // `inputs`: the node's inputs in order, null for one that is left out; both must outlive this object.
  OnnxNode(const onnx::NodeProto& proto, std::vector<const GraphTensor*> inputs)
      : proto_(proto), inputs_(std::move(inputs)) {}

  size_t input_count() const { return inputs_.size(); }
  const Shape& shape(size_t input) const { return inputs_[input]->type.shape; }
  // The values of an integer operand that must be a constant.
  Result<Shape> constant_integers(size_t input) const;

  // The value of an operand of one f32 that must be a constant; `otherwise` where it is left out.
  Result<double> constant_real(size_t input, double otherwise) const;

  // Attributes; what is absent has the value of `otherwise`.
  bool has(const char* name) const;
  int64_t integer(const char* name, int64_t otherwise);
  double real(const char* name, double otherwise);
  Shape integers(const char* name, const Shape& otherwise);
  std::string text(const char* name, const std::string& otherwise);

  // An Error if an attribute had a wrong type or was never asked for.
  Status finish() const;

 private:
  // The attribute if it is there and of this type (onnx::AttributeProto_AttributeType).
  const onnx::AttributeProto* attribute(const char* name, int type, const char* type_name);

  const onnx::NodeProto& proto_;
  std::vector<const GraphTensor*> inputs_;
  std::vector<std::string> read_;
  std::string mistake_;
};

// An Error unless an attribute has the only value that Lathe supports.
Status require_attribute(const char* name, double value, double supported);

}  // namespace lathe
