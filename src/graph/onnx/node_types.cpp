#include "graph/onnx/node_types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "graph/onnx/operators.h"
#include "graph/onnx/proto.h"

namespace lathe {

namespace {

struct UnsupportedType {
  std::string name;   // with its domain, where that is not ONNX's own
  std::string first;  // the first node that has it
  int64_t nodes = 0;
};

bool is_own(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

bool is_supported(const onnx::NodeProto& node) {
  return is_own(node.domain()) &&
         (node.op_type() == "Constant" || find_onnx_operator(node.op_type()) != nullptr);
}

// What a model's function says takes the place of what the name stands for elsewhere.
bool is_function(const onnx::ModelProto& model, const onnx::NodeProto& node) {
  return std::ranges::any_of(model.functions(), [&](const onnx::FunctionProto& function) {
    const bool same_domain =
        function.domain() == node.domain() || (is_own(function.domain()) && is_own(node.domain()));
    return same_domain && function.name() == node.op_type();
  });
}

// In the order in which the model first has them.
std::vector<UnsupportedType> unsupported_types(const onnx::ModelProto& model) {
  std::vector<UnsupportedType> types;
  for (const onnx::NodeProto& node : model.graph().node()) {
    const bool calls = is_function(model, node);
    if (is_supported(node) && !calls) continue;
    const std::string name = (is_own(node.domain()) ? "" : node.domain() + ".") + node.op_type() +
                             (calls ? ", a function of the model" : "");
    auto found = std::ranges::find(types, name, &UnsupportedType::name);
    if (found == types.end()) found = types.insert(found, {name, name_of_node(node)});
    ++found->nodes;
  }
  return types;
}

// "ONNX 17, com.acme 1".
std::string operator_sets_of(const onnx::ModelProto& model) {
  std::vector<std::string> sets;
  for (const onnx::OperatorSetIdProto& set : model.opset_import())
    sets.push_back(fmt::format("{} {}", is_own(set.domain()) ? "ONNX" : set.domain(), set.version()));
  return fmt::format("{}", fmt::join(sets, ", "));
}

}  // namespace

std::string name_of_node(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  return node.output_size() > 0 ? node.output(0) : "";
}

Status check_node_types(const onnx::ModelProto& model) {
  const std::vector<UnsupportedType> types = unsupported_types(model);
  if (types.empty()) return {};
  std::vector<std::string> list;
  for (const UnsupportedType& type : types) {
    list.push_back(type.nodes == 1 ? fmt::format("'{}' (node '{}')", type.name, type.first)
                                   : fmt::format("'{}' ({} nodes, the first is '{}')", type.name, type.nodes,
                                                 type.first));
  }
  return fail(ErrorKind::unsupported,
              fmt::format("Lathe does not support the node type{} {} of the model, whose operator set{} {}",
                          types.size() == 1 ? "" : "s", fmt::join(list, ", "),
                          model.opset_import_size() == 1 ? " is" : "s are", operator_sets_of(model)));
}

}  // namespace lathe
