#include "graph/onnx/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>

#include "base/check.h"
#include "graph/index_inputs.h"
#include "graph/onnx/bodies.h"
#include "graph/onnx/expand.h"
#include "graph/onnx/external.h"
#include "graph/onnx/file.h"
#include "graph/onnx/functions.h"
#include "graph/onnx/half_tensors.h"
#include "graph/onnx/legacy.h"
#include "graph/onnx/node.h"
#include "graph/onnx/node_types.h"
#include "graph/onnx/nodes/control_flow.h"
#include "graph/onnx/operators.h"
#include "graph/onnx/order_nodes.h"
#include "graph/onnx/proto.h"
#include "graph/onnx/tensor.h"
#include "graph/reference.h"

namespace lathe {

namespace {

// In a list of inputs: an optional one that the node does not have.
constexpr TensorId kLeftOut = std::numeric_limits<TensorId>::max();

std::unexpected<Error> fail_at(const onnx::NodeProto& node, ErrorKind kind, const std::string& message) {
  return fail(kind, fmt::format("node '{}' ({}): {}", name_of_node(node), node.op_type(), message));
}

class Importer {
 public:
  // `name` is the graph's where the model gives it none.
  Importer(onnx::ModelProto& model, const std::string& name, const OnnxImportOptions& options)
      : model_(model),
        graph_(*model.mutable_graph()),
        options_(options),
        builder_(graph_.name().empty() ? name : graph_.name()) {
    for (const onnx::OperatorSetIdProto& set : model.opset_import())
      if (is_own_domain(set.domain())) operator_set_ = set.version();
  }

  Result<Graph> run() {
    LATHE_TRY_STATUS(inline_functions(model_));
    LATHE_TRY_STATUS(check_node_types(model_));
    order_nodes(graph_);
    names_read_ = names_read(graph_);
    LATHE_TRY_STATUS(add_inputs());
    LATHE_TRY_STATUS(add_initializers());
    for (onnx::NodeProto& node : *graph_.mutable_node()) LATHE_TRY_STATUS(add_node(node));
    LATHE_TRY_STATUS(add_outputs());
    Graph graph = builder_.build();
    graph.data_files.assign(data_files_.begin(), data_files_.end());
    graph.notes = std::move(notes_);
    return graph;
  }

 private:
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
      LATHE_TRY(const TensorType type, input_type(*input, shape));
      LATHE_TRY(const TensorId id, builder_.input(input->name(), type));
      if (is_half(type.dtype)) LATHE_TRY_STATUS(halves_.widen(input->name(), id));
      if (const auto code = code_of_onnx(input->type().tensor_type().elem_type()))
        LATHE_TRY_STATUS(halves_.decode(input->name(), id, *code));
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
    LATHE_TRY(OnnxConstant constant, take_constant(tensor, label, options_.data_folders));
    if (is_external(tensor)) data_files_.insert(external_path(tensor, options_.data_folders.of_path));
    LATHE_TRY_STATUS(halves_.add_constant(name, std::move(constant)));
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

  // In terms of operator set 7 and later.
  Status add_node(onnx::NodeProto& node) {
    if (is_control_flow(node)) return add_bodies(node);
    if (!is_own_domain(node.domain())) return add_supported_node(node);
    if (operator_set_ >= kNumpyOperatorSet) return add_modern_node(node);
    const auto shape_of = [&](const std::string& name) {
      const std::optional<TensorId> id = halves_.find(name);
      return id ? &builder_.tensor(*id).type.shape : nullptr;
    };
    auto steps = from_legacy(node, shape_of);
    if (!steps) return fail_at(node, steps.error().kind, steps.error().message);
    for (onnx::NodeProto& step : *steps) LATHE_TRY_STATUS(add_modern_node(step));
    return {};
  }

  Status add_bodies(const onnx::NodeProto& node) {
    bool is_of_inner = false;  // what was found wrong, and tells its own place
    const BodyImport import{[&](const std::string& name) {
                              const std::optional<TensorId> id = halves_.find(name);
                              return id ? &builder_.tensor(*id) : nullptr;
                            },
                            [&](onnx::NodeProto& inner) {
                              names_read_.insert(inner.output().begin(), inner.output().end());
                              Status added = add_node(inner);
                              is_of_inner = !added;
                              return added;
                            }};
    const Status added = add_control_flow(node, operator_set_, import, nodes_of_bodies_);
    if (added || is_of_inner) return added;
    return fail_at(node, added.error().kind, added.error().message);
  }

