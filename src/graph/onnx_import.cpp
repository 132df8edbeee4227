#include "graph/onnx_import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "graph/onnx_file.h"
#include "graph/onnx_node.h"
#include "graph/onnx_operators.h"
#include "graph/onnx_proto.h"
#include "graph/onnx_tensor.h"

namespace lathe {

namespace {

// In a list of inputs: an optional one that the node does not have.
constexpr TensorId kLeftOut = std::numeric_limits<TensorId>::max();

// How a sentence calls a node: by its name, or by what it gives where it has none.
std::string name_of_node(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  return node.output_size() > 0 ? node.output(0) : "";
}

std::unexpected<Error> fail_at(const onnx::NodeProto& node, ErrorKind kind, const std::string& message) {
  return fail(kind, fmt::format("node '{}' ({}): {}", name_of_node(node), node.op_type(), message));
}

class Importer {
 public:
  Importer(onnx::ModelProto& model, const OnnxImportOptions& options)
      : graph_(*model.mutable_graph()), options_(options), builder_(graph_.name()) {
    for (const onnx::OperatorSetIdProto& set : model.opset_import()) {
      if (set.domain().empty() || set.domain() == "ai.onnx") operator_set_ = set.version();
    }
  }

  Result<Graph> run() {
    LATHE_TRY_STATUS(check_node_types());
    LATHE_TRY_STATUS(add_inputs());
    LATHE_TRY_STATUS(add_initializers());
    for (onnx::NodeProto& node : *graph_.mutable_node()) LATHE_TRY_STATUS(add_node(node));
    LATHE_TRY_STATUS(add_outputs());
    return builder_.build();
  }

 private:
  // Before anything else, so that a model that Lathe cannot take is told by its node and not by a detail.
  Status check_node_types() const {
    for (const onnx::NodeProto& node : graph_.node()) {
      const bool own_domain = node.domain().empty() || node.domain() == "ai.onnx";
      if (own_domain && (node.op_type() == "Constant" || find_onnx_operator(node.op_type()))) continue;
      return fail(ErrorKind::unsupported,
                  fmt::format("node '{}' has type '{}{}', which Lathe does not support", name_of_node(node),
                              own_domain ? "" : node.domain() + ".", node.op_type()));
    }
    return {};
  }

  Status add_inputs() {
    std::vector<std::string> names;
    for (const onnx::ValueInfoProto& input : graph_.input()) {
      const auto is_initial = [&](const onnx::TensorProto& tensor) { return tensor.name() == input.name(); };
      // Before IR version 4 the initializers are listed as inputs too.
      if (std::any_of(graph_.initializer().begin(), graph_.initializer().end(), is_initial)) continue;
      names.push_back(input.name());
      const auto given = options_.input_shapes.find(input.name());
      const Shape* shape = given == options_.input_shapes.end() ? nullptr : &given->second;
      LATHE_TRY(TensorType type, input_type(input, shape));
      LATHE_TRY_STATUS(builder_.input(input.name(), std::move(type)));
    }
    for (const auto& [name, shape] : options_.input_shapes) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      return fail(ErrorKind::not_found,
                  fmt::format("the model has no input '{}', for which a shape is given; it has '{}'", name,
                              fmt::join(names, "', '")));
    }
    return {};
  }

  Status add_initializers() {
    if (graph_.sparse_initializer_size() > 0) {
      return fail(ErrorKind::unsupported, "the model has sparse initializers, which Lathe does not support");
    }
    for (onnx::TensorProto& tensor : *graph_.mutable_initializer()) {
      LATHE_TRY(OnnxConstant constant, take_constant(tensor, fmt::format("initializer '{}'", tensor.name())));
      LATHE_TRY_STATUS(builder_.constant(tensor.name(), std::move(constant.type), std::move(constant.data)));
    }
    return {};
  }

