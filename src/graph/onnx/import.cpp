#include "graph/onnx/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>

#include "base/check.h"
#include "graph/onnx/bodies.h"
#include "graph/onnx/constant_results.h"
#include "graph/onnx/counted.h"
#include "graph/onnx/empty.h"
#include "graph/onnx/expand.h"
#include "graph/onnx/external.h"
#include "graph/onnx/file.h"
#include "graph/onnx/functions.h"
#include "graph/onnx/half_tensors.h"
#include "graph/onnx/inputs.h"
#include "graph/onnx/legacy.h"
#include "graph/onnx/node.h"
#include "graph/onnx/node_types.h"
#include "graph/onnx/nodes/control_flow.h"
#include "graph/onnx/nodes/flex_attention.h"
#include "graph/onnx/nodes/sequences.h"
#include "graph/onnx/operators.h"
#include "graph/onnx/order_nodes.h"
#include "graph/onnx/proto.h"
#include "graph/onnx/taken_inputs.h"
#include "graph/onnx/tensor.h"

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
    if (operator_set_ == 0) {
      LATHE_TRY_STATUS(check_node_types(model_));
      return fail(ErrorKind::parse, "the model does not say which ONNX operator set it uses");
    }
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
  Status add_inputs() {
    LATHE_TRY_STATUS(check_given_names(graph_, options_.input_shapes));
    for (const onnx::ValueInfoProto* input : inputs_of(graph_)) {
      const auto given = options_.input_shapes.find(input->name());
      const Shape* shape = given == options_.input_shapes.end() ? nullptr : &given->second;
      LATHE_TRY(const TensorType type, input_type(*input, shape));
      const std::optional<Code> code = code_of_onnx(input->type().tensor_type().elem_type());
      if (has_no_elements(type.shape)) {
        LATHE_TRY(const TensorId id, add_empty(input->name(), type, type.dtype));
        if (code) halves_.hold_code(input->name(), id, *code);
        notes_.push_back(fmt::format("input '{}' is {}, which has no elements: no such input is given",
                                     input->name(), to_string(type)));
        hint_ = fmt::format("; input '{}' has none, and another shape may be given, such as --input {}={}",
                            input->name(), input->name(), one_for_none(type.shape));
        continue;
      }
      LATHE_TRY(const TensorId id, builder_.input(input->name(), type));
      if (is_half(type.dtype)) LATHE_TRY_STATUS(halves_.widen(input->name(), id));
      if (code) LATHE_TRY_STATUS(halves_.decode(input->name(), id, *code));
    }
    return {};
  }

  Status add_initializers() {
    if (graph_.sparse_initializer_size() > 0)
      return fail(ErrorKind::unsupported, "the model has sparse initializers, which Lathe does not support");
    for (onnx::TensorProto& tensor : *graph_.mutable_initializer())
      LATHE_TRY_STATUS(add_constant(tensor.name(), tensor, fmt::format("initializer '{}'", tensor.name())));
    return {};
  }

  // A tensor without elements of that type; `declared`: that of the model.
  Result<TensorId> add_empty(const std::string& name, TensorType type, DType declared) {
    const bool is_held = is_half(declared);
    if (is_held) type.dtype = DType::f32;
    LATHE_TRY(const TensorId id, builder_.empty(is_held ? halves_.name_of(name) : name, std::move(type)));
    if (is_held) halves_.hold(name, id, declared);
    return id;
  }

  bool is_empty(const std::string& name) const {
    const std::optional<TensorId> id = halves_.find(name);
    return id && builder_.is_empty(*id);
  }

  Status add_constant(const std::string& name, onnx::TensorProto& tensor, const std::string& label) {
    if (const Shape shape(tensor.dims().begin(), tensor.dims().end()); has_no_elements(shape)) {
      LATHE_TRY(const DType dtype, dtype_of_onnx(tensor.data_type(), label));
      LATHE_TRY_STATUS(add_empty(name, {dtype, shape}, dtype));
      return {};
    }
    LATHE_TRY(OnnxConstant constant, take_constant(tensor, label, options_.data_folders));
    if (is_external(tensor)) data_files_.insert(external_path(tensor, options_.data_folders.of_path));
    LATHE_TRY_STATUS(halves_.add_constant(name, std::move(constant)));
    return {};
  }

  Status add_constant_node(onnx::NodeProto& node) {
    auto value = take_constant_node(node);
    if (!value) return fail_at(node, value.error().kind, value.error().message);
    return add_constant(node.output(0), **value, fmt::format("node '{}' (Constant)", name_of_node(node)));
  }

  const GraphTensor* find(const std::string& name) const {
    const std::optional<TensorId> id = halves_.find(name);
    return id ? &builder_.tensor(*id) : nullptr;
  }

  // In terms of operator set 7 and later.
  Status add_node(onnx::NodeProto& node) {
    if (is_control_flow(node) || is_flex_attention(node) || sequence_operator_since(node))
      return add_in_place_of(node);
    if (node.op_type() == "Identity" && node.input_size() == 1 && sequences_.has(node.input(0))) {
      sequences_.copy(node.input(0), node.output(0));
      return {};
    }
    if (!is_own_domain(node.domain())) return add_supported_node(node);
    if (operator_set_ >= kNumpyOperatorSet) return add_modern_node(node);
    const auto shape_of = [&](const std::string& name) {
      const GraphTensor* const tensor = find(name);
      return tensor == nullptr ? nullptr : &tensor->type.shape;
    };
    auto steps = from_legacy(node, shape_of);
    if (!steps) return fail_at(node, steps.error().kind, steps.error().message);
    for (onnx::NodeProto& step : *steps) LATHE_TRY_STATUS(add_modern_node(step));
    return {};
  }

  // Of a node with bodies, or of sequences, what stands in its place.
  Status add_in_place_of(const onnx::NodeProto& node) {
    bool is_of_inner = false;  // what was found wrong, and tells its own place
    const BodyImport import{[&](const std::string& name) { return find(name); },
                            [&](onnx::NodeProto& inner) {
                              names_read_.insert(inner.output().begin(), inner.output().end());
                              Status added = add_node(inner);
                              is_of_inner = !added;
                              return added;
                            },
                            sequences_,
                            [&](GraphOp op, const auto& inputs, const std::string& output) {
                              return add_operator(node, std::move(op), inputs, output);
                            },
                            [&](const std::string& condition, bool truth) {
                              return builder_.require(*halves_.find(condition), truth);
                            }};
    const Status added = add_by_kind(node, import);
    if (added || is_of_inner) return added;
    return fail_at(node, added.error().kind, added.error().message);
  }

  Status add_operator(const onnx::NodeProto& node, GraphOp op, const std::vector<std::string>& inputs,
                      const std::string& output) {
    std::vector<TensorId> ids;
    for (const std::string& input : inputs) ids.push_back(*halves_.find(input));
    const Declared declared{halves_.declared(inputs[0], ids[0]), halves_.code_of(ids[0])};
    LATHE_TRY_STATUS(add_value(node, output, std::move(op), ids, declared));
    return {};
  }

  Status add_by_kind(const onnx::NodeProto& node, const BodyImport& import) {
    if (is_flex_attention(node)) return add_flex_attention(node, import, nodes_of_bodies_);
    if (is_control_flow(node)) return add_control_flow(node, operator_set_, import, nodes_of_bodies_);
    const int64_t since = *sequence_operator_since(node);
    if (operator_set_ < since) return fail(ErrorKind::unsupported, too_old(since));
    return add_sequence_operator(node, import, nodes_of_bodies_);
  }

  std::string too_old(int64_t since) const {
    return fmt::format("it is of operator set {}, and Lathe supports it from {} on", operator_set_, since);
  }

  Status add_modern_node(onnx::NodeProto& node) {
    if (node.op_type() == "Constant") return add_constant_node(node);
    if (node.op_type() == "Concat")
      drop_empty_inputs(node, [&](const std::string& name) { return is_empty(name); });
    const auto is_real_constant = [&](const std::string& name) {
      const GraphTensor* const tensor = find(name);
      return is_empty(name) /* left out */ ||
             (tensor != nullptr && tensor->is_constant() && tensor->type.dtype == DType::f32);
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
      tensors.push_back(operand_of(node.input(static_cast<int>(i)), inputs[i]));
    OnnxNode view(node, std::move(tensors), operator_set_, model_.producer_name());
    Result<std::vector<ImportedOutput>> outputs = row.import(view);
    if (!outputs) return fail_at(node, outputs.error().kind, outputs.error().message);
    const Status finished = view.finish();
    if (!finished) return fail_at(node, finished.error().kind, finished.error().message);
    inputs.resize(std::min(inputs.size(), row.operands));
    for (int i = static_cast<int>(outputs->size()); i < node.output_size(); ++i) {
      if (!is_read(node.output(i))) continue;
      return fail_at(node, ErrorKind::unsupported, unsupported_output(node, i, outputs->size()));
    }
    return add_outputs_of(node, row, std::move(*outputs), inputs);
  }

  // What the node's import sees of the tensor of that name; of one that is left out for it has no elements,
  // the type alone.
  OnnxOperand operand_of(const std::string& name, TensorId id) const {
    if (id == kLeftOut) {
      const std::optional<TensorId> empty = halves_.find(name);
      return empty ? OnnxOperand{nullptr, false, halves_.declared(name, *empty), halves_.code_of(*empty)}
                   : OnnxOperand{};
    }
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
      const auto* counted = std::get_if<CountedOutput>(&outputs[i]);
      const auto bound =
          counted == nullptr ? std::nullopt : std::optional(std::pair(counted->axis, counted->count));
      const bool has_operands_type =
          row.result == ResultType::of_operands || (row.result == ResultType::first && i == 0);
      const DType reals_given = has_operands_type ? type_of_reals(node, inputs) : DType::f32;
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
        const DType reals = is_last ? reals_given : DType::f32;
        const std::optional<Code> code =
            halves_.code_of_result(step.value, reads, is_last && has_operands_type);
        const bool has_name = is_last && !given.empty() && !bound;
        LATHE_TRY(const TensorId id, add_value(node, has_name ? given : inner_name(), std::move(step.value),
                                               reads, {reals, code}));
        known.push_back(id);
      }
      if (!bound) continue;
      counted_.set(known.back(), {bound->first, known[bound->second]});
      if (given.empty()) continue;
      LATHE_TRY_STATUS(add_value(node, given, GraphOp(IdentityOp{}), {known.back()},
                                 {reals_given, halves_.code_of(known.back())}));
    }
    return {};
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
    if (OnnxConstant* constant = std::get_if<OnnxConstant>(&value)) {
      if (!has_no_elements(constant->type.shape)) return add_computed(node, name, *constant);
      return add_empty(name, constant->type, constant->type.dtype);
    }
    const std::string node_name = name == node.output(0) ? name_of_node(node) : name;
    GraphNode whole{node_name, std::get<GraphOp>(std::move(value)), inputs, 0};
    whole.inputs.resize(std::min(inputs.size(), most_operands(whole.op)));
    if (const Status checked = check_constant_places(builder_, whole); !checked)
      return fail_at(node, checked.error().kind, checked.error().message);
    LATHE_TRY(const TensorType type, type_given(builder_, whole));
    const bool is_held = is_half(declared.reals) && type.dtype == DType::f32;
    if (has_no_elements(type.shape)) return add_empty(name, type, is_held ? declared.reals : type.dtype);
    if (std::ranges::any_of(whole.inputs, [&](TensorId id) { return builder_.is_empty(id); })) {
      auto constant = constant_of_none(whole, {is_held ? declared.reals : type.dtype, type.shape});
      if (!constant) return fail_at(node, constant.error().kind, constant.error().message);
      return add_computed(node, name, *constant);
    }
    const Result<std::optional<Counted>> counted = counted_.result_of(whole, type.shape);
    if (!counted) return fail_at(node, counted.error().kind, counted.error().message);
    if (*counted && is_output_of(graph_, name)) return add_cut(node, name, whole, **counted, declared);
    LATHE_TRY(const TensorId id, add_typed(name, whole, type, declared));
    if (*counted) counted_.set(id, **counted);
    return id;
  }

  // An output of the model of which only the first places count; 0 stands in the others.
  Result<TensorId> add_cut(const onnx::NodeProto& node, const std::string& name, const GraphNode& whole,
                           const Counted& counted, const Declared& declared) {
    LATHE_TRY(const TensorId all, add_value(node, name + "#all", whole.op, whole.inputs, declared));
    LATHE_TRY(const GraphNode cut, cut_behind_count(builder_, name, all, counted));
    const TensorType type = builder_.tensor(all).type;
    LATHE_TRY(const TensorId id, add_typed(name, cut, type, declared));
    counted_.set(id, counted);
    return id;
  }

  // A node's result of that type.
  Result<TensorId> add_typed(const std::string& name, const GraphNode& whole, const TensorType& type,
                             const Declared& declared) {
    const bool is_held = is_half(declared.reals) && type.dtype == DType::f32;
    const bool is_coded = declared.code && is_float(type.dtype);
    LATHE_TRY(const std::optional<OnnxConstant> known, small_constant(builder_, whole, type));
    // Numbers alone are computed when the model runs; as an output any other is told to be a constant.
    const bool stays = known && (!is_output_of(graph_, name) || !is_float(known->type.dtype));
    const bool is_narrow = is_half(type.dtype);
    const std::string graph_name = is_held || is_coded                        ? halves_.name_of(name)
                                   : is_narrow && !is_output_of(graph_, name) ? name + "#narrow"
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

  // The inputs, after checks of everything that the table says of the node.
  Result<std::vector<TensorId>> operands(const onnx::NodeProto& node, const OnnxOperator& row) const {
    if (operator_set_ < row.since) return fail_at(node, ErrorKind::unsupported, too_old(row.since));
    const auto has_none = [&](const std::string& name) { return is_empty(name); };
    const Result<std::vector<bool>> taken = taken_inputs(node, row, has_none, hint_);
    if (!taken) return fail_at(node, taken.error().kind, taken.error().message);
    std::vector<TensorId> ids;
    for (size_t i = 0; i < taken->size(); ++i) {
      const std::string& name = node.input(static_cast<int>(i));
      if (!(*taken)[i]) {
        ids.push_back(kLeftOut);
        continue;
      }
      const std::optional<TensorId> id = halves_.find(name);
      if (!id && sequences_.has(name)) {
        return fail_at(node, ErrorKind::invalid_argument,
                       fmt::format("input {}, '{}', is not a tensor, and must be one", i, name));
      }
      if (!id) {
        return fail_at(node, ErrorKind::invalid_argument,
                       fmt::format("it reads '{}', which no input, initializer or earlier node gives", name));
      }
      if (i >= row.operands && counted_.find(*id)) {  // whose shape or values only the import reads
        return fail_at(node, ErrorKind::unsupported,
                       counted_.refusal(*id) + "; Lathe does not support that here");
      }
      ids.push_back(*id);
    }
    return ids;
  }

  Status add_outputs() {
    LATHE_TRY(std::vector<onnx::NodeProto> copies, list_sequence_outputs(graph_, sequences_));
    name_outputs_apart(graph_, copies, notes_);
    for (onnx::NodeProto& copy : copies) {
      names_read_.insert(copy.output(0));
      LATHE_TRY_STATUS(add_node(copy));
    }
    if (graph_.output_size() == 0) return fail(ErrorKind::invalid_argument, "the model has no outputs");
    bool gives_any = false;
    std::string nothing;  // an output without elements
    for (const onnx::ValueInfoProto& output : graph_.output()) {
      if (is_empty(output.name())) {
        const Shape& shape = builder_.tensor(*halves_.find(output.name())).type.shape;
        nothing =
            fmt::format("output '{}' has shape {}, which has no elements", output.name(), to_string(shape));
        notes_.push_back(nothing + ": no such output is given");
        continue;
      }
      LATHE_TRY(const std::optional<TensorId> id, halves_.give(output.name()));
      if (!id)
        return fail(ErrorKind::invalid_argument, "no node gives the model's output '" + output.name() + "'");
      const TensorId held = *halves_.find(output.name());
      const std::optional<Counted> counted = counted_.find(held);
      // Shapes that are given take the place of declared ones, and others follow from them.
      const TensorType& type = builder_.tensor(*id).type;
      if (const auto declared = contrary_declaration(output, type);
          declared && !counted && options_.input_shapes.empty())
        notes_.push_back(fmt::format("output '{}' is declared as {}, and what the model computes is {}",
                                     output.name(), *declared, to_string(type)));
      LATHE_TRY_STATUS(builder_.output(*id));
      if (counted) {
        LATHE_TRY(const std::string count, give_count(builder_, output.name(), *counted));
        notes_.push_back(counted_.refusal(held) + fmt::format(": output '{}' does", count));
      }
      gives_any = true;
    }
    if (gives_any) return {};
    return fail(ErrorKind::unsupported, nothing + ", and there is no other to compute" + hint_);
  }

  onnx::ModelProto& model_;
  onnx::GraphProto& graph_;
  const OnnxImportOptions& options_;
  GraphBuilder builder_;
  HalfTensors halves_{builder_, [this](const std::string& name) { return is_output_of(graph_, name); }};
  std::unordered_set<std::string> names_read_;
  Sequences sequences_;
  CountedTensors counted_{builder_};
  size_t nodes_of_bodies_ = 0;
  int64_t operator_set_ = 0;
  std::set<std::string> data_files_;
  std::vector<std::string> notes_;
  std::string hint_;            // what may be done where something lacks elements
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

}  // namespace

Result<Graph> import_onnx_bytes(const std::string& bytes, const std::string& name,
                                const OnnxImportOptions& options) {
  LATHE_TRY(const auto model, parse_model(bytes, name));
  return import_model(*model, name, options);
}

Result<Graph> import_onnx(const std::string& path, const OnnxImportOptions& options) {
  LATHE_TRY(const auto model, read_model(path));
  OnnxImportOptions within = options;
  within.data_folders = folders_beside(path);
  return import_model(*model, path, within);
}

}  // namespace lathe