  Status add_modern_node(onnx::NodeProto& node) {
    if (node.op_type() == "Constant") return add_constant_node(node);
    if (node.op_type() == "Concat") drop_empty_inputs(node);
    const auto is_real_constant = [&](const std::string& name) {
      const std::optional<TensorId> id = halves_.find(name);
      if (empty_.contains(name)) return true;  // it is left out
      return id && builder_.tensor(*id).is_constant() && builder_.tensor(*id).type.dtype == DType::f32;
    };
    std::vector<onnx::NodeProto> steps = expand_onnx_node(node, is_real_constant);
    for (onnx::NodeProto& step : steps) LATHE_TRY_STATUS(add_modern_node(step));
    return steps.empty() ? add_supported_node(node) : Status();
  }

  Status add_supported_node(onnx::NodeProto& node) {
    const OnnxOperator& row = *find_onnx_operator(node.domain(), node.op_type());
    LATHE_TRY(std::vector<TensorId> inputs, operands(node, row));
    std::vector<OnnxOperand> tensors;
    for (size_t i = 0; i < inputs.size(); ++i)
      tensors.push_back(inputs[i] == kLeftOut ? OnnxOperand{}
                                              : operand_of(node.input(static_cast<int>(i)), inputs[i]));
    OnnxNode view(node, std::move(tensors), operator_set_);
    Result<std::vector<ImportedOutput>> outputs = row.import(view);
    if (!outputs) return fail_at(node, outputs.error().kind, outputs.error().message);
    const Status finished = view.finish();
    if (!finished) return fail_at(node, finished.error().kind, finished.error().message);
    inputs.resize(std::min(inputs.size(), row.operands));
    for (int i = static_cast<int>(outputs->size()); i < node.output_size(); ++i) {
      if (!is_read(node.output(i))) continue;
      return fail_at(node, ErrorKind::unsupported,
                     fmt::format("its output {}, '{}', is read, and Lathe supports {}", i, node.output(i),
                                 outputs->size() == 1 ? "the first alone"
                                                      : fmt::format("the first {}", outputs->size())));
    }
    return add_outputs_of(node, row, std::move(*outputs), inputs);
  }

  // Unless all are empty, what they join has the elements of the others.
  void drop_empty_inputs(onnx::NodeProto& node) const {
    const auto is_empty = [&](const std::string& name) { return empty_.contains(name); };
    auto& inputs = *node.mutable_input();
    if (!std::ranges::all_of(inputs, is_empty))
      inputs.erase(std::remove_if(inputs.begin(), inputs.end(), is_empty), inputs.end());
  }

  // What the node's import sees of the tensor of that name.
  OnnxOperand operand_of(const std::string& name, TensorId id) const {
    const std::optional<TensorId> own = builder_.find(name);
    return {&builder_.tensor(id), own && builder_.is_input(*own), halves_.declared(name, id),
            halves_.code_of(id)};
  }

