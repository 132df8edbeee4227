#include "graph/onnx_import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>

#include "graph/onnx_file.h"
#include "graph/onnx_node.h"
#include "graph/onnx_operators.h"
#include "graph/onnx_proto.h"
#include "graph/onnx_tensor.h"
#include "graph/reference.h"

namespace lathe {

namespace {

// Those at the end that are left out have empty names.
int outputs_asked_for(const onnx::NodeProto& node) {
  int count = node.output_size();
  while (count > 0 && node.output(count - 1).empty()) --count;
  return count;
}

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
  // `name` is the graph's where the model gives it none.
  Importer(onnx::ModelProto& model, const std::string& name, const OnnxImportOptions& options)
      : graph_(*model.mutable_graph()),
        options_(options),
        builder_(graph_.name().empty() ? name : graph_.name()) {
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

  // The model's inputs: before IR version 4 the initializers are listed among them too.
  std::vector<const onnx::ValueInfoProto*> inputs() const {
    std::vector<const onnx::ValueInfoProto*> result;
    for (const onnx::ValueInfoProto& input : graph_.input()) {
      const auto is_initial = [&](const onnx::TensorProto& tensor) { return tensor.name() == input.name(); };
      if (std::any_of(graph_.initializer().begin(), graph_.initializer().end(), is_initial)) continue;
      result.push_back(&input);
    }
    return result;
  }

  // A misspelt name is the better explanation of an input that lacks its shape.
  Status check_given_names() const {
    std::vector<std::string> names;
    for (const onnx::ValueInfoProto* input : inputs()) names.push_back(input->name());
    for (const auto& [name, shape] : options_.input_shapes) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      return fail(ErrorKind::not_found,
                  fmt::format("the model has no input '{}', for which a shape is given; it has '{}'", name,
                              fmt::join(names, "', '")));
    }
    return {};
  }

  Status add_inputs() {
    LATHE_TRY_STATUS(check_given_names());
    for (const onnx::ValueInfoProto* input : inputs()) {
      const auto given = options_.input_shapes.find(input->name());
      const Shape* shape = given == options_.input_shapes.end() ? nullptr : &given->second;
      LATHE_TRY(TensorType type, input_type(*input, shape));
      LATHE_TRY_STATUS(builder_.input(input->name(), std::move(type)));
    }
    return {};
  }

  Status add_initializers() {
    if (graph_.sparse_initializer_size() > 0) {
      return fail(ErrorKind::unsupported, "the model has sparse initializers, which Lathe does not support");
    }
    for (onnx::TensorProto& tensor : *graph_.mutable_initializer())
      LATHE_TRY_STATUS(add_constant(tensor.name(), tensor, fmt::format("initializer '{}'", tensor.name())));
    return {};
  }

  // A constant without elements stands for an operand that is left out.
  Status add_constant(const std::string& name, onnx::TensorProto& tensor, const std::string& label) {
    if (std::find(tensor.dims().begin(), tensor.dims().end(), 0) != tensor.dims().end()) {
      empty_.insert(name);
      return {};
    }
    LATHE_TRY(OnnxConstant constant, take_constant(tensor, label));
    LATHE_TRY_STATUS(builder_.constant(name, std::move(constant.type), std::move(constant.data)));
    return {};
  }

  Status add_constant_node(onnx::NodeProto& node) {
    if (node.attribute_size() != 1 || node.output_size() != 1)
      return fail_at(node, ErrorKind::invalid_argument, "it has not one attribute and one output");
    onnx::AttributeProto& value = *node.mutable_attribute(0);
    onnx::TensorProto numbers;
    if (value.name() == "value" && value.has_t()) {
      numbers = std::move(*value.mutable_t());
    } else if (value.name() == "value_int" || value.name() == "value_ints") {
      numbers.set_data_type(onnx::TensorProto_DataType_INT64);
      *numbers.mutable_int64_data() = value.ints();
      if (value.name() == "value_int") numbers.add_int64_data(value.i());
    } else if (value.name() == "value_float" || value.name() == "value_floats") {
      numbers.set_data_type(onnx::TensorProto_DataType_FLOAT);
      *numbers.mutable_float_data() = value.floats();
      if (value.name() == "value_float") numbers.add_float_data(value.f());
    } else {
      return fail_at(node, ErrorKind::unsupported,
                     fmt::format("it has the attribute '{}', which Lathe does not support", value.name()));
    }
    if (value.name().ends_with('s')) numbers.add_dims(value.ints_size() + value.floats_size());
    return add_constant(node.output(0), numbers, fmt::format("node '{}' (Constant)", name_of_node(node)));
  }

