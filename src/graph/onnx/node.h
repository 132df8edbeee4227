// One ONNX node as the operator families see it while they import it: attributes by name with their defaults,
// the inputs' types and constant values. Keeps protobuf out of the families. The first attribute of a wrong
// type is remembered, so that reading needs no checks; `finish` reports it, and any attribute that nobody has
// read. Lives for one import call only; not thread-safe.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace onnx {
class AttributeProto;
class NodeProto;
class TensorProto;
}  // namespace onnx

namespace lathe {

// A tensor that a node reads; none where an optional one is left out.
struct OnnxOperand {
  const GraphTensor* tensor = nullptr;
  bool is_model_input = false;
  DType declared = DType::f32;    // in the model, whose half floats the graph holds in f32
  std::optional<Code> code = {};  // that the model has it in, where the graph has its numbers
};

class OnnxNode {
 public:
  // `inputs`: the node's inputs in order; their tensors and `proto` must outlive this object.
  // `operator_set`: the version of ONNX's operators that the model is written in; `producer`: the name of the
  // program that wrote the model, where the model has it, which must outlive this object.
  OnnxNode(const onnx::NodeProto& proto, std::vector<OnnxOperand> inputs, int64_t operator_set,
           std::string_view producer = {})
      : proto_(proto), inputs_(std::move(inputs)), operator_set_(operator_set), producer_(producer) {}

  int64_t operator_set() const { return operator_set_; }
  std::string_view producer() const { return producer_; }
  // A name that no other node of the model has: that of its first output that has one.
  std::string place() const;
  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const;
  bool has_input(size_t input) const { return input < inputs_.size() && inputs_[input].tensor != nullptr; }
  // An Error that names the first of these that is left out: of nodes whose other inputs may be.
  Status require_inputs(std::initializer_list<size_t> inputs) const;
  const TensorType& type(size_t input) const { return inputs_[input].tensor->type; }
  DType declared(size_t input) const { return inputs_[input].declared; }
  std::optional<Code> code(size_t input) const { return inputs_[input].code; }
  bool is_constant(size_t input) const { return inputs_[input].tensor->is_constant(); }
  const Shape& shape(size_t input) const { return type(input).shape; }
  // The values of an integer operand that must be a constant.
  Result<Shape> constant_integers(size_t input) const;
  // The same of a shape, which is empty where the operand has no elements.
  Result<Shape> constant_shape(size_t input) const {
    return has_input(input) ? constant_integers(input) : Shape();
  }
  // Integers that older operator sets give as an attribute and newer ones as an operand; `otherwise` where
  // neither is there.
  Result<Shape> integers_of(const char* name, size_t input, const Shape& otherwise);
  // The same of bounds, which models write as the largest integers where they mean none: those beyond 2^53
  // become 2^53, with their sign.
  Result<Shape> bounds_of(const char* name, size_t input);
  // The values of an operand that must be a constant, of any type and shape; those of i64 beyond 2^53
  // rounded.
  Result<std::vector<double>> constant_numbers(size_t input) const;
  // The values of an operand that must be a constant of f32 or f64, of any shape.
  Result<std::vector<double>> constant_reals(size_t input) const;

  // The value of an operand of one element of this type that must be a constant, f64 being as good as f32;
  // `otherwise` where it is left out.
  Result<double> constant_number(size_t input, DType dtype, double otherwise) const;
  Result<double> constant_real(size_t input, double otherwise) const {
    return constant_number(input, DType::f32, otherwise);
  }

  // Whether an operand that must be a constant is true; false where it is left out.
  Result<bool> constant_flag(size_t input) const;

  // Attributes; what is absent has the value of `otherwise`.
  bool has(const char* name) const;
  int64_t integer(const char* name, int64_t otherwise);
  double real(const char* name, double otherwise);
  Shape integers(const char* name, const Shape& otherwise);
  std::vector<double> reals(const char* name);
  std::string text(const char* name, const std::string& otherwise);
  std::vector<std::string> texts(const char* name);

  // An attribute that is a tensor; null if there is none.
  const onnx::TensorProto* tensor(const char* name);

  // An Error if an attribute had a wrong type or was never asked for.
  Status finish() const;

 private:
  // The attribute if it is there and of this type (onnx::AttributeProto_AttributeType).
  const onnx::AttributeProto* attribute(const char* name, int type, const char* type_name);
  // An operand that must be a constant.
  Result<const GraphTensor*> constant(size_t input) const;
  // The values of an integer operand that must be a constant, large ones rounded.
  Result<std::vector<double>> integer_values(size_t input) const;

  const onnx::NodeProto& proto_;
  std::vector<OnnxOperand> inputs_;
  int64_t operator_set_;
  std::string_view producer_;
  std::vector<std::string> read_;
  std::string mistake_;
};

// An Error unless an attribute has the only value that Lathe supports.
Status require_attribute(const char* name, double value, double supported);

}  // namespace lathe
