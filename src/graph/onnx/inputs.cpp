#include "graph/onnx/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "graph/onnx/file.h"
#include "graph/onnx/proto.h"

namespace lathe {

std::vector<const onnx::ValueInfoProto*> inputs_of(const onnx::GraphProto& graph) {
  std::vector<const onnx::ValueInfoProto*> result;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    const auto is_initial = [&](const onnx::TensorProto& tensor) { return tensor.name() == input.name(); };
    if (std::any_of(graph.initializer().begin(), graph.initializer().end(), is_initial)) continue;
    result.push_back(&input);
  }
  return result;
}

Status check_given_names(const onnx::GraphProto& graph, const std::map<std::string, Shape>& shapes) {
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto* input : inputs_of(graph)) names.push_back(input->name());
  for (const auto& [name, shape] : shapes) {
    if (std::ranges::find(names, name) != names.end()) continue;
    return fail(ErrorKind::not_found,
                fmt::format("the model has no input '{}', for which a shape is given; it has '{}'", name,
                            fmt::join(names, "', '")));
  }
  return {};
}

Result<std::vector<DeclaredInput>> declared_inputs(const std::string& path) {
  LATHE_TRY(const std::string bytes, read_model_file(path));
  LATHE_TRY(const auto model, parse_model(bytes, path));
  std::vector<DeclaredInput> inputs;
  for (const onnx::ValueInfoProto* input : inputs_of(model->graph())) {
    DeclaredInput& declared = inputs.emplace_back(input->name());
    for (const auto& dim : input->type().tensor_type().shape().dim()) {
      DeclaredExtent& extent = declared.shape.emplace_back();
      if (dim.has_dim_value() && dim.dim_value() >= 0) extent.extent = dim.dim_value();
      extent.name = dim.dim_param();
    }
  }
  return inputs;
}

bool is_output_of(const onnx::GraphProto& graph, const std::string& name) {
  const auto has_name = [&](const onnx::ValueInfoProto& output) { return output.name() == name; };
  return std::ranges::any_of(graph.output(), has_name);
}

void name_outputs_apart(onnx::GraphProto& graph, std::vector<onnx::NodeProto>& copies,
                        std::vector<std::string>& notes) {
  std::set<std::string> names;
  for (const onnx::ValueInfoProto& input : graph.input()) names.insert(input.name());
  for (const onnx::TensorProto& constant : graph.initializer()) names.insert(constant.name());
  for (const onnx::NodeProto& node : graph.node()) names.insert(node.output().begin(), node.output().end());
  std::set<std::string> listed;
  for (onnx::ValueInfoProto& output : *graph.mutable_output()) {
    const std::string name = output.name();
    if (listed.insert(name).second) continue;
    int number = 2;
    const auto again = [&] { return fmt::format("{}.{}", name, number); };
    while (names.contains(again())) ++number;
    names.insert(again());
    onnx::NodeProto& copy = copies.emplace_back();
    copy.set_name(again());
    copy.set_op_type("Identity");
    copy.add_input(name);
    copy.add_output(again());
    output.set_name(again());
    notes.push_back(fmt::format("output '{}' is listed more than once: '{}' is it again", name, again()));
  }
}

std::string unsupported_output(const onnx::NodeProto& node, int output, size_t supported) {
  return fmt::format("its output {}, '{}', is read, and Lathe supports {}", output, node.output(output),
                     supported == 1 ? "the first alone" : fmt::format("the first {}", supported));
}

}  // namespace lathe