  // Sum, Max and Min of any number of operands: of one nothing, of several one after another.
  Status add_variadic(const onnx::NodeProto& node) {
    onnx::NodeProto step = node;
    if (node.input_size() == 1) {
      step.set_op_type("Identity");
      return add_node(step);
    }
    std::string so_far = node.input(0);
    for (int i = 1; i < node.input_size(); ++i) {
      step.clear_input();
      step.add_input(so_far);
      step.add_input(node.input(i));
      const bool is_last = i + 1 == node.input_size();
      so_far = is_last ? node.output(0) : fmt::format("{}#{}", node.output(0), i);
      step.set_output(0, so_far);
      step.set_name(is_last ? node.name() : fmt::format("{}#{}", name_of_node(node), i));
      LATHE_TRY_STATUS(add_node(step));
    }
    return {};
  }

  Status add_node(onnx::NodeProto& node) {
    if (node.op_type() == "Constant") return add_constant_node(node);
    const bool is_variadic = node.op_type() == "Sum" || node.op_type() == "Max" || node.op_type() == "Min";
    if (is_variadic && node.input_size() != 2 && node.input_size() > 0 && node.output_size() == 1)
      return add_variadic(node);
    const OnnxOperator& row = *find_onnx_operator(node.op_type());
    LATHE_TRY(std::vector<TensorId> inputs, operands(node, row));
    std::vector<OnnxOperand> tensors;
    for (TensorId id : inputs) {
      tensors.push_back(id == kLeftOut ? OnnxOperand{}
                                       : OnnxOperand{&builder_.tensor(id), builder_.is_input(id)});
    }
    OnnxNode view(node, std::move(tensors), operator_set_);
    Result<std::vector<ImportedOutput>> outputs = row.import(view);
    if (!outputs) return fail_at(node, outputs.error().kind, outputs.error().message);
    const Status finished = view.finish();
    if (!finished) return fail_at(node, finished.error().kind, finished.error().message);
    if (outputs_asked_for(node) != static_cast<int>(outputs->size())) {
      return fail_at(
          node, ErrorKind::unsupported,
          fmt::format("it has {} outputs, and Lathe supports {}", outputs_asked_for(node), outputs->size()));
    }
    inputs.resize(std::min(inputs.size(), row.operands));
    for (size_t i = 0; i < outputs->size(); ++i)
      LATHE_TRY_STATUS(add_output_of(node, static_cast<int>(i), std::move((*outputs)[i]), inputs));
    return {};
  }

  Status add_output_of(const onnx::NodeProto& node, int place, ImportedOutput output,
                       const std::vector<TensorId>& inputs) {
    const std::string& name = node.output(place);
    if (OnnxConstant* constant = std::get_if<OnnxConstant>(&output)) {
      LATHE_TRY_STATUS(builder_.constant(name, std::move(constant->type), std::move(constant->data)));
      return {};
    }
    const std::string node_name = place == 0 ? name_of_node(node) : name;
    const GraphNode whole{node_name, std::get<GraphOp>(std::move(output)), inputs, 0};
    const auto gives = [&](const onnx::ValueInfoProto& given) { return given.name() == name; };
    const bool is_given = std::any_of(graph_.output().begin(), graph_.output().end(), gives);
    LATHE_TRY(const std::optional<OnnxConstant> known, small_constant(whole));
    // Numbers alone are computed when the model runs; as an output any other is told to be a constant.
    if (known && (!is_given || known->type.dtype != DType::f32)) {
      LATHE_TRY_STATUS(builder_.constant(name, known->type, known->data));
      return {};
    }
    if (is_given) LATHE_TRY_STATUS(check_given_operands(node, inputs));
    LATHE_TRY(const TensorId id, builder_.node(whole.name, whole.op, whole.inputs, name));
    const DType dtype = builder_.tensor(id).type.dtype;
    if (dtype == DType::f32) return {};
    return fail_at(
        node, ErrorKind::unsupported,
        fmt::format("it computes {} of what is no constant, and Lathe supports f32 there", to_string(dtype)));
  }

