#include "graph/onnx/nodes/sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "graph/onnx/bodies.h"
#include "graph/onnx/node_types.h"
#include "graph/onnx/proto.h"
#include "ops/axes.h"

namespace lathe {

namespace {

using Names = NodeWriter::Names;

// A node of sequences and the names that it reads and gives.
class SequenceNode {
 public:
  SequenceNode(const onnx::NodeProto& node, const BodyImport& import, size_t& nodes)
      : node_(node), writer_(node, import, nodes), sequences_(import.sequences) {}

  Status construct() { return give({node_.input().begin(), node_.input().end()}); }
  Status make_empty() { return give({}); }

  Status insert() {
    LATHE_TRY(Names tensors, sequence(0));
    const auto size = static_cast<int64_t>(tensors.size());
    LATHE_TRY(const int64_t place, place_within(2, size, size));
    tensors.insert(tensors.begin() + place, input(1));
    return give(std::move(tensors));
  }

  Status erase() {
    LATHE_TRY(Names tensors, sequence(0));
    LATHE_TRY(const int64_t place, place_of_element(1, tensors));
    tensors.erase(tensors.begin() + place);
    return give(std::move(tensors));
  }

  // Where only a run tells the place, the tensors lie behind each other and it picks one.
  Status at() {
    LATHE_TRY(const Names tensors, sequence(0));
    LATHE_TRY(const std::optional<double> known, writer_.known_number(input(1)));
    if (!known && !tensors.empty()) {
      const std::string &place = writer_.place(), number = place + "#at";
      LATHE_TRY_STATUS(check_one_type(tensors));
      LATHE_TRY(const std::string all, writer_.add_stack(tensors, 0, place + "#all"));
      LATHE_TRY_STATUS(writer_.add_plain("Squeeze", {input(1)}, number));
      return writer_.add_plain("Gather", {all, number}, node_.output(0));
    }
    LATHE_TRY(const int64_t place, place_of_element(1, tensors));
    return give_tensor(tensors[static_cast<size_t>(place)]);
  }

  Status length() {
    LATHE_TRY(const Names tensors, sequence(0));
    return writer_.add_constant(node_.output(0), DType::i64, {static_cast<int64_t>(tensors.size())}, {});
  }

  Status split() {
    LATHE_TRY(const GraphTensor* const tensor, writer_.tensor(input(0)));
    const Shape shape = tensor->type.shape;
    LATHE_TRY(const size_t axis, axis_of(integer("axis", 0), shape.size()));
    const bool has_sizes = !input(1).empty();
    LATHE_TRY(const Shape sizes, split_sizes(has_sizes, shape[axis]));
    const bool keeps_axis = has_sizes || integer("keepdims", 1) != 0;
    Names parts;
    int64_t start = 0;
    for (const int64_t size : sizes) {
      parts.push_back(fmt::format("{}/{}", writer_.place(), parts.size()));
      LATHE_TRY_STATUS(keeps_axis
                           ? add_part(axis, start, size, parts.back())
                           : writer_.add_pick(input(0), static_cast<int64_t>(axis), start, parts.back()));
      start += size;
    }
    return give(std::move(parts));
  }

  Status concat() {
    LATHE_TRY(const Names tensors, sequence(0));
    if (tensors.empty())
      return fail(ErrorKind::invalid_argument, "it joins the tensors of an empty sequence");
    const std::string place = writer_.place() + "#joined";
    if (integer("new_axis", 0) != 0) {
      LATHE_TRY_STATUS(check_one_type(tensors));
      LATHE_TRY(const std::string joined, writer_.add_stack(tensors, integer("axis", 0), place));
      return give_tensor(joined);
    }
    LATHE_TRY(const GraphTensor* const first, writer_.tensor(tensors.front()));
    LATHE_TRY(const size_t axis, axis_of(integer("axis", 0), first->type.shape.size()));
    LATHE_TRY(const std::string joined, writer_.add_joined(tensors, axis, place));
    return give_tensor(joined);
  }

  Status map() {
    LATHE_TRY(const onnx::GraphProto* const body, writer_.body("body"));
    if (body->input_size() != node_.input_size() || body->output_size() != node_.output_size()) {
      return fail(
          ErrorKind::invalid_argument,
          fmt::format("its body has {} inputs and {} outputs, and the node {} and {}", body->input_size(),
                      body->output_size(), node_.input_size(), node_.output_size()));
    }
    LATHE_TRY(const Names first, sequence(0));
    StandingBody standing(*body, writer_.place());
    LATHE_TRY_STATUS(writer_.add_all(standing.constants()));
    std::vector<Names> results(static_cast<size_t>(node_.output_size()));
    for (size_t run = 0; run < first.size(); ++run) {
      Names inputs;
      for (const std::string& name : node_.input()) {
        const Names* tensors = sequences_.find(name);
        if (tensors != nullptr && tensors->size() != first.size())
          return fail(ErrorKind::invalid_argument,
                      fmt::format("its sequences have {} and {} tensors", first.size(), tensors->size()));
        inputs.push_back(tensors == nullptr ? name : (*tensors)[run]);
      }
      LATHE_TRY_STATUS(writer_.add_all(standing.run(run, inputs)));
      for (size_t i = 0; i < results.size(); ++i) results[i].push_back(standing.outputs()[i]);
    }
    for (size_t i = 0; i < results.size(); ++i)
      sequences_.set(node_.output(static_cast<int>(i)), std::move(results[i]));
    return {};
  }

