#include "graph/onnx/bodies.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/onnx/node_types.h"
#include "graph/onnx/proto.h"

namespace lathe {

namespace {

// The bodies that the attribute holds.
std::vector<onnx::GraphProto*> bodies_of(onnx::AttributeProto& attribute) {
  std::vector<onnx::GraphProto*> bodies;
  if (attribute.has_g()) bodies.push_back(attribute.mutable_g());
  for (onnx::GraphProto& graph : *attribute.mutable_graphs()) bodies.push_back(&graph);
  return bodies;
}

void rename(std::string& name, const TensorNames& names) {
  if (const auto found = names.find(name); found != names.end()) name = found->second;
}

void rename_node(onnx::NodeProto& node, const TensorNames& names);

// A name that the body gives itself hides that of the graph around it.
void rename_body(onnx::GraphProto& body, TensorNames names) {
  for (const onnx::ValueInfoProto& input : body.input()) names.erase(input.name());
  for (const onnx::TensorProto& constant : body.initializer()) names.erase(constant.name());
  for (const onnx::NodeProto& node : body.node())
    for (const std::string& output : node.output()) names.erase(output);
  for (onnx::NodeProto& node : *body.mutable_node()) rename_node(node, names);
  for (onnx::ValueInfoProto& output : *body.mutable_output()) rename(*output.mutable_name(), names);
}

void rename_node(onnx::NodeProto& node, const TensorNames& names) {
  for (std::string& input : *node.mutable_input()) rename(input, names);
  for (std::string& output : *node.mutable_output()) rename(output, names);
  for (onnx::AttributeProto& attribute : *node.mutable_attribute())
    for (onnx::GraphProto* body : bodies_of(attribute)) rename_body(*body, names);
}

void add_names_read(const onnx::GraphProto& graph, std::unordered_set<std::string>& names);

void add_names_read(const onnx::NodeProto& node, std::unordered_set<std::string>& names) {
  names.insert(node.input().begin(), node.input().end());
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) add_names_read(attribute.g(), names);
    for (const onnx::GraphProto& body : attribute.graphs()) add_names_read(body, names);
  }
}

void add_names_read(const onnx::GraphProto& graph, std::unordered_set<std::string>& names) {
  for (const onnx::NodeProto& node : graph.node()) add_names_read(node, names);
  for (const onnx::ValueInfoProto& output : graph.output()) names.insert(output.name());
}

bool is_constant_node(const onnx::NodeProto& node) {
  return node.op_type() == "Constant" && node.output_size() == 1;
}

onnx::NodeProto constant_node(const onnx::TensorProto& tensor) {
  onnx::NodeProto node;
  node.set_op_type("Constant");
  node.set_name(tensor.name());
  node.add_output(tensor.name());
  onnx::AttributeProto& value = *node.add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto_AttributeType_TENSOR);
  *value.mutable_t() = tensor;
  return node;
}

}  // namespace

onnx::NodeProto with_names(const onnx::NodeProto& node, const TensorNames& names) {
  onnx::NodeProto copy = node;
  rename_node(copy, names);
  return copy;
}

std::unordered_set<std::string> names_read(const onnx::GraphProto& graph) {
  std::unordered_set<std::string> names;
  add_names_read(graph, names);
  return names;
}

std::unordered_set<std::string> names_read(const onnx::NodeProto& node) {
  std::unordered_set<std::string> names;
  add_names_read(node, names);
  return names;
}

StandingBody::StandingBody(const onnx::GraphProto& body, std::string place)
    : body_(body), place_(std::move(place)), read_(names_read(body)) {}

std::vector<onnx::NodeProto> StandingBody::constants() {
  std::vector<onnx::NodeProto> nodes;
  const auto add = [&](onnx::NodeProto node) {
    const std::string name = node.output(0);
    constants_[name] = fmt::format("{}/{}", place_, name);
    node.set_name(fmt::format("{}/{}", place_, name_of_node(node)));
    rename_node(node, constants_);
    nodes.push_back(std::move(node));
  };
  for (const onnx::TensorProto& tensor : body_.initializer()) add(constant_node(tensor));
  for (const onnx::NodeProto& node : body_.node())
    if (is_constant_node(node)) add(node);
  return nodes;
}

std::vector<onnx::NodeProto> StandingBody::run(size_t run, const std::vector<std::string>& inputs,
                                               const TensorNames& outer) {
  const std::string place = fmt::format("{}/{}", place_, run);
  TensorNames names = constants_;
  names.insert(outer.begin(), outer.end());  // but for those that the body gives a constant itself
  for (int i = 0; i < body_.input_size(); ++i)
    names[body_.input(i).name()] = inputs.at(static_cast<size_t>(i));
  for (const onnx::NodeProto& node : body_.node()) {
    if (is_constant_node(node)) continue;
    for (const std::string& output : node.output())
      if (!output.empty()) names[output] = read_.contains(output) ? fmt::format("{}/{}", place, output) : "";
  }
  const auto is_read = [&](const std::string& output) { return read_.contains(output); };
  std::vector<onnx::NodeProto> nodes;
  for (const onnx::NodeProto& node : body_.node()) {
    if (is_constant_node(node) || std::ranges::none_of(node.output(), is_read)) continue;
    onnx::NodeProto copy = with_names(node, names);
    copy.set_name(fmt::format("{}/{}", place, name_of_node(node)));
    nodes.push_back(std::move(copy));
  }
  outputs_.clear();
  for (const onnx::ValueInfoProto& output : body_.output()) {
    rename(outputs_.emplace_back(output.name()), names);
  }
  return nodes;
}

}  // namespace lathe
