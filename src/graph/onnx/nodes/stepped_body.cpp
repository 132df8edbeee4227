#include "graph/onnx/nodes/stepped_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <unordered_set>

#include "graph/onnx/bodies.h"
#include "graph/onnx/nodes/sequences.h"
#include "graph/onnx/proto.h"

namespace lathe {
namespace {

using Names = NodeWriter::Names;

// The runs that a loop makes at most: exporters write the largest integer where only a condition ends it.
constexpr int64_t kMostRuns = int64_t{1} << 40;

class SteppedBody {
 public:
  // `kind` tells the bodies of one node apart.
  SteppedBody(NodeWriter& writer, const onnx::GraphProto& body, int64_t steps, const char* kind = "steps")
      : writer_(writer),
        place_(fmt::format("{}#{}", writer.place(), kind)),
        loop_{place_, steps},
        standing_(body, place_) {}

  std::string name(const std::string& suffix) const { return place_ + "#" + suffix; }

  // Gives the tensor that the state is in each step.
  Result<std::string> add_state(const std::string& initial) {
    std::string state = name(fmt::format("state{}", states_.size()));
    LATHE_TRY_STATUS(require_tensor(initial));
    LATHE_TRY_STATUS(writer_.add_operator(StepStateOp{loop_, states_.size()}, {initial}, state));
    states_.push_back(state);
    return state;
  }

  // Gives the part of a sequence that belongs to the step.
  Result<std::string> add_part(const std::string& sequence, int64_t axis, bool backwards, size_t number) {
    LATHE_TRY(const GraphTensor* const tensor, writer_.tensor(sequence));
    const size_t rank = tensor->type.shape.size();
    LATHE_TRY(const size_t scanned, axis_of(axis, rank));
    std::string whole = sequence;
    if (scanned != 0) {
      std::vector<size_t> order(rank);
      std::iota(order.begin(), order.end(), size_t{0});
      std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(scanned),
                  order.begin() + static_cast<std::ptrdiff_t>(scanned) + 1);
      whole = name(fmt::format("sequence{}", number));
      LATHE_TRY_STATUS(writer_.add_operator(TransposeOp{order}, {sequence}, whole));
    }
    std::string part = name(fmt::format("part{}", number));
    LATHE_TRY_STATUS(writer_.add_operator(TakeStepOp{loop_, backwards}, {whole}, part));
    return part;
  }

  // The part of a loop of one step that a tensor is, whole.
  Result<std::string> add_whole(const std::string& tensor, size_t number) {
    LATHE_TRY(const GraphTensor* const found, writer_.tensor(tensor));
    Shape shape = found->type.shape;
    shape.insert(shape.begin(), 1);
    const std::string row = name(fmt::format("row{}", number));
    LATHE_TRY_STATUS(writer_.add_operator(ReshapeOp{shape}, {tensor}, row));
    return add_part(row, 0, false, number);
  }

  Result<Names> run(const Names& inputs, const TensorNames& outer = {}) {
    LATHE_TRY_STATUS(writer_.add_all(standing_.constants()));
    LATHE_TRY_STATUS(writer_.add_all(standing_.run(0, inputs, outer)));
    for (const std::string& output : standing_.outputs()) LATHE_TRY_STATUS(require_tensor(output));
    return standing_.outputs();
  }

  // Lets a state go on as that tensor, and gives what it is in the end.
  Result<std::string> add_last(size_t number, const std::string& next) {
    const TensorType &before = writer_.find(states_.at(number))->type, &after = writer_.find(next)->type;
    if (before != after) {
      return fail(ErrorKind::unsupported, fmt::format("its body makes {} of the state {}, which was {}",
                                                      to_string(after), number, to_string(before)));
    }
    std::string last = name(fmt::format("last{}", number));
    LATHE_TRY_STATUS(writer_.add_operator(LastStateOp{loop_, number}, {next}, last));
    return last;
  }

  // Gives what that tensor is in all steps, behind each other along a new axis.
  Result<std::string> add_stack(const std::string& part, int64_t axis, bool backwards, size_t number) {
    const size_t rank = writer_.find(part)->type.shape.size() + 1;
    LATHE_TRY(const size_t to, axis_of(axis, rank));
    std::string stack = name(fmt::format("stack{}", number));
    LATHE_TRY_STATUS(writer_.add_operator(StackStepsOp{loop_, backwards}, {part}, stack));
    if (to == 0) return stack;
    std::vector<size_t> order(rank);
    std::iota(order.begin(), order.end(), size_t{0});
    std::rotate(order.begin(), order.begin() + 1, order.begin() + static_cast<std::ptrdiff_t>(to) + 1);
    LATHE_TRY_STATUS(writer_.add_operator(TransposeOp{order}, {stack}, stack + "#turned"));
    return stack + "#turned";
  }

  Status end_early(const std::string& begins, const std::string& goes_on) {
    return writer_.add_operator(StepsWhileOp{loop_}, {begins, goes_on}, name("ends"));
  }

 private:
  Status require_tensor(const std::string& tensor) const {
    if (writer_.find(tensor) != nullptr) return {};
    return fail(ErrorKind::unsupported, fmt::format("'{}' of its body is no tensor", tensor));
  }

