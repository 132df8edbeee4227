// A model's tensors of f16 and bf16, which its graph holds in f32: their numbers are computed and kept in
// f32, and rounded where the model casts to the narrow type, or gives them as an output. In the graph such a
// tensor has the model's name, or that and "#f32" where the narrow one has it: of an input, an output, a
// cast. Of codes of floats (graph/operators/coded.h) the same is so; integers of codes are what they are.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/onnx/steps.h"
#include "graph/onnx/tensor.h"

namespace lathe {

class HalfTensors {
 public:
  // `builder` must outlive the object; `is_given`: whether the model has an output of that name.
  HalfTensors(GraphBuilder& builder, std::function<bool(const std::string&)> is_given)
      : builder_(builder), is_given_(std::move(is_given)) {}

  // What holds the numbers of the model's tensor of that name, of any type; none where there is no such
  // tensor.
  std::optional<TensorId> find(const std::string& name) const;
  // The element type that the model gives it.
  DType declared(const std::string& name, TensorId id) const;

  // The name in the graph of a tensor that is f16 or bf16 in the model, for who adds it in f32; it is told
  // to `hold` then.
  std::string name_of(const std::string& name) const { return is_given_(name) ? name + "#f32" : name; }
  void hold(const std::string& name, TensorId id, DType half) { held_[name] = {id, half, {}}; }
  // The same of what is of a code in the model, and of which the graph has the numbers.
  void hold_code(const std::string& name, TensorId id, Code code);
  // Of a tensor of numbers the code that the model gives it, if it has one.
  std::optional<Code> code_of(TensorId id) const;
  // The code that a result has in the model: that to which its numbers are rounded, or, where its type is its
  // operands', that of the elements that it moves.
  std::optional<Code> code_of_result(const ImportedValue& value, const std::vector<TensorId>& operands,
                                     bool has_operands_type) const;

  // Of the narrow tensor, the one of f32 that holds its numbers.
  Result<TensorId> widen(const std::string& name, TensorId narrow);
  // Of the tensor of codes, the one that holds their numbers.
  Status decode(const std::string& name, TensorId codes, Code code);
  // The constant, of any type, under that name; the result holds its numbers.
  Result<TensorId> add_constant(const std::string& name, OnnxConstant constant);
  // The tensor that the model gives under that name, in its own type; none where there is no such tensor.
  Result<std::optional<TensorId>> give(const std::string& name);

 private:
  struct Held {
    TensorId id = 0;
    DType half = DType::f16;
    std::optional<Code> code = {};
  };

  GraphBuilder& builder_;
  std::function<bool(const std::string&)> is_given_;
  std::unordered_map<std::string, Held> held_;
  std::unordered_map<TensorId, Code> codes_;
};

}  // namespace lathe