  Status make_optional() {
    if (!input(0).empty()) return give_held(input(0));
    sequences_.set_none(node_.output(0));
    return {};
  }

  Status has_element() {
    const std::string name = input(0);
    if (!name.empty() && !sequences_.has(name)) LATHE_TRY_STATUS(writer_.tensor(name));
    const bool has = !name.empty() && !sequences_.is_none(name);
    return writer_.add_constant(node_.output(0), DType::boolean, {has ? 1 : 0}, {});
  }

  Status get_element() {
    if (!sequences_.is_none(input(0))) return give_held(input(0));
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' has no element to get", input(0)));
  }

 private:
  // Empty where it is left out.
  std::string input(int number) const { return number < node_.input_size() ? node_.input(number) : ""; }

  int64_t integer(const char* name, int64_t otherwise) const {
    for (const onnx::AttributeProto& attribute : node_.attribute())
      if (attribute.name() == name) return attribute.i();
    return otherwise;
  }

  Result<Names> sequence(int number) const {
    if (const Names* tensors = sequences_.find(input(number))) return *tensors;
    return fail(ErrorKind::invalid_argument,
                fmt::format("it reads '{}', which no earlier node gives as a sequence", input(number)));
  }

  // The tensors under the name of the node's output; all are of one element type.
  Status give(Names tensors) {
    std::optional<DType> dtype;
    for (const std::string& name : tensors) {
      LATHE_TRY(const GraphTensor* const tensor, writer_.tensor(name));
      if (dtype.value_or(tensor->type.dtype) != tensor->type.dtype) {
        return fail(
            ErrorKind::invalid_argument,
            fmt::format("its tensors are of {} and {}", to_string(*dtype), to_string(tensor->type.dtype)));
      }
      dtype = tensor->type.dtype;
    }
    sequences_.set(node_.output(0), std::move(tensors));
    return {};
  }
  Status give_tensor(const std::string& tensor) {
    return writer_.add_plain("Identity", {tensor}, node_.output(0));
  }
  // A tensor, a sequence, or neither.
  Status give_held(const std::string& name) {
    if (!sequences_.has(name)) return give_tensor(name);
    sequences_.copy(name, node_.output(0));
    return {};
  }

  Status check_one_type(const Names& tensors) const {
    LATHE_TRY(const GraphTensor* const first, writer_.tensor(tensors.front()));
    for (const std::string& name : tensors) {
      LATHE_TRY(const GraphTensor* const tensor, writer_.tensor(name));
      if (tensor->type == first->type) continue;
      return fail(ErrorKind::invalid_argument,
                  fmt::format("its tensors are {} and {}, and must be of one type", to_string(first->type),
                              to_string(tensor->type)));
    }
    return {};
  }

  // A place of a list of so many, from -size to `last`, that an input names; `last` where it is left out.
  Result<int64_t> place_within(int number, int64_t size, int64_t last) const {
    if (input(number).empty()) return last;
    LATHE_TRY(const std::optional<double> known, writer_.known_number(input(number)));
    if (!known) {
      return fail(ErrorKind::unsupported,
                  "its position is known only when the model runs, and Lathe supports one that is constant");
    }
    const auto place = static_cast<int64_t>(*known);
    if (place >= -size && place <= last) return place < 0 ? place + size : place;
    return fail(ErrorKind::invalid_argument,
                fmt::format("its position is {}, and its sequence has {} tensors", place, size));
  }
  Result<int64_t> place_of_element(int number, const Names& tensors) const {
    const auto size = static_cast<int64_t>(tensors.size());
    if (size > 0) return place_within(number, size, size - 1);
    return fail(ErrorKind::invalid_argument, "its sequence is empty");
  }

  // How long the parts are that an axis of so many places is split into.
  Result<Shape> split_sizes(bool are_given, int64_t extent) const {
    if (!are_given) return Shape(static_cast<size_t>(extent), 1);
    LATHE_TRY(const GraphTensor* const given, writer_.tensor(input(1)));
    if (!given->is_constant()) {
      return fail(ErrorKind::unsupported,
                  "its sizes are known only when the model runs, and Lathe supports constant ones");
    }
    const std::vector<double> numbers = values_of(*given);
    Shape sizes(numbers.begin(), numbers.end());
    if (given->type.shape.empty() && sizes[0] > 0) {
      const int64_t size = sizes[0];
      sizes.assign(static_cast<size_t>(extent / size), size);
      if (extent % size != 0) sizes.push_back(extent % size);
    }
    int64_t sum = 0;
    for (const int64_t size : sizes) sum = size < 0 ? extent + 1 : sum + size;
    if (sum == extent) return sizes;
    return fail(ErrorKind::invalid_argument,
                fmt::format("its sizes {} do not split an axis of {} places",
                            to_string(Shape(numbers.begin(), numbers.end())), extent));
  }

