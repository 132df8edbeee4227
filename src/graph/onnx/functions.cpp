#include "graph/onnx/functions.h"

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/onnx/bodies.h"
#include "graph/onnx/node_types.h"
#include "graph/onnx/proto.h"

namespace lathe {

namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

// Fields that newer versions of the format have and the generated classes do not know.
std::vector<std::string> unknown_fields(const google::protobuf::Message& message, int number) {
  std::vector<std::string> values;
  const google::protobuf::UnknownFieldSet& fields = message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    if (field.number() == number && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      values.push_back(field.length_delimited());
  }
  return values;
}

// Which of several functions of one name is meant.
std::string overload_of(const google::protobuf::Message& message, int field) {
  const std::vector<std::string> values = unknown_fields(message, field);
  return values.empty() ? "" : values.back();
}

using Key = std::tuple<std::string, std::string, std::string>;  // domain, name, overload

Key key_of(const std::string& domain, const std::string& name, const std::string& overload) {
  return {domain == "ai.onnx" ? "" : domain, name, overload};
}

class FunctionInliner {
 public:
  explicit FunctionInliner(onnx::ModelProto& model) : model_(model) {
    constexpr int kFunctionOverload = 13;
    for (const onnx::FunctionProto& function : model.functions())
      functions_[key_of(function.domain(), function.name(), overload_of(function, kFunctionOverload))] =
          &function;
  }

  Status run() {
    for (const onnx::OperatorSetIdProto& set : model_.opset_import())
      if (is_own_domain(set.domain())) operator_set_ = set.version();
    return expand_graph(*model_.mutable_graph());
  }

 private:
  const onnx::FunctionProto* called(const onnx::NodeProto& node) const {
    constexpr int kNodeOverload = 8;
    const auto found =
        functions_.find(key_of(node.domain(), node.op_type(), overload_of(node, kNodeOverload)));
    return found == functions_.end() ? nullptr : found->second;
  }

  Status expand_graph(onnx::GraphProto& graph) {
    Nodes nodes;
    for (onnx::NodeProto& node : *graph.mutable_node()) LATHE_TRY_STATUS(add(std::move(node), nodes));
    graph.mutable_node()->Swap(&nodes);
    return {};
  }

