// Small ONNX models for the tests of the graph layer, written through the protobuf classes.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "base/rng.h"
#include "graph/graph.h"
#include "graph/onnx/proto.h"
#include "graph/reference.h"

namespace lathe {

// A model in the making; every part can be reached through `proto` to break it.
class OnnxModel {
 public:
  OnnxModel();

  OnnxModel& input(const std::string& name, const Shape& shape, int type = onnx::TensorProto_DataType_FLOAT);
  OnnxModel& output(const std::string& name);
  // An initializer of one integer of that type (onnx::TensorProto_DataType).
  OnnxModel& integer(const std::string& name, int type, int32_t value);
  // An f32 initializer with these values, or random ones if there are none.
  OnnxModel& initializer(const std::string& name, const Shape& shape, std::vector<float> values = {});
  OnnxModel& integers(const std::string& name, const std::vector<int64_t>& values);
  // The same of any shape, as many values as it has elements.
  OnnxModel& integers(const std::string& name, const Shape& shape, const std::vector<int64_t>& values);
  // A node named `name` that gives the tensor `output`; attributes follow through `attribute`.
  OnnxModel& node(const std::string& name, const std::string& type, const std::vector<std::string>& inputs,
                  const std::string& output);
  // The same of a node of ONNX Runtime's own domain.
  OnnxModel& runtime_node(const std::string& name, const std::string& type,
                          const std::vector<std::string>& inputs, const std::string& output);
  // Another output of the node added last.
  OnnxModel& gives(const std::string& output);
  // The version of ONNX's operators; 17 unless said.
  OnnxModel& operator_set(int64_t version);
  // Attributes of the node added last.
  OnnxModel& attribute(const std::string& name, int64_t value);
  OnnxModel& attribute(const std::string& name, int value) {
    return attribute(name, static_cast<int64_t>(value));
  }
  OnnxModel& attribute(const std::string& name, double value);
  OnnxModel& attribute(const std::string& name, const char* value);
  OnnxModel& attribute(const std::string& name, std::initializer_list<int64_t> values);
  // A body: the other model's graph.
  OnnxModel& attribute(const std::string& name, const OnnxModel& body);

  std::string bytes() const { return proto.SerializeAsString(); }

  onnx::ModelProto proto;

 private:
  Rng rng_{7};
};

// A model of one node `n` that reads x of this shape and gives y; attributes follow.
OnnxModel node_model(const Shape& shape, const char* type, const std::vector<std::string>& inputs = {"x"});

// input x [1,2,5,5] -> Conv 3x3 to 4 maps, pad 1 -> Relu -> y.
OnnxModel small_conv_model();

// A transformer's encoder in small, as exports of BERT spell it: input tokens, i64 [1,6], places in tables of
// embeddings looked up, a mask of the tokens that are 0, one layer of two heads -> y [1,6,8].
OnnxModel small_bert_model();

// The bytes of tests/data/resnet18.graph.onnx with every missing weight drawn from the normal distribution
// that its doc string names.
std::string resnet18_bytes();

// The values 1, 2, 3 .. in order.
Values numbered(const Shape& shape);

// Random values in [-1, 1) for each input of the graph.
std::vector<Values> random_inputs(const Graph& graph, uint64_t seed);

// The largest difference over the largest magnitude of `expected`; infinite if the shapes differ, or
// where NaN stands in one of them alone.
double relative_difference(const std::vector<Values>& actual, const std::vector<Values>& expected);

}  // namespace lathe
