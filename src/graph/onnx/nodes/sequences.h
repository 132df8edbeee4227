// ONNX's sequences and optionals: which tensors one holds is known when the model is read, so that each is a
// list of names, and nothing of it reaches the graph.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "graph/onnx/nodes/node_writer.h"

namespace lathe {

// The sequences of a model that is being read, and its optionals without a value: one with a value is the
// tensor or the sequence that it holds.
class Sequences {
 public:
  // The tensors of the sequence of that name, in order; null where no sequence has it.
  const std::vector<std::string>* find(const std::string& name) const;
  // Whether it is an optional without a value.
  bool is_none(const std::string& name) const;
  // Whether the name is a sequence or an optional without a value, and no tensor.
  bool has(const std::string& name) const { return held_.contains(name); }
  void set(const std::string& name, std::vector<std::string> tensors) { held_[name] = std::move(tensors); }
  void set_none(const std::string& name) { held_[name] = std::nullopt; }
  // `copy` is what `name` is.
  void copy(const std::string& name, const std::string& copy) { held_[copy] = held_.at(name); }

 private:
  std::unordered_map<std::string, std::optional<std::vector<std::string>>> held_;
};

// Makes outputs of their own, NAME.0, NAME.1 .., of the tensors of an output that is a sequence; the result
// are nodes that give them. An Error for an output that is an optional without a value.
Result<std::vector<onnx::NodeProto>> list_sequence_outputs(onnx::GraphProto& graph,
                                                           const Sequences& sequences);

// The operator set from which the node is one of a sequence or an optional; none where it is no such one.
std::optional<int64_t> sequence_operator_since(const onnx::NodeProto& node);

// Adds what the node gives, a tensor, a sequence or an optional. `nodes`: as in control_flow.h. An Error
// where only a run of the model would tell which tensors a sequence holds.
Status add_sequence_operator(const onnx::NodeProto& node, const BodyImport& import, size_t& nodes);

}  // namespace lathe
