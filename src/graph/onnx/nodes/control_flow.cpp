#include "graph/onnx/nodes/control_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "graph/onnx/bodies.h"
#include "graph/onnx/node_types.h"
#include "graph/onnx/proto.h"

namespace lathe {

namespace {

using Names = std::vector<std::string>;

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, const char* name) {
  for (const onnx::AttributeProto& attribute : node.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

Result<const onnx::GraphProto*> body_of(const onnx::NodeProto& node, const char* name) {
  const onnx::AttributeProto* attribute = find_attribute(node, name);
  if (attribute != nullptr && attribute->has_g()) return &attribute->g();
  return fail(ErrorKind::invalid_argument, fmt::format("it has no attribute '{}' that is a graph", name));
}

// Integers of an attribute, one for each of `count`; zeros where it is absent.
Result<Shape> integers_of(const onnx::NodeProto& node, const char* name, size_t count) {
  const onnx::AttributeProto* attribute = find_attribute(node, name);
  if (attribute == nullptr) return Shape(count, 0);
  Shape values(attribute->ints().begin(), attribute->ints().end());
  if (values.size() == count) return values;
  return fail(ErrorKind::invalid_argument,
              fmt::format("attribute '{}' has {} numbers, and must have {}", name, values.size(), count));
}

// One node with its bodies and the names that it reads and gives.
class ControlFlow {
 public:
  ControlFlow(const onnx::NodeProto& node, const BodyImport& import, size_t& nodes)
      : node_(node), import_(import), nodes_(nodes) {
    for (const std::string& output : node.output())
      if (place_.empty()) place_ = output;
  }

  Status add_if() {
    LATHE_TRY(const onnx::GraphProto* const on_true, body_of(node_, "then_branch"));
    LATHE_TRY(const onnx::GraphProto* const on_false, body_of(node_, "else_branch"));
    for (const onnx::GraphProto* branch : {on_true, on_false}) {
      if (branch->output_size() == node_.output_size() && branch->input_size() == 0) continue;
      return fail(ErrorKind::invalid_argument,
                  fmt::format("a branch has {} inputs and {} outputs, and the node {} outputs",
                              branch->input_size(), branch->output_size(), node_.output_size()));
    }
    if (node_.input_size() != 1) return fail(ErrorKind::invalid_argument, "it has not one input");
    LATHE_TRY(const std::optional<double> known, known_number(node_.input(0)));
    if (known) {
      LATHE_TRY(const Names outputs, add_branch(*known != 0 ? *on_true : *on_false, "branch"));
      return give(outputs);
    }
    LATHE_TRY(const Names if_true, add_branch(*on_true, "then"));
    LATHE_TRY(const Names if_false, add_branch(*on_false, "else"));
    return choose(if_true, if_false);
  }

  Status add_loop() {
    LATHE_TRY(const onnx::GraphProto* const body, body_of(node_, "body"));
    const size_t carried = node_.input_size() > 2 ? static_cast<size_t>(node_.input_size()) - 2 : 0;
    LATHE_TRY_STATUS(
        check_body(*body, carried + 2, static_cast<size_t>(node_.output_size()) + 1, carried + 1));
    LATHE_TRY(const std::optional<double> count, input_number(0, "its count"));
    LATHE_TRY(const std::optional<double> condition, input_number(1, "its condition"));
    StandingBody standing(*body, place_);
    LATHE_TRY_STATUS(add_all(standing.constants()));
    Names state = inputs_from(2);
    std::vector<Names> gathered(static_cast<size_t>(node_.output_size()) - carried);
    bool goes_on = condition.value_or(1) != 0;
    for (size_t run = 0; goes_on && (!count || static_cast<double>(run) < *count); ++run) {
      Names inputs{fmt::format("{}/{}#run", place_, run), fmt::format("{}/{}#goes_on", place_, run)};
      LATHE_TRY_STATUS(add_constant(inputs[0], DType::i64, {static_cast<int64_t>(run)}, {}));
      LATHE_TRY_STATUS(add_constant(inputs[1], DType::boolean, {1}, {}));
      inputs.insert(inputs.end(), state.begin(), state.end());
      LATHE_TRY_STATUS(add_all(standing.run(run, inputs)));
      const Names& outputs = standing.outputs();
      LATHE_TRY(const std::optional<double> next, known_number(outputs[0]));
      if (!next) return fail_unknown("its condition after a run of its body");
      goes_on = *next != 0;
      const auto first = outputs.begin() + 1;
      state.assign(first, first + static_cast<std::ptrdiff_t>(carried));
      for (size_t i = 0; i < gathered.size(); ++i) gathered[i].push_back(outputs[1 + carried + i]);
    }
    for (size_t i = 0; i < gathered.size(); ++i) {
      LATHE_TRY(const std::string joined, join(gathered[i], 0, carried + i));
      state.push_back(joined);
    }
    return give(state);
  }

  Status add_scan() {
    LATHE_TRY(const Scanned counts, read_scan(0));
    const auto [body, scanned, carried, gives] = counts;
    LATHE_TRY(const Shape in_axes, integers_of(node_, "scan_input_axes", scanned));
    LATHE_TRY(const Shape in_backwards, integers_of(node_, "scan_input_directions", scanned));
    LATHE_TRY(const Shape out_axes, integers_of(node_, "scan_output_axes", gives));
    LATHE_TRY(const Shape out_backwards, integers_of(node_, "scan_output_directions", gives));
    const Names sequences = inputs_from(carried);
    LATHE_TRY(const int64_t places, places_of(sequences, in_axes));
    StandingBody standing(*body, place_);
    LATHE_TRY_STATUS(add_all(standing.constants()));
    Names state = inputs_from(0);
    state.resize(carried);
    std::vector<Names> gathered(gives);
    LATHE_TRY_STATUS(scan({standing, sequences, in_axes, in_backwards, places, 0}, state, gathered));
    for (size_t i = 0; i < gives; ++i) {
      if (out_backwards[i] != 0) std::ranges::reverse(gathered[i]);
      LATHE_TRY(const std::string joined, join(gathered[i], out_axes[i], carried + i));
      state.push_back(joined);
    }
    return give(state);
  }

  // Of operator set 8: all have a batch in front, whose sequences are scanned one after another.
  Status add_batched_scan() {
    LATHE_TRY(const Scanned counts, read_scan(1));
    const auto [body, scanned, carried, gives] = counts;
    LATHE_TRY(const Shape in_backwards, integers_of(node_, "directions", scanned));
    const Names given = inputs_from(1),
                sequences(given.begin() + static_cast<std::ptrdiff_t>(carried), given.end());
    LATHE_TRY(const int64_t batch, places_of(given, Shape(given.size(), 0)));
    LATHE_TRY(const int64_t places, places_of(sequences, Shape(scanned, 1)));
    LATHE_TRY_STATUS(check_lengths(places));
    StandingBody standing(*body, place_);
    LATHE_TRY_STATUS(add_all(standing.constants()));
    std::vector<Names> results(carried + gives);
    for (int64_t n = 0; n < batch; ++n) {
      Names own;
      for (size_t i = 0; i < given.size(); ++i) {
        LATHE_TRY(const std::string part, pick(given[i], 0, n, fmt::format("{}#batch{}#{}", place_, n, i)));
        own.push_back(part);
      }
      Names state(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(carried));
      own.erase(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(carried));
      std::vector<Names> gathered(gives);
      LATHE_TRY_STATUS(
          scan({standing, own, Shape(scanned, 0), in_backwards, places, n * places}, state, gathered));
      for (size_t i = 0; i < carried; ++i) results[i].push_back(state[i]);
      for (size_t i = 0; i < gives; ++i)
        results[carried + i].insert(results[carried + i].end(), gathered[i].begin(), gathered[i].end());
    }
    Names outputs;
    for (size_t i = 0; i < results.size(); ++i) {
      LATHE_TRY(std::string joined, join(results[i], 0, i));
      if (i >= carried && !joined.empty()) {
        LATHE_TRY(joined, split_first_axis(joined, {batch, places}));
      }
      outputs.push_back(joined);
    }
    return give(outputs);
  }

 private:
  // What a Scan says: its body, how many inputs are sequences, and how many others and outputs go on from run
  // to run or are gathered.
  struct Scanned {
    const onnx::GraphProto* body;
    size_t scanned, carried, gives;
  };
  // Of the inputs from the `first` on.
  Result<Scanned> read_scan(size_t first) const {
    LATHE_TRY(const onnx::GraphProto* const body, body_of(node_, "body"));
    const onnx::AttributeProto* attribute = find_attribute(node_, "num_scan_inputs");
    const size_t all = inputs_from(first).size(), given = static_cast<size_t>(node_.output_size());
    const auto scanned = static_cast<size_t>(attribute == nullptr ? 0 : std::max<int64_t>(attribute->i(), 0));
    if (scanned == 0 || scanned > all || all - scanned > given)
      return fail(ErrorKind::invalid_argument, "its inputs and outputs do not fit 'num_scan_inputs'");
    LATHE_TRY_STATUS(check_body(*body, all, given, all - scanned));
    return Scanned{body, scanned, all - scanned, given + scanned - all};
  }

  // The runs of a body over the places of sequences.
  struct Scan {
    StandingBody& standing;
    const Names& sequences;
    const Shape& axes;       // of the sequences
    const Shape& backwards;  // which of them are read from their end on
    int64_t places;
    int64_t first_run;  // the number of the first run
  };
  Status scan(const Scan& op, Names& state, std::vector<Names>& gathered) {
    for (int64_t place = 0; place < op.places; ++place) {
      const int64_t run = op.first_run + place;
      Names inputs = state;
      for (size_t i = 0; i < op.sequences.size(); ++i) {
        LATHE_TRY(const std::string part,
                  pick(op.sequences[i], op.axes[i], op.backwards[i] != 0 ? op.places - 1 - place : place,
                       fmt::format("{}/{}#{}", place_, run, i)));
        inputs.push_back(part);
      }
      LATHE_TRY_STATUS(add_all(op.standing.run(static_cast<size_t>(run), inputs)));
      const auto first = op.standing.outputs().begin();
      const auto behind = first + static_cast<std::ptrdiff_t>(state.size());
      state.assign(first, behind);
      for (size_t i = 0; i < gathered.size(); ++i)
        gathered[i].push_back(op.standing.outputs()[state.size() + i]);
    }
    return {};
  }

  // An Error unless all sequences of a batch are as long as the data.
  Status check_lengths(int64_t places) const {
    if (node_.input(0).empty()) return {};
    const GraphTensor* lengths = import_.find(node_.input(0));
    if (lengths == nullptr || !lengths->is_constant()) return fail_unknown("the length of its sequences");
    const auto is_whole = [&](double length) { return length == static_cast<double>(places); };
    if (std::ranges::all_of(values_of(*lengths), is_whole)) return {};
    return fail(ErrorKind::unsupported,
                fmt::format("its sequences are not all as long as the data, of {} places", places));
  }

  // The tensor with its first axis as two.
  Result<std::string> split_first_axis(const std::string& name, Shape extents) {
    const Shape& shape = import_.find(name)->type.shape;
    extents.insert(extents.end(), shape.begin() + 1, shape.end());
    std::string split = name + "#split";
    LATHE_TRY_STATUS(
        add_constant(split + "#shape", DType::i64, extents, {static_cast<int64_t>(extents.size())}));
    LATHE_TRY_STATUS(add_plain("Reshape", {name, split + "#shape"}, split));
    return split;
  }

  static Status check_body(const onnx::GraphProto& body, size_t inputs, size_t outputs,
                           size_t least_outputs) {
    if (static_cast<size_t>(body.input_size()) == inputs &&
        static_cast<size_t>(body.output_size()) == outputs && outputs >= least_outputs)
      return {};
    return fail(ErrorKind::invalid_argument,
                fmt::format("its body has {} inputs and {} outputs, and by those of the node it must have {} "
                            "and {}",
                            body.input_size(), body.output_size(), inputs, std::max(outputs, least_outputs)));
  }

  static std::unexpected<Error> fail_unknown(const std::string& what) {
    return fail(ErrorKind::unsupported,
                what + " is known only when the model runs, and Lathe supports one that is constant");
  }

  // The one value of a constant; none where it is computed when the model runs.
  Result<std::optional<double>> known_number(const std::string& name) const {
    const GraphTensor* tensor = import_.find(name);
    if (tensor == nullptr) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("it reads '{}', which no input, initializer or earlier node gives", name));
    }
    if (elements_of(tensor->type.shape) != 1) {
      return fail(ErrorKind::invalid_argument, fmt::format("'{}' has shape {}, and must be one value", name,
                                                           to_string(tensor->type.shape)));
    }
    return tensor->is_constant() ? std::optional(values_of(*tensor).front()) : std::nullopt;
  }

  // The same of an input that may be left out, and must be constant where it is there.
  Result<std::optional<double>> input_number(int input, const char* what) const {
    if (input >= node_.input_size() || node_.input(input).empty()) return std::nullopt;
    LATHE_TRY(const std::optional<double> number, known_number(node_.input(input)));
    if (!number) return fail_unknown(what);
    return number;
  }

  Names inputs_from(size_t first) const {
    const auto& inputs = node_.input();
    const auto skipped = static_cast<std::ptrdiff_t>(std::min(first, static_cast<size_t>(inputs.size())));
    return {inputs.begin() + skipped, inputs.end()};
  }

  // How many runs the sequences are long.
  Result<int64_t> places_of(const Names& sequences, const Shape& axes) const {
    std::optional<int64_t> places;
    for (size_t i = 0; i < sequences.size(); ++i) {
      const GraphTensor* tensor = import_.find(sequences[i]);
      if (tensor == nullptr)
        return fail(ErrorKind::invalid_argument, fmt::format("nothing gives its input '{}'", sequences[i]));
      const Shape& shape = tensor->type.shape;
      LATHE_TRY(const size_t axis, axis_of(axes[i], shape.size()));
      if (places.value_or(shape[axis]) != shape[axis])
        return fail(ErrorKind::invalid_argument, "its sequences are not of one length");
      places = shape[axis];
    }
    return places.value_or(0);
  }

  Status add(onnx::NodeProto& node) {
    if (++nodes_ <= kMostNodesOfBodies) return import_.add(node);
    return fail(ErrorKind::unsupported,
                fmt::format("with it the model's bodies come to more than {} nodes", kMostNodesOfBodies));
  }
  Status add_all(std::vector<onnx::NodeProto> nodes) {
    for (onnx::NodeProto& node : nodes) LATHE_TRY_STATUS(add(node));
    return {};
  }

  onnx::NodeProto plain(const char* type, const Names& inputs, const std::string& output) const {
    onnx::NodeProto node;
    node.set_op_type(type);
    node.set_name(output == node_.output(0) && !node_.name().empty() ? node_.name() : output);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(output);
    return node;
  }
  static void set_integer(onnx::NodeProto& node, const char* name, int64_t value) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto_AttributeType_INT);
    attribute.set_i(value);
  }
  Status add_plain(const char* type, const Names& inputs, const std::string& output) {
    onnx::NodeProto node = plain(type, inputs, output);
    return add(node);
  }
  Status add_constant(const std::string& name, DType dtype, const Shape& values, const Shape& shape) {
    onnx::NodeProto node = plain("Constant", {}, name);
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name("value");
    attribute.set_type(onnx::AttributeProto_AttributeType_TENSOR);
    onnx::TensorProto& tensor = *attribute.mutable_t();
    for (const int64_t extent : shape) tensor.add_dims(extent);
    const bool is_flag = dtype == DType::boolean;
    tensor.set_data_type(is_flag ? onnx::TensorProto_DataType_BOOL : onnx::TensorProto_DataType_INT64);
    for (const int64_t value : values) {
      if (is_flag)
        tensor.add_int32_data(static_cast<int32_t>(value));
      else
        tensor.add_int64_data(value);
    }
    return add(node);
  }

  // The place `at` along an axis, which goes.
  Result<std::string> pick(const std::string& sequence, int64_t axis, int64_t at, const std::string& name) {
    LATHE_TRY_STATUS(add_constant(name + "#at", DType::i64, {at}, {}));
    onnx::NodeProto node = plain("Gather", {sequence, name + "#at"}, name);
    set_integer(node, "axis", axis);
    LATHE_TRY_STATUS(add(node));
    return name;
  }

  // The parts of all runs behind each other along a new axis, for the node's output `output`; no name where
  // nothing reads it.
  Result<std::string> join(Names parts, int64_t axis, size_t output) {
    constexpr size_t kMostParts = 1024;
    if (node_.output(static_cast<int>(output)).empty()) return std::string();
    if (parts.empty()) {
      return fail(ErrorKind::unsupported,
                  fmt::format("its body never runs, and its output '{}' has no elements",
                              node_.output(static_cast<int>(output))));
    }
    const GraphTensor* tensor = import_.find(parts.front());
    if (tensor == nullptr)
      return fail(ErrorKind::invalid_argument, fmt::format("nothing gives '{}'", parts.front()));
    Shape wider = tensor->type.shape;
    LATHE_TRY(const size_t at, axis_of(axis, wider.size() + 1));
    wider.insert(wider.begin() + static_cast<std::ptrdiff_t>(at), 1);
    const std::string place = fmt::format("{}#{}", place_, output);
    LATHE_TRY_STATUS(add_constant(place + "#shape", DType::i64, wider, {static_cast<int64_t>(wider.size())}));
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::string name = fmt::format("{}/{}", place, i);
      LATHE_TRY_STATUS(add_plain("Reshape", {parts[i], place + "#shape"}, name));
      parts[i] = name;
    }
    for (size_t round = 0; parts.size() > 1; ++round) {
      Names longer;
      for (size_t first = 0; first < parts.size(); first += kMostParts) {
        const size_t last = std::min(first + kMostParts, parts.size());
        longer.push_back(fmt::format("{}#{}/{}", place, round, first));
        onnx::NodeProto node = plain("Concat",
                                     {parts.begin() + static_cast<std::ptrdiff_t>(first),
                                      parts.begin() + static_cast<std::ptrdiff_t>(last)},
                                     longer.back());
        set_integer(node, "axis", static_cast<int64_t>(at));
        LATHE_TRY_STATUS(add(node));
      }
      parts = longer;
    }
    return parts.front();
  }

  Result<Names> add_branch(const onnx::GraphProto& branch, const char* name) {
    StandingBody standing(branch, fmt::format("{}#{}", place_, name));
    LATHE_TRY_STATUS(add_all(standing.constants()));
    LATHE_TRY_STATUS(add_all(standing.run(0, {})));
    return standing.outputs();
  }

  // The tensors under the names of the node's outputs.
  Status give(const Names& tensors) {
    for (int i = 0; i < node_.output_size(); ++i) {
      if (node_.output(i).empty()) continue;
      LATHE_TRY_STATUS(add_plain("Identity", {tensors.at(static_cast<size_t>(i))}, node_.output(i)));
    }
    return {};
  }

  Status choose(const Names& if_true, const Names& if_false) {
    const std::string condition = place_ + "#condition";
    LATHE_TRY_STATUS(add_plain("Squeeze", {node_.input(0)}, condition));
    for (int i = 0; i < node_.output_size(); ++i) {
      if (node_.output(i).empty()) continue;
      const auto number = static_cast<size_t>(i);
      const GraphTensor* a = import_.find(if_true[number]);
      const GraphTensor* b = import_.find(if_false[number]);
      if (a == nullptr || b == nullptr || a->type != b->type) {
        const auto type_of = [](const GraphTensor* tensor) {
          return tensor == nullptr ? std::string("nothing") : to_string(tensor->type);
        };
        return fail(ErrorKind::unsupported,
                    fmt::format("its condition is known only when the model runs, and its branches give {} "
                                "and {} as output {}; Lathe supports one type there",
                                type_of(a), type_of(b), i));
      }
      LATHE_TRY_STATUS(add_plain("Where", {condition, if_true[number], if_false[number]}, node_.output(i)));
    }
    return {};
  }

  const onnx::NodeProto& node_;
  const BodyImport& import_;
  size_t& nodes_;
  std::string place_;
};

}  // namespace

bool is_control_flow(const onnx::NodeProto& node) {
  const std::string& type = node.op_type();
  return is_own_domain(node.domain()) && (type == "If" || type == "Loop" || type == "Scan");
}

Status add_control_flow(const onnx::NodeProto& node, int64_t operator_set, const BodyImport& import,
                        size_t& nodes) {
  ControlFlow flow(node, import, nodes);
  if (std::ranges::all_of(node.output(), [](const std::string& name) { return name.empty(); })) return {};
  if (node.op_type() == "If") return flow.add_if();
  if (node.op_type() == "Loop") return flow.add_loop();
  return operator_set >= 9 ? flow.add_scan() : flow.add_batched_scan();
}

}  // namespace lathe