  // The type of the node's first operand of real numbers in the model, which its results have.
  DType type_of_reals(const onnx::NodeProto& node, const std::vector<TensorId>& inputs) const {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] != kLeftOut && is_float(builder_.tensor(inputs[i]).type.dtype))
        return halves_.declared(node.input(static_cast<int>(i)), inputs[i]);
    }
    return DType::f32;
  }

  std::vector<TensorType> types_of(const std::vector<TensorId>& ids) const {
    std::vector<TensorType> types;
    for (const TensorId id : ids) types.push_back(builder_.tensor(id).type);
    return types;
  }

  // Whether it is an output of the model.
  bool is_given(const std::string& name) const {
    const auto gives = [&](const onnx::ValueInfoProto& output) { return output.name() == name; };
    return std::ranges::any_of(graph_.output(), gives);
  }

  // Whether a node reads the tensor, or it is an output of the model.
  bool is_read(const std::string& name) const { return !name.empty() && names_read_.contains(name); }

  // Those that the node does not have are left out, but for unnamed ones that later ones may read.
  Status add_outputs_of(const onnx::NodeProto& node, const OnnxOperator& row,
                        std::vector<ImportedOutput> outputs, const std::vector<TensorId>& inputs) {
    std::vector<TensorId> known = inputs;
    const auto named = std::ranges::find_if(node.output(), [](const auto& name) { return !name.empty(); });
    if (named == node.output().end()) return {};
    const auto inner_name = [&] { return fmt::format("{}#{}", *named, known.size()); };
    outputs.resize(std::min(outputs.size(), static_cast<size_t>(node.output_size())));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string& given = node.output(static_cast<int>(i));
      std::vector<ImportedStep> steps = steps_of(std::move(outputs[i]), inputs.size());
      for (ImportedStep& step : steps) {
        const bool is_last = &step == &steps.back();
        std::vector<TensorId> reads;
        for (const size_t number : step.reads) {
          LATHE_CHECK(number < known.size());
          if (known[number] == kLeftOut)
            return fail_at(node, ErrorKind::invalid_argument,
                           fmt::format("its input {} is left out", number));
          reads.push_back(known[number]);
        }
        const bool has_operands_type =
            is_last && (row.result == ResultType::of_operands || (row.result == ResultType::first && i == 0));
        const DType reals = has_operands_type ? type_of_reals(node, inputs) : DType::f32;
        const std::optional<Code> code = halves_.code_of_result(step.value, reads, has_operands_type);
        LATHE_TRY(const TensorId id, add_value(node, is_last && !given.empty() ? given : inner_name(),
                                               std::move(step.value), reads, {reals, code}));
        known.push_back(id);
      }
    }
    return {};
  }

  // A part without elements, of shapes that a model computes as a rule, or the shape of a single number.
  static bool gives_nothing(const ImportedValue& value) {
    if (const OnnxConstant* const constant = std::get_if<OnnxConstant>(&value))
      return std::ranges::count(constant->type.shape, 0) > 0;
    const SliceOp* const slice = std::get_if<SliceOp>(&std::get<GraphOp>(value));
    return slice != nullptr && std::ranges::count(slice->extents, 0) > 0;
  }

  // A constant that is not the file's own.
  Result<TensorId> add_computed(const onnx::NodeProto& node, const std::string& name,
                                OnnxConstant& constant) {
    constexpr int64_t kMostBytes = int64_t{4} << 30;
    computed_bytes_ += static_cast<int64_t>(constant.data->size());
    if (computed_bytes_ <= kMostBytes) return halves_.add_constant(name, std::move(constant));
    return fail_at(node, ErrorKind::unsupported,
                   "with it the constants that the model computes take more than 4 GiB");
  }

  // What the model makes of a tensor of numbers.
  struct Declared {
    DType reals;  // its type, where it is one of real numbers
    std::optional<Code> code;
  };

  Result<TensorId> add_value(const onnx::NodeProto& node, const std::string& name, ImportedValue value,
                             const std::vector<TensorId>& inputs, const Declared& declared) {
    if (gives_nothing(value)) {
      empty_.insert(name);
      return kLeftOut;
    }
    if (OnnxConstant* constant = std::get_if<OnnxConstant>(&value))
      return add_computed(node, name, *constant);
    const std::string node_name = name == node.output(0) ? name_of_node(node) : name;
    GraphNode whole{node_name, std::get<GraphOp>(std::move(value)), inputs, 0};
    whole.inputs.resize(std::min(inputs.size(), most_operands(whole.op)));
    LATHE_TRY_STATUS(check_looked_up(node, whole));
    LATHE_TRY(const TensorType type, infer_type(whole, types_of(whole.inputs)));
    const bool is_held = is_half(declared.reals) && type.dtype == DType::f32;
    const bool is_coded = declared.code && is_float(type.dtype);
    LATHE_TRY(const std::optional<OnnxConstant> known, small_constant(whole, type));
    // Numbers alone are computed when the model runs; as an output any other is told to be a constant.
    const bool stays = known && (!is_given(name) || !is_float(known->type.dtype));
    const bool is_narrow = is_half(type.dtype);
    const std::string graph_name = is_held || is_coded            ? halves_.name_of(name)
                                   : is_narrow && !is_given(name) ? name + "#narrow"
                                                                  : name;
    if (stays && !is_held && !declared.code) return halves_.add_constant(name, *known);
    LATHE_TRY(const TensorId id, stays ? builder_.constant(graph_name, known->type, known->data)
                                       : builder_.node(whole.name, whole.op, whole.inputs, graph_name));
    if (declared.code) {
      halves_.hold_code(name, id, *declared.code);
    } else if (is_held) {
      halves_.hold(name, id, declared.reals);
    }
    if (is_narrow) return halves_.widen(name, id);
    return id;
  }

  // Places that are constants lie inside of their axis.
  Status check_looked_up(const onnx::NodeProto& node, const GraphNode& whole) const {
    const std::optional<size_t> axis = looked_up_axis(whole.op);
    if (!axis) return {};
    const GraphTensor& places = builder_.tensor(whole.inputs[1]);
    const Shape& shape = builder_.tensor(whole.inputs[0]).type.shape;
    if (!places.is_constant() || is_float(places.type.dtype) || *axis >= shape.size()) return {};
    const Status checked = check_places(values_of(places), *axis, shape);
    return checked ? checked : fail_at(node, checked.error().kind, checked.error().message);
  }

  // What a node of constants gives, where nothing computes it later (integers and bool) or later nodes may
  // need its value to know their shapes: numbers with a fraction as few as a tensor has axes.
  Result<std::optional<OnnxConstant>> small_constant(const GraphNode& node, const TensorType& type) const {
    constexpr int64_t kMostReals = 16;
    int64_t most_others = int64_t{1} << 20;
    for (const TensorId id : node.inputs) {
      const GraphTensor& tensor = builder_.tensor(id);
      if (!tensor.is_constant()) return std::nullopt;
      most_others = std::max(most_others, elements_of(tensor.type.shape));
    }
    LATHE_TRY_STATUS(check_shape(type.shape, fmt::format("the result of node '{}'", node.name)));
    if (elements_of(type.shape) > (is_float(type.dtype) ? kMostReals : most_others)) return std::nullopt;
    std::vector<const GraphTensor*> operands;
    for (const TensorId id : node.inputs) operands.push_back(&builder_.tensor(id));
    std::shared_ptr<const Bytes> data = evaluate_constants(node, operands);
    if (data == nullptr) return std::nullopt;
    return OnnxConstant{type, std::move(data)};
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
    const bool is_empty = last < std::min(row.least_inputs, static_cast<size_t>(node.input_size())) &&
                          !node.input(static_cast<int>(last)).empty();
    const bool is_empty_shape = is_empty && row.takes_empty_shape && last + 1 == row.least_inputs;
    if (is_empty && !is_empty_shape) return refuse_empty(last, node.input(static_cast<int>(last)));
    if (is_empty_shape) ++last;
    if (last < row.least_inputs || last > row.most_inputs) {
      return fail_at(node, ErrorKind::invalid_argument,
                     wrong_number_of_inputs(last, row.least_inputs, row.most_inputs));
    }
    for (size_t i = 0; i < last; ++i) {
      const std::string& name = node.input(static_cast<int>(i));
      if (is_left_out(name) && (is_empty_shape || i >= std::min(row.operands, row.least_inputs))) {
        ids.push_back(kLeftOut);
        continue;
      }
      if (empty_.contains(name)) return refuse_empty(i, name);
      const std::optional<TensorId> id = halves_.find(name);
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
      LATHE_TRY(const std::optional<TensorId> id, halves_.give(output.name()));
      if (empty_.contains(output.name())) {
        return fail(
            ErrorKind::unsupported,
            fmt::format("output '{}' has no elements, and nothing can be computed from none", output.name()));
      }
      if (!id) {
        return fail(ErrorKind::invalid_argument,
                    fmt::format("no node gives the model's output '{}'", output.name()));
      }
      const TensorType& type = builder_.tensor(*id).type;
      note_declared(output, type);
      LATHE_TRY_STATUS(builder_.output(*id));
    }
    return {};
  }

  // Shapes that are given take the place of declared ones, and others follow from them.
  void note_declared(const onnx::ValueInfoProto& output, const TensorType& type) {
    const std::optional<std::string> declared = contrary_declaration(output, type);
    if (!declared || !options_.input_shapes.empty()) return;
    notes_.push_back(fmt::format("output '{}' is declared as {}, and what the model computes is {}",
                                 output.name(), *declared, to_string(type)));
  }

  onnx::ModelProto& model_;
  onnx::GraphProto& graph_;
  const OnnxImportOptions& options_;
  GraphBuilder builder_;
  HalfTensors halves_{builder_, [this](const std::string& name) { return is_given(name); }};
  std::unordered_set<std::string> names_read_;
  size_t nodes_of_bodies_ = 0;
  std::set<std::string> empty_;  // tensors without elements
  int64_t operator_set_ = 0;
  std::set<std::string> data_files_;
  std::vector<std::string> notes_;
  int64_t computed_bytes_ = 0;  // of constants
};