  NodeWriter& writer_;
  std::string place_;
  StepLoop loop_;
  StandingBody standing_;
  Names states_;
};

// Truths of the model as one bool, which all of them make true.
class Conjunction {
 public:
  Conjunction(NodeWriter& writer, std::string name) : writer_(writer), name_(std::move(name)) {}

  Status add(const std::string& truth) {
    const std::string single = fmt::format("{}{}", name_, count_);
    LATHE_TRY_STATUS(writer_.add_plain("Squeeze", {truth}, single));
    const std::string both = single + "#all";
    if (count_++ > 0) LATHE_TRY_STATUS(writer_.add_plain("And", {all_, single}, both));
    all_ = count_ > 1 ? both : single;
    return {};
  }
  Result<std::string> finish() {
    if (count_ == 0) {
      all_ = name_;
      LATHE_TRY_STATUS(writer_.add_constant(name_, DType::boolean, {1}, {}));
    }
    return all_;
  }

 private:
  NodeWriter& writer_;
  std::string name_;
  std::string all_;
  size_t count_ = 0;
};

// Ends the loop where a condition or a count says so that only the run of the model knows.
Status add_end(NodeWriter& writer, SteppedBody& body, const SteppedLoop& loop, const std::string& number,
               const std::string& goes_on) {
  Conjunction begins(writer, body.name("begins")), continues(writer, body.name("continues"));
  if (!loop.known_condition) LATHE_TRY_STATUS(begins.add(loop.condition));
  LATHE_TRY(const std::optional<double> known, writer.known_number(goes_on));
  if (!known || *known == 0) LATHE_TRY_STATUS(continues.add(goes_on));
  if (!loop.known_count && !loop.count.empty()) {
    const std::string zero = body.name("zero"), any = body.name("any"), more = body.name("more");
    LATHE_TRY_STATUS(writer.add_constant(zero, DType::i64, {0}, {}));
    LATHE_TRY_STATUS(writer.add_plain("Less", {zero, loop.count}, any));
    LATHE_TRY_STATUS(begins.add(any));
    LATHE_TRY_STATUS(writer.add_plain("Less", {number, loop.count}, more));
    LATHE_TRY_STATUS(continues.add(more));
  }
  LATHE_TRY(const std::string first, begins.finish());
  LATHE_TRY(const std::string further, continues.finish());
  return body.end_early(first, further);
}

}  // namespace

Result<Names> add_stepped_scan(NodeWriter& writer, const SteppedScan& scan) {
  SteppedBody body(writer, scan.body, scan.places);
  Names inputs;
  for (const std::string& initial : scan.states) {
    LATHE_TRY(inputs.emplace_back(), body.add_state(initial));
  }
  for (size_t i = 0; i < scan.sequences.size(); ++i) {
    LATHE_TRY(inputs.emplace_back(),
              body.add_part(scan.sequences[i], scan.in_axes[i], scan.in_backwards[i] != 0, i));
  }
  LATHE_TRY(const Names given, body.run(inputs));
  Names outputs;
  for (size_t i = 0; i < scan.states.size(); ++i) {
    LATHE_TRY(outputs.emplace_back(), body.add_last(i, given[i]));
  }
  for (size_t i = 0; i < scan.out_axes.size(); ++i) {
    const size_t output = scan.states.size() + i;
    std::string& stack = outputs.emplace_back();
    if (writer.node().output(static_cast<int>(output)).empty()) continue;
    LATHE_TRY(stack, body.add_stack(given[output], scan.out_axes[i], scan.out_backwards[i] != 0, i));
  }
  return outputs;
}

namespace {

// The branch as a body that runs once where `runs` is true. It gets all that it reads at its border: so that
// what it computes belongs to it.
class SteppedBranch {
 public:
  SteppedBranch(NodeWriter& writer, const onnx::GraphProto& branch, const char* kind)
      : writer_(writer), branch_(branch), body_(writer, branch, 1, kind) {}

  Result<Names> run() {
    TensorNames outer;
    const std::unordered_set<std::string> read = names_read(branch_);
    for (const std::string& each : std::set<std::string>(read.begin(), read.end())) {
      if (writer_.sequences().has(each))
        return fail(ErrorKind::unsupported, fmt::format("a branch reads '{}', which is no tensor", each));
      const GraphTensor* tensor = writer_.find(each);
      if (tensor == nullptr || tensor->is_constant()) continue;
      LATHE_TRY(outer[each], body_.add_whole(each, outer.size()));
    }
    LATHE_TRY(given_, body_.run({}, outer));
    return given_;
  }

  // A tensor of zeros like the output.
  Result<std::string> add_zeros(size_t output) {
    const TensorType& type = writer_.find(given_[output])->type;
    const std::string zero = body_.name(fmt::format("zero{}", output));
    const std::string number = zero + "#number";
    std::string zeros = zero + "#all";
    LATHE_TRY_STATUS(writer_.add_constant(zero, DType::i64, {0}, {}));
    LATHE_TRY_STATUS(writer_.add_operator(CastOp{type.dtype}, {zero}, number));
    LATHE_TRY_STATUS(writer_.add_operator(ExpandOp{type.shape}, {number}, zeros));
    return zeros;
  }

