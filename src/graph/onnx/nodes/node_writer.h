// Plain nodes in place of one that has bodies or stands for several: written by their ONNX names, and added
// by the import one after another.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace onnx {
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace lathe {

class Sequences;  // graph/onnx/nodes/sequences.h

// The import around a node, as far as what stands in its place needs it.
struct BodyImport {
  // The tensor of that name; null where no node before gives it.
  std::function<const GraphTensor*(const std::string& name)> find;
  // Adds a node of the body.
  std::function<Status(onnx::NodeProto& node)> add;
  // The model's sequences so far.
  Sequences& sequences;
  // Adds an operator that ONNX has no node for.
  std::function<Status(GraphOp op, const std::vector<std::string>& inputs, const std::string& output)>
      add_operator;
  // Lets the model be run only where a bool of one element is that truth; false where no range of an input's
  // values makes it so.
  std::function<bool(const std::string& condition, bool truth)> require;
};

class NodeWriter {
 public:
  using Names = std::vector<std::string>;

  // All must outlive the object. `nodes`: how many nodes the model's bodies came to so far.
  NodeWriter(const onnx::NodeProto& node, const BodyImport& import, size_t& nodes);

  const onnx::NodeProto& node() const { return node_; }
  // What names of tensors start with that are the node's own: its first output that has a name.
  const std::string& place() const { return place_; }
  const GraphTensor* find(const std::string& name) const { return import_.find(name); }
  Sequences& sequences() const { return import_.sequences; }
  // The same of a tensor that must be there.
  Result<const GraphTensor*> tensor(const std::string& name) const;
  // The node's body of that attribute.
  Result<const onnx::GraphProto*> body(const char* attribute) const;
  // The one value of a constant; none where it is computed when the model runs.
  Result<std::optional<double>> known_number(const std::string& name) const;

  // An Error beyond kMostNodesOfBodies.
  Status add(onnx::NodeProto& node);
  Status add_all(std::vector<onnx::NodeProto> nodes);
  Status add_operator(GraphOp op, const Names& inputs, const std::string& output);
  // As BodyImport has it.
  bool require(const std::string& condition, bool truth) const { return import_.require(condition, truth); }
  // A node to which attributes may be given before it is added; of the node's own output it has its name.
  onnx::NodeProto plain(const char* type, const Names& inputs, const std::string& output) const;
  static void set_integer(onnx::NodeProto& node, const char* name, int64_t value);
  Status add_plain(const char* type, const Names& inputs, const std::string& output);
  // The same with one attribute.
  Status add_plain(const char* type, const Names& inputs, const std::string& output, const char* attribute,
                   int64_t value);
  // Of bool or i64.
  Status add_constant(const std::string& name, DType dtype, const Shape& values, const Shape& shape);
  // A list of i64.
  Status add_integers(const std::string& name, const Shape& values) {
    return add_constant(name, DType::i64, values, {static_cast<int64_t>(values.size())});
  }
  // The place `at` along an axis, which goes, under that name.
  Status add_pick(const std::string& tensor, int64_t axis, int64_t at, const std::string& name);
  // The tensors behind each other along a new axis, under a name of `place`'s own.
  Result<std::string> add_stack(Names parts, int64_t axis, const std::string& place);
  // The same along an axis that they have.
  Result<std::string> add_joined(Names parts, size_t axis, const std::string& place);

 private:
  const onnx::NodeProto& node_;
  const BodyImport& import_;
  size_t& nodes_;
  std::string place_;
};

}  // namespace lathe