  Status add_constant_node(onnx::NodeProto& node) {
    if (node.attribute_size() != 1 || node.attribute(0).name() != "value" || !node.attribute(0).has_t() ||
        node.output_size() != 1) {
      return fail_at(node, ErrorKind::unsupported,
                     "Lathe supports a tensor in its attribute 'value' and nothing else");
    }
    const std::string label = fmt::format("node '{}' (Constant)", name_of_node(node));
    LATHE_TRY(OnnxConstant constant, take_constant(*node.mutable_attribute(0)->mutable_t(), label));
    LATHE_TRY_STATUS(builder_.constant(node.output(0), std::move(constant.type), std::move(constant.data)));
    return {};
  }

  Status add_node(onnx::NodeProto& node) {
    if (node.op_type() == "Constant") return add_constant_node(node);
    const OnnxOperator& row = *find_onnx_operator(node.op_type());
    LATHE_TRY(std::vector<TensorId> inputs, operands(node, row));
    std::vector<const GraphTensor*> tensors;
    for (TensorId id : inputs) tensors.push_back(id == kLeftOut ? nullptr : &builder_.tensor(id));
    OnnxNode view(node, std::move(tensors));
    Result<GraphOp> op = row.import(view);
    if (!op) return fail_at(node, op.error().kind, op.error().message);
    const Status finished = view.finish();
    if (!finished) return fail_at(node, finished.error().kind, finished.error().message);
    inputs.resize(std::min(inputs.size(), row.operands));
    LATHE_TRY_STATUS(builder_.node(name_of_node(node), std::move(*op), std::move(inputs), node.output(0)));
    return {};
  }

  // The inputs, after checks of everything that the table says of the node.
  Result<std::vector<TensorId>> operands(const onnx::NodeProto& node, const OnnxOperator& row) const {
    if (operator_set_ < row.since) {
      return fail_at(node, ErrorKind::unsupported,
                     fmt::format("it is of operator set {}, and Lathe supports it from {} on", operator_set_,
                                 row.since));
    }
    if (node.output_size() != 1) {
      return fail_at(node, ErrorKind::unsupported,
                     fmt::format("it has {} outputs, and Lathe supports 1", node.output_size()));
    }
    std::vector<TensorId> ids;
    auto last = static_cast<size_t>(node.input_size());
    while (last > 0 && node.input(static_cast<int>(last) - 1).empty()) --last;
    if (last < row.least_inputs || last > row.most_inputs) {
      return fail_at(
          node, ErrorKind::invalid_argument,
          fmt::format("it has {} inputs, and takes {} to {}", last, row.least_inputs, row.most_inputs));
    }
    for (size_t i = 0; i < last; ++i) {
      const std::string& name = node.input(static_cast<int>(i));
      if (name.empty() && i >= row.operands) {
        ids.push_back(kLeftOut);
        continue;
      }
      const std::optional<TensorId> id = builder_.find(name);
      if (!id) {
        return fail_at(node, ErrorKind::invalid_argument,
                       fmt::format("it reads '{}', which no input, initializer or earlier node gives", name));
      }
      ids.push_back(*id);
    }
    return ids;
  }

  Status add_outputs() {
    if (graph_.output_size() == 0) return fail(ErrorKind::invalid_argument, "the model has no outputs");
    for (const onnx::ValueInfoProto& output : graph_.output()) {
      const std::optional<TensorId> id = builder_.find(output.name());
      if (!id) {
        return fail(ErrorKind::invalid_argument,
                    fmt::format("no node gives the model's output '{}'", output.name()));
      }
      LATHE_TRY_STATUS(builder_.output(*id));
    }
    return {};
  }

  onnx::GraphProto& graph_;
  const OnnxImportOptions& options_;
  GraphBuilder builder_;
  int64_t operator_set_ = 0;
};

}  // namespace

Result<Graph> import_onnx_bytes(const std::string& bytes, const std::string& name,
                                const OnnxImportOptions& options) {
  LATHE_TRY(const auto model, parse_model(bytes, name));
  Result<Graph> graph = Importer(*model, options).run();
  if (!graph) graph.error().where = name;
  return graph;
}

Result<Graph> import_onnx(const std::string& path, const OnnxImportOptions& options) {
  LATHE_TRY(const std::string bytes, read_model_file(path));
  return import_onnx_bytes(bytes, path, options);
}

}  // namespace lathe