  Status add_part(size_t axis, int64_t start, int64_t size, const std::string& name) {
    const std::array bounds{std::pair{"#starts", start}, std::pair{"#ends", start + size},
                            std::pair{"#axes", static_cast<int64_t>(axis)}};
    Names inputs{input(0)};
    for (const auto& [suffix, value] : bounds) {
      inputs.push_back(name + suffix);
      LATHE_TRY_STATUS(writer_.add_integers(inputs.back(), {value}));
    }
    return writer_.add_plain("Slice", inputs, name);
  }

  const onnx::NodeProto& node_;
  NodeWriter writer_;
  Sequences& sequences_;
};

struct SequenceOperator {
  std::string_view type;
  int64_t since;
  int least_inputs, most_inputs;
  Status (SequenceNode::*add)();
};

constexpr int kMany = 1 << 20;
constexpr SequenceOperator kOperators[] = {
    {"ConcatFromSequence", 11, 1, 1, &SequenceNode::concat},
    {"Optional", 15, 0, 1, &SequenceNode::make_optional},
    {"OptionalGetElement", 15, 1, 1, &SequenceNode::get_element},
    {"OptionalHasElement", 15, 0, 1, &SequenceNode::has_element},
    {"SequenceAt", 11, 2, 2, &SequenceNode::at},
    {"SequenceConstruct", 11, 1, kMany, &SequenceNode::construct},
    {"SequenceEmpty", 11, 0, 0, &SequenceNode::make_empty},
    {"SequenceErase", 11, 1, 2, &SequenceNode::erase},
    {"SequenceInsert", 11, 2, 3, &SequenceNode::insert},
    {"SequenceLength", 11, 1, 1, &SequenceNode::length},
    {"SequenceMap", 17, 1, kMany, &SequenceNode::map},
    {"SplitToSequence", 11, 1, 2, &SequenceNode::split},
};

const SequenceOperator* find_operator(const onnx::NodeProto& node) {
  const auto* found = std::ranges::find(kOperators, node.op_type(), &SequenceOperator::type);
  return is_own_domain(node.domain()) && found != std::end(kOperators) ? found : nullptr;
}

}  // namespace

const std::vector<std::string>* Sequences::find(const std::string& name) const {
  const auto found = held_.find(name);
  return found == held_.end() || !found->second ? nullptr : &*found->second;
}

bool Sequences::is_none(const std::string& name) const {
  const auto found = held_.find(name);
  return found != held_.end() && !found->second;
}

Result<std::vector<onnx::NodeProto>> list_sequence_outputs(onnx::GraphProto& graph,
                                                           const Sequences& sequences) {
  std::vector<onnx::NodeProto> copies;
  const auto outputs = *graph.mutable_output();
  graph.clear_output();
  for (const onnx::ValueInfoProto& output : outputs) {
    if (sequences.is_none(output.name()))
      return fail(ErrorKind::unsupported,
                  fmt::format("output '{}' is an optional without a value", output.name()));
    const Names* tensors = sequences.find(output.name());
    if (tensors == nullptr) *graph.add_output() = output;
    for (size_t i = 0; tensors != nullptr && i < tensors->size(); ++i) {
      onnx::NodeProto& copy = copies.emplace_back();
      copy.set_op_type("Identity");
      copy.add_input((*tensors)[i]);
      copy.add_output(fmt::format("{}.{}", output.name(), i));
      graph.add_output()->set_name(copy.output(0));
    }
  }
  return copies;
}

std::optional<int64_t> sequence_operator_since(const onnx::NodeProto& node) {
  const SequenceOperator* found = find_operator(node);
  return found == nullptr ? std::nullopt : std::optional(found->since);
}

Status add_sequence_operator(const onnx::NodeProto& node, const BodyImport& import, size_t& nodes) {
  const SequenceOperator& row = *find_operator(node);
  if (node.output_size() == 0 || node.output(0).empty()) return {};
  if (node.input_size() >= row.least_inputs && node.input_size() <= row.most_inputs)
    return (SequenceNode(node, import, nodes).*row.add)();
  return fail(ErrorKind::invalid_argument, wrong_number_of_inputs(static_cast<size_t>(node.input_size()),
                                                                  static_cast<size_t>(row.least_inputs),
                                                                  static_cast<size_t>(row.most_inputs)));
}

}  // namespace lathe
