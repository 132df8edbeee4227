#include "graph/onnx/node_types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "graph/onnx/nodes/control_flow.h"
#include "graph/onnx/nodes/flex_attention.h"
#include "graph/onnx/nodes/sequences.h"
#include "graph/onnx/operators.h"
#include "graph/onnx/proto.h"

namespace lathe {

namespace {

struct UnsupportedType {
  std::string name;   // with its domain, where that is not ONNX's own
  std::string first;  // the first node that has it
  int64_t nodes = 0;
};

bool is_supported(const onnx::NodeProto& node) {
  const bool is_constant = is_own_domain(node.domain()) && node.op_type() == "Constant";
  return is_constant || is_control_flow(node) || is_flex_attention(node) || sequence_operator_since(node) ||
         find_onnx_operator(node.domain(), node.op_type()) != nullptr;
}

// In the order in which the model first has them.
void add_unsupported(const onnx::GraphProto& graph, std::vector<UnsupportedType>& types) {
  for (const onnx::NodeProto& node : graph.node()) {
    for (const onnx::AttributeProto& attribute : node.attribute())
      if (attribute.has_g()) add_unsupported(attribute.g(), types);
    if (is_supported(node)) continue;
    const std::string name = (is_own_domain(node.domain()) ? "" : node.domain() + ".") + node.op_type();
    auto found = std::ranges::find(types, name, &UnsupportedType::name);
    if (found == types.end()) found = types.insert(found, {name, name_of_node(node)});
    ++found->nodes;
  }
}

// "ONNX 17, com.acme 1".
std::string operator_sets_of(const onnx::ModelProto& model) {
  std::vector<std::string> sets;
  for (const onnx::OperatorSetIdProto& set : model.opset_import())
    sets.push_back(fmt::format("{} {}", is_own_domain(set.domain()) ? "ONNX" : set.domain(), set.version()));
  return fmt::format("{}", fmt::join(sets, ", "));
}

}  // namespace

bool is_own_domain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

std::string name_of_node(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  return node.output_size() > 0 ? node.output(0) : "";
}

Status check_node_types(const onnx::ModelProto& model) {
  std::vector<UnsupportedType> types;
  add_unsupported(model.graph(), types);
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
