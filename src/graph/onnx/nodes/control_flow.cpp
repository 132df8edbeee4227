#include "graph/onnx/nodes/control_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "graph/onnx/bodies.h"
#include "graph/onnx/node_types.h"
#include "graph/onnx/nodes/sequences.h"
#include "graph/onnx/nodes/stepped_body.h"
#include "graph/onnx/proto.h"

namespace lathe {

namespace {

using Names = NodeWriter::Names;

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, const char* name) {
  for (const onnx::AttributeProto& attribute : node.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
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
      : node_(node), writer_(node, import, nodes) {}

  Status add_if() {
    LATHE_TRY(const onnx::GraphProto* const on_true, writer_.body("then_branch"));
    LATHE_TRY(const onnx::GraphProto* const on_false, writer_.body("else_branch"));
    for (const onnx::GraphProto* branch : {on_true, on_false}) {
      if (branch->output_size() == node_.output_size() && branch->input_size() == 0) continue;
      return fail(ErrorKind::invalid_argument,
                  fmt::format("a branch has {} inputs and {} outputs, and the node {} outputs",
                              branch->input_size(), branch->output_size(), node_.output_size()));
    }
    if (node_.input_size() != 1) return fail(ErrorKind::invalid_argument, "it has not one input");
    LATHE_TRY(const std::optional<double> known, writer_.known_number(node_.input(0)));
    if (known) {
      LATHE_TRY(const Names outputs, add_branch(*known != 0 ? *on_true : *on_false, "branch"));
      return give(outputs);
    }
    if (is_heavy_branch(*on_true) || is_heavy_branch(*on_false)) {
      const Result<Names> stepped = add_stepped_if(writer_, *on_true, *on_false);
      if (stepped) return give(*stepped);
    }
    const Result<Names> if_true = add_branch(*on_true, "then");
    if (!if_true && if_true.error().kind != ErrorKind::invalid_argument)
      return std::unexpected(if_true.error());
    const Result<Names> if_false = add_branch(*on_false, "else");
    if (if_true && if_false) return choose_outputs(*if_true, *if_false);
    if (if_true || if_false)
      return give_only(if_true ? *if_true : *if_false, if_true.has_value(),
                       if_true ? if_false.error() : if_true.error());
    return std::unexpected(if_false.error());
  }

  Status add_loop() {
    LATHE_TRY(const onnx::GraphProto* const body, writer_.body("body"));
    const size_t carried = node_.input_size() > 2 ? static_cast<size_t>(node_.input_size()) - 2 : 0;
    LATHE_TRY_STATUS(
        check_body(*body, carried + 2, static_cast<size_t>(node_.output_size()) + 1, carried + 1));
    LATHE_TRY(const std::optional<double> count, known_count());
    LATHE_TRY_STATUS(begin_condition());
    const Result<std::optional<Names>> stepped = add_steps(*body, count);
    if (stepped && *stepped) return give(**stepped);
    if (stepped) {
      return fail(ErrorKind::unsupported,
                  "nothing ends it: its body's condition is always true, and no count is given that a run "
                  "reaches");
    }
    if (goes_on_ && !count && !input(0).empty()) return std::unexpected(stepped.error());
    StandingBody standing(*body, writer_.place());
    LATHE_TRY_STATUS(writer_.add_all(standing.constants()));
    Names state = inputs_from(2);
    std::vector<Names> gathered(static_cast<size_t>(node_.output_size()) - carried);
    for (size_t run = 0; goes_on_ && (!count || static_cast<double>(run) < *count); ++run) {
      LATHE_TRY(const Names outputs, run_once(standing, run, state));
      const auto first = outputs.begin() + 1;
      const Names next(first, first + static_cast<std::ptrdiff_t>(carried));
      LATHE_TRY(state, kept_while_running(state, next, run));
      for (size_t i = 0; i < gathered.size(); ++i) gathered[i].push_back(outputs[1 + carried + i]);
      if (!count && run >= kMostRunsWrittenOut && !is_running_.empty())
        return std::unexpected(stepped.error());
      LATHE_TRY_STATUS(read_condition(outputs[0], run));
    }
    for (size_t i = 0; i < gathered.size(); ++i) {
      if (!is_running_.empty() && !node_.output(static_cast<int>(carried + i)).empty()) {
        return fail(ErrorKind::unsupported,
                    fmt::format("its output '{}' has a place for each run of its body, and only a run of the "
                                "model tells how many there are",
                                node_.output(static_cast<int>(carried + i))));
      }
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
    Names state = inputs_from(0);
    state.resize(carried);
    if (places > kMostRunsWrittenOut) {
      const auto stepped = add_stepped_scan(
          writer_, {*body, state, sequences, in_axes, in_backwards, out_axes, out_backwards, places});
      if (stepped) return give(*stepped);
    }
    StandingBody standing(*body, writer_.place());
    LATHE_TRY_STATUS(writer_.add_all(standing.constants()));
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
    StandingBody standing(*body, writer_.place());
    LATHE_TRY_STATUS(writer_.add_all(standing.constants()));
    std::vector<Names> results(carried + gives);
    for (int64_t n = 0; n < batch; ++n) {
      Names own;
      for (size_t i = 0; i < given.size(); ++i) {
        own.push_back(fmt::format("{}#batch{}#{}", writer_.place(), n, i));
        LATHE_TRY_STATUS(writer_.add_pick(given[i], 0, n, own.back()));
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
    LATHE_TRY(const onnx::GraphProto* const body, writer_.body("body"));
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
        inputs.push_back(fmt::format("{}/{}#{}", writer_.place(), run, i));
        const int64_t at = op.backwards[i] != 0 ? op.places - 1 - place : place;
        LATHE_TRY_STATUS(writer_.add_pick(op.sequences[i], op.axes[i], at, inputs.back()));
      }
      LATHE_TRY_STATUS(writer_.add_all(op.standing.run(static_cast<size_t>(run), inputs)));
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
    const GraphTensor* lengths = writer_.find(node_.input(0));
    if (lengths == nullptr || !lengths->is_constant()) {
      return fail(
          ErrorKind::unsupported,
          "the length of its sequences is known only when the model runs, and Lathe supports constant ones");
    }
    const auto is_whole = [&](double length) { return length == static_cast<double>(places); };
    if (std::ranges::all_of(values_of(*lengths), is_whole)) return {};
    return fail(ErrorKind::unsupported,
                fmt::format("its sequences are not all as long as the data, of {} places", places));
  }

  // The tensor with its first axis as two.
  Result<std::string> split_first_axis(const std::string& name, Shape extents) {
    const Shape& shape = writer_.find(name)->type.shape;
    extents.insert(extents.end(), shape.begin() + 1, shape.end());
    std::string split = name + "#split";
    LATHE_TRY_STATUS(writer_.add_integers(split + "#shape", extents));
    LATHE_TRY_STATUS(writer_.add_plain("Reshape", {name, split + "#shape"}, split));
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

  std::string input(int number) const { return number < node_.input_size() ? node_.input(number) : ""; }

  // How often the body runs at most; none where no input says so, or only the run of the model tells.
  Result<std::optional<double>> known_count() const {
    if (input(0).empty()) return std::nullopt;
    return writer_.known_number(input(0));
  }

  // The Loop as a loop of the graph. An Error where it cannot be one, or is better written out: it has few
  // runs, or computes constants.
  Result<std::optional<Names>> add_steps(const onnx::GraphProto& body, std::optional<double> count) {
    SteppedLoop loop{body, inputs_from(2), input(0), input(1), count, is_running_.empty()};
    const auto is_computed = [&](const std::string& name) {
      const GraphTensor* tensor = writer_.find(name);
      return tensor != nullptr && !tensor->is_constant();
    };
    const bool runs_often = !count || *count > static_cast<double>(kMostRunsWrittenOut);
    const bool computes = std::ranges::any_of(loop.states, is_computed) ||
                          std::ranges::any_of(names_read(body), is_computed) ||
                          (!count && !loop.count.empty()) || !loop.known_condition;
    if (goes_on_ && runs_often && computes) return add_stepped_loop(writer_, loop);
    return fail(ErrorKind::unsupported, "it is written out");
  }

  // Whether the body runs at all.
  Status begin_condition() {
    if (node_.input_size() < 2 || node_.input(1).empty()) return {};
    LATHE_TRY(const std::optional<double> known, writer_.known_number(node_.input(1)));
    if (known) {
      goes_on_ = *known != 0;
      return {};
    }
    is_running_ = writer_.place() + "#runs";
    return writer_.add_plain("Squeeze", {node_.input(1)}, is_running_);
  }

  // One more run over that state; gives the body's outputs.
  Result<Names> run_once(StandingBody& standing, size_t run, const Names& state) {
    const std::string& place = writer_.place();
    Names inputs{fmt::format("{}/{}#run", place, run), fmt::format("{}/{}#goes_on", place, run)};
    LATHE_TRY_STATUS(writer_.add_constant(inputs[0], DType::i64, {static_cast<int64_t>(run)}, {}));
    LATHE_TRY_STATUS(writer_.add_constant(inputs[1], DType::boolean, {1}, {}));
    inputs.insert(inputs.end(), state.begin(), state.end());
    LATHE_TRY_STATUS(writer_.add_all(standing.run(run, inputs)));
    return standing.outputs();
  }

  // The next state, or the last one where the loop has ended before.
  Result<Names> kept_while_running(const Names& last, const Names& next, size_t run) {
    if (is_running_.empty()) return next;
    Names kept;
    for (size_t i = 0; i < next.size(); ++i) {
      kept.push_back(fmt::format("{}/{}#kept{}", writer_.place(), run, i));
      LATHE_TRY(const bool agree, choose(is_running_, next[i], last[i], kept.back()));
      if (agree) continue;
      return fail(ErrorKind::unsupported,
                  fmt::format("its condition is known only when the model runs, and its body makes {} of the "
                              "state {}, which was {}; Lathe supports one type there",
                              type_text(next[i]), i, type_text(last[i])));
    }
    return kept;
  }

  // The condition behind a run: where only a run of the model tells it, the body stands there as often as its
  // count says.
  Status read_condition(const std::string& condition, size_t run) {
    LATHE_TRY(const std::optional<double> known, writer_.known_number(condition));
    if (known) {
      goes_on_ = *known != 0;
      return {};
    }
    const std::string place = fmt::format("{}/{}", writer_.place(), run), number = place + "#condition";
    LATHE_TRY_STATUS(writer_.add_plain("Squeeze", {condition}, number));
    if (is_running_.empty()) {
      is_running_ = number;
      return {};
    }
    const std::string both = place + "#still_runs";
    LATHE_TRY_STATUS(writer_.add_plain("And", {is_running_, number}, both));
    is_running_ = both;
    return {};
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
      const GraphTensor* tensor = writer_.find(sequences[i]);
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

  // The parts of all runs behind each other along a new axis, for the node's output `output`; no name where
  // nothing reads it.
  Result<std::string> join(const Names& parts, int64_t axis, size_t output) {
    if (node_.output(static_cast<int>(output)).empty()) return std::string();
    if (parts.empty()) {
      return fail(ErrorKind::unsupported,
                  fmt::format("its body never runs, and its output '{}' has no elements",
                              node_.output(static_cast<int>(output))));
    }
    return writer_.add_stack(parts, axis, fmt::format("{}#{}", writer_.place(), output));
  }

  Result<Names> add_branch(const onnx::GraphProto& branch, const char* name) {
    StandingBody standing(branch, fmt::format("{}#{}", writer_.place(), name));
    LATHE_TRY_STATUS(writer_.add_all(standing.constants()));
    LATHE_TRY_STATUS(writer_.add_all(standing.run(0, {})));
    return standing.outputs();
  }

  // The results of the one branch that fits the shapes around it, where an input's values say whether it is
  // taken: the model runs with no others.
  Status give_only(const Names& outputs, bool taken, const Error& other) {
    if (other.kind != ErrorKind::invalid_argument) return std::unexpected(other);
    if (writer_.require(node_.input(0), taken)) return give(outputs);
    return fail(other.kind, other.message + ", in a branch of which only a run tells whether it is taken");
  }

  // The tensors under the names of the node's outputs.
  Status give(const Names& tensors) {
    for (int i = 0; i < node_.output_size(); ++i) {
      if (node_.output(i).empty()) continue;
      LATHE_TRY_STATUS(writer_.add_plain("Identity", {tensors.at(static_cast<size_t>(i))}, node_.output(i)));
    }
    return {};
  }

  std::string type_text(const std::string& name) const {
    if (const Names* tensors = writer_.sequences().find(name))
      return fmt::format("a sequence of {}", tensors->size());
    if (writer_.sequences().is_none(name)) return "an optional without a value";
    const GraphTensor* tensor = writer_.find(name);
    return tensor == nullptr ? "nothing" : to_string(tensor->type);
  }

  // One or the other by a single bool; false where they are not of one type.
  Result<bool> choose(const std::string& condition, const std::string& if_true, const std::string& if_false,
                      const std::string& output) {
    const Names *those = writer_.sequences().find(if_true), *others = writer_.sequences().find(if_false);
    if (those != nullptr && others != nullptr) return choose_each(condition, *those, *others, output);
    const GraphTensor *a = writer_.find(if_true), *b = writer_.find(if_false);
    if (a == nullptr || b == nullptr || a->type != b->type) return false;
    LATHE_TRY_STATUS(writer_.add_plain("Where", {condition, if_true, if_false}, output));
    return true;
  }

  // The same of sequences, which must be as long as each other.
  Result<bool> choose_each(const std::string& condition, const Names& if_true, const Names& if_false,
                           const std::string& output) {
    if (if_true.size() != if_false.size()) return false;
    Names chosen;
    for (size_t i = 0; i < if_true.size(); ++i) {
      chosen.push_back(fmt::format("{}/{}", output, i));
      LATHE_TRY(const bool agree, choose(condition, if_true[i], if_false[i], chosen.back()));
      if (!agree) return false;
    }
    writer_.sequences().set(output, std::move(chosen));
    return true;
  }

  Status choose_outputs(const Names& if_true, const Names& if_false) {
    const std::string condition = writer_.place() + "#condition";
    LATHE_TRY_STATUS(writer_.add_plain("Squeeze", {node_.input(0)}, condition));
    for (int i = 0; i < node_.output_size(); ++i) {
      if (node_.output(i).empty()) continue;
      const std::string &a = if_true[static_cast<size_t>(i)], &b = if_false[static_cast<size_t>(i)];
      LATHE_TRY(const bool agree, choose(condition, a, b, node_.output(i)));
      if (agree) continue;
      return fail(ErrorKind::unsupported,
                  fmt::format("its condition is known only when the model runs, and its branches give {} "
                              "and {} as output {}; Lathe supports one type there",
                              type_text(a), type_text(b), i));
    }
    return {};
  }

  const onnx::NodeProto& node_;
  NodeWriter writer_;
  bool goes_on_ = true;     // of a loop, as far as is known when the model is read
  std::string is_running_;  // the tensor that says whether it still runs, where only a run of the model tells
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