  // A node that gives an output of the model is never folded, so that it reads its constants at run time.
  Status check_given_operands(const onnx::NodeProto& node, const std::vector<TensorId>& inputs) const {
    for (const TensorId id : inputs) {
      const GraphTensor& tensor = builder_.tensor(id);
      if (!is_half(tensor.type.dtype)) continue;
      return fail_at(
          node, ErrorKind::unsupported,
          fmt::format("it makes an output of the model of the constant '{}', which is {}, and Lathe "
                      "supports f32 there",
                      tensor.name, to_string(tensor.type.dtype)));
    }
    return {};
  }

  // What a node of constants gives, where nothing computes it later (all but f32) or later nodes may need its
  // value to know their shapes: f32 as few as a tensor has axes.
  Result<std::optional<OnnxConstant>> small_constant(const GraphNode& node) const {
    constexpr int64_t kMostReals = 16;
    int64_t most_others = int64_t{1} << 20;
    std::vector<TensorType> types;
    for (const TensorId id : node.inputs) {
      const GraphTensor& tensor = builder_.tensor(id);
      if (!tensor.is_constant()) return std::nullopt;
      types.push_back(tensor.type);
      most_others = std::max(most_others, elements_of(tensor.type.shape));
    }
    LATHE_TRY(const TensorType type, infer_type(node, types));
    LATHE_TRY_STATUS(check_shape(type.shape, fmt::format("the result of node '{}'", node.name)));
    if (elements_of(type.shape) > (type.dtype == DType::f32 ? kMostReals : most_others)) return std::nullopt;
    std::vector<Values> values;
    for (const TensorId id : node.inputs)
      values.push_back({builder_.tensor(id).type.shape, values_of(builder_.tensor(id))});
    return OnnxConstant{type, to_bytes(type.dtype, evaluate_node(node, values).data)};
  }

  // The inputs, after checks of everything that the table says of the node.
  Result<std::vector<TensorId>> operands(const onnx::NodeProto& node, const OnnxOperator& row) const {
    if (operator_set_ < row.since) {
      return fail_at(node, ErrorKind::unsupported,
                     fmt::format("it is of operator set {}, and Lathe supports it from {} on", operator_set_,
                                 row.since));
    }
    std::vector<TensorId> ids;
    const auto is_left_out = [&](const std::string& name) { return name.empty() || empty_.contains(name); };
    auto last = static_cast<size_t>(node.input_size());
    while (last > 0 && is_left_out(node.input(static_cast<int>(last) - 1))) --last;
    const auto refuse_empty = [&](size_t input, const std::string& name) {
      return fail_at(
          node, ErrorKind::unsupported,
          fmt::format("input {}, '{}', has no elements, which Lathe does not support there", input, name));
    };
    const bool has_more = last < static_cast<size_t>(node.input_size());
    if (has_more && last < row.least_inputs && !node.input(static_cast<int>(last)).empty())
      return refuse_empty(last, node.input(static_cast<int>(last)));
    if (last < row.least_inputs || last > row.most_inputs) {
      return fail_at(
          node, ErrorKind::invalid_argument,
          fmt::format("it has {} inputs, and takes {} to {}", last, row.least_inputs, row.most_inputs));
    }
    for (size_t i = 0; i < last; ++i) {
      const std::string& name = node.input(static_cast<int>(i));
      if (is_left_out(name) && i >= row.operands) {
        ids.push_back(kLeftOut);
        continue;
      }
      if (empty_.contains(name)) return refuse_empty(i, name);
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
  std::set<std::string> empty_;  // constants without elements
  int64_t operator_set_ = 0;
};

}  // namespace

Result<Graph> import_onnx_bytes(const std::string& bytes, const std::string& name,
                                const OnnxImportOptions& options) {
  LATHE_TRY(const auto model, parse_model(bytes, name));
  Result<Graph> graph = Importer(*model, std::filesystem::path(name).stem().string(), options).run();
  if (!graph) graph.error().where = name;
  return graph;
}

Result<Graph> import_onnx(const std::string& path, const OnnxImportOptions& options) {
  LATHE_TRY(const std::string bytes, read_model_file(path));
  return import_onnx_bytes(bytes, path, options);
}

}  // namespace lathe