  // What the output is behind it, `otherwise` where it does not run.
  Result<std::string> add_output(size_t output, const std::string& otherwise) {
    LATHE_TRY_STATUS(body_.add_state(otherwise));
    return body_.add_last(output, given_[output]);
  }

  Status end(const std::string& runs) { return body_.end_early(runs, runs); }

 private:
  NodeWriter& writer_;
  const onnx::GraphProto& branch_;
  SteppedBody body_;
  Names given_;
};

}  // namespace

bool is_heavy_branch(const onnx::GraphProto& branch) {
  constexpr int kMostLightNodes = 16;
  constexpr std::array kHeavy = {"Attention",    "Conv", "ConvTranspose", "Einsum",        "GRU",
                                 "Gemm",         "If",   "LSTM",          "Loop",          "MatMul",
                                 "RNN",          "Scan", "ConvInteger",   "MatMulInteger", "QLinearConv",
                                 "QLinearMatMul"};
  const auto is_heavy = [&](const onnx::NodeProto& node) {
    return std::ranges::any_of(kHeavy, [&](const char* type) { return node.op_type() == type; });
  };
  return branch.node_size() > kMostLightNodes || std::ranges::any_of(branch.node(), is_heavy);
}

Result<Names> add_stepped_if(NodeWriter& writer, const onnx::GraphProto& on_true,
                             const onnx::GraphProto& on_false) {
  SteppedBranch then(writer, on_true, "then_steps"), otherwise(writer, on_false, "else_steps");
  const std::string holds = writer.place() + "#holds", fails = writer.place() + "#fails";
  LATHE_TRY_STATUS(writer.add_plain("Squeeze", {writer.node().input(0)}, holds));
  LATHE_TRY_STATUS(writer.add_plain("Not", {holds}, fails));
  LATHE_TRY(const Names if_false, otherwise.run());
  LATHE_TRY(const Names if_true, then.run());
  Names outputs;
  for (size_t i = 0; i < if_true.size(); ++i) {
    LATHE_TRY(const std::string zeros, otherwise.add_zeros(i));
    LATHE_TRY(const std::string first, otherwise.add_output(i, zeros));
    LATHE_TRY(outputs.emplace_back(), then.add_output(i, first));
  }
  LATHE_TRY_STATUS(otherwise.end(fails));
  LATHE_TRY_STATUS(then.end(holds));
  return outputs;
}

Result<std::optional<Names>> add_stepped_loop(NodeWriter& writer, const SteppedLoop& loop) {
  const double runs = loop.known_count.value_or(static_cast<double>(kMostRuns));
  SteppedBody body(writer, loop.body, static_cast<int64_t>(std::min(runs, static_cast<double>(kMostRuns))));
  const std::string zero = body.name("first"), one = body.name("one"), always = body.name("always");
  LATHE_TRY_STATUS(writer.add_constant(zero, DType::i64, {0}, {}));
  LATHE_TRY_STATUS(writer.add_constant(one, DType::i64, {1}, {}));
  LATHE_TRY_STATUS(writer.add_constant(always, DType::boolean, {1}, {}));
  Names inputs;
  LATHE_TRY(inputs.emplace_back(), body.add_state(zero));
  inputs.push_back(always);
  for (const std::string& initial : loop.states) {
    LATHE_TRY(inputs.emplace_back(), body.add_state(initial));
  }
  LATHE_TRY(const Names given, body.run(inputs));
  const std::string number = body.name("number");
  LATHE_TRY_STATUS(writer.add_plain("Add", {inputs[0], one}, number));
  LATHE_TRY_STATUS(body.add_last(0, number));
  LATHE_TRY(const std::optional<double> known, writer.known_number(given[0]));
  const bool is_counted_by_run = !loop.known_count && !loop.count.empty();
  if (known && *known == 0 && !is_counted_by_run) return fail(ErrorKind::unsupported, "its body runs once");
  if (known && *known != 0 && !is_counted_by_run && runs >= static_cast<double>(kMostRuns))
    return std::nullopt;
  const bool is_counted = known && loop.known_condition && loop.known_count;
  if (!is_counted) LATHE_TRY_STATUS(add_end(writer, body, loop, number, given[0]));
  Names outputs;
  for (size_t i = 0; i < loop.states.size(); ++i) {
    LATHE_TRY(outputs.emplace_back(), body.add_last(i + 1, given[i + 1]));
  }
  for (size_t i = loop.states.size(); i + 1 < given.size(); ++i) {
    std::string& stack = outputs.emplace_back();
    const std::string& output = writer.node().output(static_cast<int>(i));
    if (output.empty()) continue;
    if (!is_counted) {
      return fail(ErrorKind::unsupported,
                  fmt::format("its output '{}' has a place for each run of its body, and only a run of the "
                              "model tells how many there are",
                              output));
    }
    LATHE_TRY(stack, body.add_stack(given[i + 1], 0, false, i));
  }
  return outputs;
}

}  // namespace lathe