Result<Graph> import_model(onnx::ModelProto& model, const std::string& name,
                           const OnnxImportOptions& options) {
  Result<Graph> graph = Importer(model, std::filesystem::path(name).stem().string(), options).run();
  if (!graph) {
    graph.error().where = name;
    return graph;
  }
  for (std::string& note : graph->notes) note = fmt::format("{}: {}", name, note);
  return graph;
}

Result<std::unique_ptr<onnx::ModelProto>> read_model(const std::string& path) {
  LATHE_TRY(const std::string bytes, read_model_file(path));
  return parse_model(bytes, path);
}

}  // namespace

Result<Graph> import_onnx_bytes(const std::string& bytes, const std::string& name,
                                const OnnxImportOptions& options) {
  LATHE_TRY(const auto model, parse_model(bytes, name));
  return import_model(*model, name, options);
}

Result<Graph> import_onnx(const std::string& path, const OnnxImportOptions& options) {
  LATHE_TRY(const auto model, read_model(path));
  OnnxImportOptions within = options;
  const std::filesystem::path beside(".");
  std::error_code unresolved;  // where the path has become another's since it was read
  within.data_folders = {(beside / path).parent_path().string(),
                         std::filesystem::canonical(beside / path, unresolved).parent_path().string()};
  return import_model(*model, path, within);
}

}  // namespace lathe