  Status add(onnx::NodeProto node, Nodes& nodes) {
    if (const onnx::FunctionProto* function = called(node)) return add_call(node, *function, nodes);
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) LATHE_TRY_STATUS(expand_graph(*attribute.mutable_g()));
      for (onnx::GraphProto& body : *attribute.mutable_graphs()) LATHE_TRY_STATUS(expand_graph(body));
    }
    *nodes.Add() = std::move(node);
    return {};
  }

  std::unexpected<Error> fail_at(const onnx::NodeProto& call, ErrorKind kind, const std::string& why) const {
    return fail(kind, fmt::format("node '{}' calls the model's function '{}', {}", name_of_node(call),
                                  call.op_type(), why));
  }

  static constexpr size_t kMostCallsDeep = 100;

  Status check_call(const onnx::NodeProto& call, const onnx::FunctionProto& function) const {
    if (std::ranges::find(calls_, &function) != calls_.end())
      return fail_at(call, ErrorKind::invalid_argument, "which calls itself");
    if (calls_.size() == kMostCallsDeep) {
      return fail_at(call, ErrorKind::unsupported,
                     fmt::format("and is itself within {} calls of such functions", kMostCallsDeep));
    }
    if (call.input_size() > function.input_size() || call.output_size() > function.output_size()) {
      return fail_at(call, ErrorKind::invalid_argument,
                     fmt::format("which has {} inputs and {} outputs, with {} and {}", function.input_size(),
                                 function.output_size(), call.input_size(), call.output_size()));
    }
    for (const onnx::OperatorSetIdProto& set : function.opset_import()) {
      if (!is_own_domain(set.domain()) || set.version() == operator_set_) continue;
      return fail_at(call, ErrorKind::unsupported,
                     fmt::format("which is written in ONNX operator set {}, and Lathe supports that of the "
                                 "model, {}, there",
                                 set.version(), operator_set_));
    }
    if (nodes_ > kMostNodesOfBodies) {
      return fail_at(call, ErrorKind::unsupported,
                     fmt::format("and with it its functions come to more than {} nodes", kMostNodesOfBodies));
    }
    return {};
  }

  Status add_call(const onnx::NodeProto& call, const onnx::FunctionProto& function, Nodes& nodes) {
    nodes_ += static_cast<size_t>(function.node_size());
    LATHE_TRY_STATUS(check_call(call, function));
    const std::string place = fmt::format("{}#{}", name_of_node(call), ++places_);
    TensorNames names;
    for (int i = 0; i < function.input_size(); ++i)
      names[function.input(i)] = i < call.input_size() ? call.input(i) : "";
    for (const onnx::NodeProto& node : function.node())
      for (const std::string& output : node.output())
        if (!output.empty()) names[output] = fmt::format("{}/{}", place, output);
    // An output that is one of the inputs, or is given twice, is a copy.
    std::vector<std::pair<std::string, std::string>> copies;
    for (int i = 0; i < call.output_size(); ++i) {
      if (call.output(i).empty()) continue;
      const std::string& inner = function.output(i);
      const bool is_input = std::ranges::find(function.input(), inner) != function.input().end();
      const bool is_again =
          i > 0 && std::ranges::find(function.output().begin(), function.output().begin() + i, inner) !=
                       function.output().begin() + i;
      if (is_input || is_again)
        copies.emplace_back(names[inner], call.output(i));
      else
        names[inner] = call.output(i);
    }
    calls_.push_back(&function);
    for (const onnx::NodeProto& node : function.node()) {
      onnx::NodeProto copy = with_names(node, names);
      copy.set_name(fmt::format("{}/{}", place, name_of_node(node)));
      bind_attributes(copy, call, function);
      LATHE_TRY_STATUS(add(std::move(copy), nodes));
    }
    calls_.pop_back();
    for (const auto& [from, to] : copies) {
      onnx::NodeProto& copy = *nodes.Add();
      copy.set_op_type("Identity");
      copy.add_input(from);
      copy.add_output(to);
    }
    return {};
  }

  // The attribute of the call, or else the value that the function has for it; null for none.
  static std::unique_ptr<onnx::AttributeProto> value_of(const std::string& name, const onnx::NodeProto& call,
                                                        const onnx::FunctionProto& function) {
    constexpr int kDefaults = 11;
    for (const onnx::AttributeProto& attribute : call.attribute())
      if (attribute.name() == name) return std::make_unique<onnx::AttributeProto>(attribute);
    for (const std::string& bytes : unknown_fields(function, kDefaults)) {
      auto attribute = std::make_unique<onnx::AttributeProto>();
      if (attribute->ParseFromString(bytes) && attribute->name() == name) return attribute;
    }
    return nullptr;
  }

  // Attributes that refer to those of the call get their values; one without a value goes.
  static void bind_attributes(onnx::NodeProto& node, const onnx::NodeProto& call,
                              const onnx::FunctionProto& function) {
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> bound;
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.ref_attr_name().empty()) {
        bind_bodies(attribute, call, function);
        *bound.Add() = std::move(attribute);
      } else if (const auto value = value_of(attribute.ref_attr_name(), call, function)) {
        value->set_name(attribute.name());
        *bound.Add() = std::move(*value);
      }
    }
    node.mutable_attribute()->Swap(&bound);
  }

  static void bind_bodies(onnx::AttributeProto& attribute, const onnx::NodeProto& call,
                          const onnx::FunctionProto& function) {
    if (!attribute.has_g()) return;
    for (onnx::NodeProto& node : *attribute.mutable_g()->mutable_node())
      bind_attributes(node, call, function);
  }

  onnx::ModelProto& model_;
  std::map<Key, const onnx::FunctionProto*> functions_;
  std::vector<const onnx::FunctionProto*> calls_;  // that are being expanded, the outermost first
  int64_t operator_set_ = 0;
  size_t nodes_ = 0;  // of all calls so far
  size_t places_ = 0;
};

}  // namespace

Status inline_functions(onnx::ModelProto& model) {
  return model.functions_size() == 0 ? Status() : FunctionInliner(model).run();
}

}  // namespace lathe
