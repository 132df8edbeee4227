#include "graph/onnx/nodes/recurrent.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "graph/onnx/nodes/product_steps.h"
#include "graph/onnx/nodes/quantize.h"
#include "graph/onnx/nodes/recurrent_layer.h"

namespace lathe {
namespace {

// The operators of a direction, over steps that both share.
class RecurrentSteps {
 public:
  RecurrentSteps(const OnnxNode& node, const RecurrentLayer& layer)
      : node_(node), layer_(layer), steps_(node.input_count()) {
    data_ = layer_.is_batch_first ? add(TransposeOp{{1, 0, 2}}, {recurrent::kData}) : recurrent::kData;
    const auto is_whole = [&](int64_t length) { return length >= layer_.places; };
    if (!has(recurrent::kLengths)) return;
    const Result<Shape> lengths =
        node.is_constant(recurrent::kLengths) ? node.constant_integers(recurrent::kLengths) : Shape{0};
    has_lengths_ = !lengths || !std::ranges::all_of(*lengths, is_whole);
  }

  // Weights are integers with a scale, and what they multiply is rounded to integers before, data and states
  // each by a scale of their own.
  Status quantize() {
    is_quantized_ = true;
    LATHE_TRY_STATUS(require_narrow(node_, {recurrent::kWeights, recurrent::kRecurrence}));
    for (const size_t scales : {recurrent::kWeightsScale, recurrent::kRecurrenceScale}) {
      LATHE_TRY_STATUS(check_parameter(scales));
      if (has(scales + 1)) LATHE_TRY_STATUS(check_parameter(scales + 1));
    }
    return {};
  }

  size_t add(GraphOp op, std::vector<size_t> reads) { return steps_.add(std::move(op), std::move(reads)); }
  size_t zip(ZipFunction function, size_t a, size_t b) { return add(ZipOp{function}, {a, b}); }
  size_t plus(size_t a, size_t b) { return zip(ZipFunction::add, a, b); }
  size_t times(size_t a, size_t b) { return zip(ZipFunction::mul, a, b); }
  size_t real(double value) { return steps_.real(value); }
  std::vector<ImportedStep> finish() { return steps_.finish(); }
  const RecurrentLayer& layer() const { return layer_; }
  bool has(size_t input) const { return node_.has_input(input); }

  // Some places of each axis of a tensor of that shape, as a tensor of the other one.
  size_t part(size_t x, const Shape& starts, const Shape& extents, const Shape& shape) {
    return add(ReshapeOp{shape}, {add(SliceOp{starts, Shape(starts.size(), 1), extents}, {x})});
  }
  // Of an input [directions, numbers] the `number`-th `hidden` ones.
  size_t vector_of(size_t input, size_t direction, int64_t number) {
    const int64_t hidden = layer_.hidden;
    return part(input, {static_cast<int64_t>(direction), number * hidden}, {1, hidden}, {hidden});
  }
  // [rows, columns] of a tensor [directions, rows of all gates, columns], transposed.
  size_t matrix_of(size_t x, size_t direction, int64_t first, int64_t rows, int64_t columns) {
    const auto own = static_cast<int64_t>(direction);
    if (layer_.has_columns) return part(x, {own, 0, first}, {1, columns, rows}, {columns, rows});
    const size_t matrix = part(x, {own, first, 0}, {1, rows, columns}, {rows, columns});
    return add(TransposeOp{{1, 0}}, {matrix});
  }
  // [rows, columns] that data or states are multiplied by; quantized ones with a scale and a zero point, each
  // one number or one for each column.
  struct Weights {
    size_t matrix = 0;
    Shape shape;
    size_t scale = kNoInput, zero = kNoInput;
  };
  // The columns of that many gates from the `first` on.
  Weights weights(size_t direction) {
    return weights_of(recurrent::kWeights, recurrent::kWeightsScale, direction, 0, layer_.gates,
                      layer_.inputs);
  }
  Weights recurrence(size_t direction, int64_t first, int64_t gates) {
    return weights_of(recurrent::kRecurrence, recurrent::kRecurrenceScale, direction, first, gates,
                      layer_.hidden);
  }
  // x, of that shape but for its last axis, times the weights.
  size_t product(size_t x, Shape shape, const Weights& weights) {
    if (!is_quantized_) return add(MatMulOp{}, {x, weights.matrix});
    shape.push_back(weights.shape[0]);
    const QuantizedInput rounded = add_dynamic_quantization(steps_, x, shape.size());
    ProductSteps steps(node_, steps_);
    const Factor left{
        {rounded.numbers, rounded.scale, ProductSteps::step_as_input(rounded.zero)}, rounded.numbers, shape};
    const Factor right{{weights.matrix, weights.scale, weights.zero}, weights.matrix, weights.shape};
    const size_t sums = steps.cast(DType::f32, steps.product(left, right));
    return times(sums, times(rounded.scale, weights.scale));
  }
  size_t product_of_state(size_t state, const Weights& weights) {
    return product(state, {layer_.batch}, weights);
  }
  // What a state begins with.
  size_t initial(size_t input, size_t direction) {
    const int64_t batch = layer_.batch, hidden = layer_.hidden;
    if (!has(input)) return add(ExpandOp{{batch, hidden}}, {real(0)});
    Shape starts{static_cast<int64_t>(direction), 0, 0}, extents{1, batch, hidden};
    if (layer_.is_batch_first) {
      std::swap(starts[0], starts[1]);
      std::swap(extents[0], extents[1]);
    }
    return part(input, starts, extents, {batch, hidden});
  }
  // What the data and the biases come to: [places, batch, gates * hidden]. Of the gates from `without` on the
  // biases of the recurrence are left out.
  size_t projected(size_t direction, int64_t without) {
    const size_t products = product(data_, {layer_.places, layer_.batch}, weights(direction));
    if (!has(recurrent::kBias)) return products;
    std::vector<size_t> biases;
    for (int64_t gate = 0; gate < layer_.gates; ++gate) {
      const size_t bias = vector_of(recurrent::kBias, direction, gate);
      biases.push_back(
          gate < without ? plus(bias, vector_of(recurrent::kBias, direction, layer_.gates + gate)) : bias);
    }
    return plus(products, biases.size() == 1 ? biases.front() : add(ConcatOp{0}, biases));
  }
  // That many gates from the `first` on of [batch, gates * hidden].
  size_t gates_of(size_t x, int64_t first, int64_t gates = 1) {
    if (first == 0 && gates == layer_.gates) return x;
    return add(SliceOp{{0, first * layer_.hidden}, {1, 1}, {layer_.batch, gates * layer_.hidden}}, {x});
  }

  size_t activate(const Activation& activation, size_t x) {
    if (layer_.clip > 0) x = add(MapOp{MapFunction::clip, -layer_.clip, layer_.clip}, {x});
    return activated(activation, x);
  }
  size_t activated(const Activation& activation, size_t x) {
    const auto map = [&](MapFunction function, double a = 0, double b = 0) {
      return add(MapOp{function, a, b}, {x});
    };
    const double alpha = activation.alpha, beta = activation.beta;
    if (activation.name == "Relu") return map(MapFunction::relu);
    if (activation.name == "Tanh") return map(MapFunction::tanh);
    if (activation.name == "Sigmoid") return map(MapFunction::sigmoid);
    if (activation.name == "Softsign") return map(MapFunction::soft_sign);
    if (activation.name == "Softplus") return map(MapFunction::soft_plus);
    if (activation.name == "LeakyRelu") return map(MapFunction::leaky_relu, alpha);
    if (activation.name == "Elu") return map(MapFunction::elu, alpha);
    if (activation.name == "ThresholdedRelu") return map(MapFunction::thresholded_relu, alpha);
    if (activation.name == "HardSigmoid") return map(MapFunction::hard_sigmoid, alpha, beta);
    if (activation.name == "Affine") return plus(times(x, real(alpha)), real(beta));
    LATHE_CHECK(activation.name == "ScaledTanh");
    return times(add(MapOp{MapFunction::tanh}, {times(x, real(beta))}), real(alpha));
  }

  // Which sequences reach to each place: [places, batch, 1]; none where all are as long as the data.
  std::optional<size_t> is_within() {
    if (!has_lengths_) return std::nullopt;
    std::vector<double> numbers(static_cast<size_t>(layer_.places));
    std::iota(numbers.begin(), numbers.end(), 0.0);
    const size_t places = steps_.constant(DType::i32, {layer_.places, 1, 1}, numbers);
    const size_t lengths = add(ReshapeOp{{1, layer_.batch, 1}}, {recurrent::kLengths});
    return zip(ZipFunction::less, places, lengths);
  }
  StepLoop loop(size_t direction) const {
    return {fmt::format("{}#{}", node_.place(), direction), layer_.places};
  }
  size_t where(size_t condition, size_t then, size_t otherwise) {
    return add(WhereOp{}, {condition, then, otherwise});
  }

  size_t joined(const std::vector<size_t>& parts, size_t axis) { return steps_.joined(parts, axis); }

 private:
  int64_t columns() const { return layer_.gates * layer_.hidden; }

  // A scale or zero point is one number for each direction, or for each of its columns too.
  Status check_parameter(size_t parameter) const {
    const auto directions = static_cast<int64_t>(layer_.directions());
    const int64_t elements = elements_of(node_.shape(parameter));
    if (elements == directions || elements == directions * columns()) return {};
    return fail(
        ErrorKind::invalid_argument,
        fmt::format("input {} has shape {}, and must have one number for each of {} directions, or of "
                    "their {} columns",
                    parameter, to_string(node_.shape(parameter)), directions, columns()));
  }
  size_t parameter_of(size_t parameter, size_t direction, int64_t first, int64_t count) {
    const auto directions = static_cast<int64_t>(layer_.directions()), own = static_cast<int64_t>(direction);
    if (elements_of(node_.shape(parameter)) == directions)
      return part(add(ReshapeOp{{directions}}, {parameter}), {own}, {1}, {});
    return part(add(ReshapeOp{{directions, columns()}}, {parameter}), {own, first}, {1, count}, {count});
  }

  Weights weights_of(size_t input, size_t scales, size_t direction, int64_t first, int64_t gates,
                     int64_t rows) {
    const int64_t begin = first * layer_.hidden, count = gates * layer_.hidden;
    Weights weights{matrix_of(input, direction, begin, count, rows), {rows, count}};
    if (!is_quantized_) return weights;
    weights.scale = parameter_of(scales, direction, begin, count);
    if (!QuantizedSteps(node_, steps_).is_zero(scales + 1))
      weights.zero = QuantizedSteps::step_as_input(parameter_of(scales + 1, direction, begin, count));
    return weights;
  }

  const OnnxNode& node_;
  const RecurrentLayer& layer_;
  StepList steps_;
  size_t data_ = recurrent::kData;  // [places, batch, inputs]
  bool is_quantized_ = false;
  bool has_lengths_ = false;  // some sequence may be shorter than the data
};

// What one place makes of the states before it; an LSTM has two, the cell second.
using States = std::vector<size_t>;

// The cells, of one direction each: `next` gives the states behind a place, whose data and biases come to
// `data`.
class LstmCell {
 public:
  LstmCell(RecurrentSteps& steps, size_t direction, bool couples_forgetting)
      : steps_(steps), direction_(direction), couples_forgetting_(couples_forgetting) {
    recurrence_ = steps.recurrence(direction, 0, kGates);
    for (int64_t number = 0; steps.has(recurrent::kPeepholes) && number < 3; ++number)
      peepholes_.push_back(steps.vector_of(recurrent::kPeepholes, direction, number));
  }

  size_t projected() { return steps_.projected(direction_, kGates); }

  States next(size_t data, const States& before) {
    const size_t cell = before[1];
    const size_t sums = steps_.plus(steps_.product_of_state(before[0], recurrence_), data);
    const auto gate = [&](int64_t number) { return steps_.gates_of(sums, number); };
    const size_t input = steps_.activate(activation(0), looking(gate(kInput), 0, cell));
    const size_t forget = couples_forgetting_
                              ? steps_.zip(ZipFunction::sub, steps_.real(1), input)
                              : steps_.activate(activation(0), looking(gate(kForget), 2, cell));
    const size_t candidate = steps_.activate(activation(1), gate(kCandidate));
    const size_t next_cell = steps_.plus(steps_.times(forget, cell), steps_.times(input, candidate));
    const size_t output = steps_.activate(activation(0), looking(gate(kOutput), 1, next_cell));
    return {steps_.times(output, steps_.activated(activation(2), next_cell)), next_cell};
  }

  static constexpr int64_t kGates = 4;

 private:
  static constexpr int64_t kInput = 0, kOutput = 1, kForget = 2, kCandidate = 3;

  // With what the gate sees of a cell.
  size_t looking(size_t sum, size_t number, size_t cell) {
    return peepholes_.empty() ? sum : steps_.plus(sum, steps_.times(peepholes_[number], cell));
  }
  const Activation& activation(size_t number) const { return steps_.layer().activation(direction_, number); }

  RecurrentSteps& steps_;
  size_t direction_;
  bool couples_forgetting_;
  RecurrentSteps::Weights recurrence_;
  std::vector<size_t> peepholes_;  // of the input, the output and the forget gate
};

class GruCell {
 public:
  GruCell(RecurrentSteps& steps, size_t direction, bool resets_products)
      : steps_(steps), direction_(direction), resets_products_(resets_products) {
    recurrence_ = steps.recurrence(direction, 0, resets_products ? kGates : kCandidate);
    if (!resets_products) candidates_ = steps.recurrence(direction, kCandidate, 1);
    if (resets_products && steps.has(recurrent::kBias))
      bias_ = steps.vector_of(recurrent::kBias, direction, kGates + kCandidate);
  }

  size_t projected() { return steps_.projected(direction_, resets_products_ ? kCandidate : kGates); }

  States next(size_t data, const States& before) {
    const size_t state = before[0];
    const size_t products = steps_.product_of_state(state, recurrence_);
    const auto sum = [&](int64_t number) {
      return steps_.plus(steps_.gates_of(products, number), steps_.gates_of(data, number));
    };
    const size_t update = steps_.activate(activation(0), sum(kUpdate));
    const size_t reset = steps_.activate(activation(0), sum(kReset));
    const size_t candidate = steps_.activate(activation(1), candidate_sum(products, data, state, reset));
    // (1 - update) * candidate + update * state
    const size_t kept = steps_.times(update, state);
    const size_t share = steps_.zip(ZipFunction::sub, steps_.real(1), update);
    return {steps_.plus(steps_.times(share, candidate), kept)};
  }

  static constexpr int64_t kGates = 3;

 private:
  static constexpr int64_t kUpdate = 0, kReset = 1, kCandidate = 2;

  size_t candidate_sum(size_t products, size_t data, size_t state, size_t reset) {
    const size_t own = steps_.gates_of(data, kCandidate);
    if (!resets_products_)
      return steps_.plus(steps_.product_of_state(steps_.times(reset, state), candidates_), own);
    size_t sum = steps_.gates_of(products, kCandidate);
    if (bias_) sum = steps_.plus(sum, *bias_);
    return steps_.plus(steps_.times(reset, sum), own);
  }
  const Activation& activation(size_t number) const { return steps_.layer().activation(direction_, number); }

  RecurrentSteps& steps_;
  size_t direction_;
  bool resets_products_;  // and not the state that they are of
  RecurrentSteps::Weights recurrence_;
  RecurrentSteps::Weights candidates_;
  std::optional<size_t> bias_;
};

class RnnCell {
 public:
  RnnCell(RecurrentSteps& steps, size_t direction) : steps_(steps), direction_(direction) {
    recurrence_ = steps.recurrence(direction, 0, kGates);
  }

  size_t projected() { return steps_.projected(direction_, kGates); }

  States next(size_t data, const States& before) {
    const size_t sum = steps_.plus(steps_.product_of_state(before[0], recurrence_), data);
    return {steps_.activate(steps_.layer().activation(direction_, 0), sum)};
  }

  static constexpr int64_t kGates = 1;

 private:
  RecurrentSteps& steps_;
  size_t direction_;
  RecurrentSteps::Weights recurrence_;
};

// The states of all places, [places, batch, hidden], and the last ones.
struct Walked {
  size_t states = 0;
  States last;
};

// A direction as a loop over the places. Beyond the end of a sequence the states stay, and what is given is
// 0.
template <class Cell>
Walked walk(RecurrentSteps& steps, Cell& cell, size_t direction, size_t state_count) {
  const RecurrentLayer& layer = steps.layer();
  const StepLoop loop = steps.loop(direction);
  const bool backwards = layer.backwards[direction], is_single = layer.places == 1;
  const auto at_place = [&](size_t x, Shape shape) {
    return steps.add(is_single ? GraphOp(ReshapeOp{std::move(shape)}) : GraphOp(TakeStepOp{loop, backwards}),
                     {x});
  };
  const size_t data = at_place(cell.projected(), {layer.batch, layer.gates * layer.hidden});
  States before;
  for (size_t i = 0; i < state_count; ++i) {
    before.push_back(steps.initial(recurrent::kState + i, direction));
    if (!is_single) before.back() = steps.add(StepStateOp{loop, i}, {before.back()});
  }
  Walked walked{0, cell.next(data, before)};
  size_t given = walked.last.front();
  if (const std::optional<size_t> all = steps.is_within()) {
    const size_t within = at_place(*all, {layer.batch, 1});
    given = steps.where(within, given, steps.real(0));
    for (size_t i = 0; i < state_count; ++i) walked.last[i] = steps.where(within, walked.last[i], before[i]);
  }
  walked.states = steps.add(
      is_single ? GraphOp(ReshapeOp{{1, layer.batch, layer.hidden}}) : GraphOp(StackStepsOp{loop, backwards}),
      {given});
  for (size_t i = 0; i < state_count && !is_single; ++i)
    walked.last[i] = steps.add(LastStateOp{loop, i}, {walked.last[i]});
  return walked;
}

template <class MakeCell>
ImportedOutputs import_layer(RecurrentSteps& steps, size_t state_count, const MakeCell& make_cell) {
  const RecurrentLayer& layer = steps.layer();
  std::vector<size_t> states;
  std::vector<Walked> walks;
  for (size_t direction = 0; direction < layer.directions(); ++direction) {
    auto cell = make_cell(steps, direction);
    walks.push_back(walk(steps, cell, direction, state_count));
    states.push_back(
        steps.add(ReshapeOp{{layer.places, 1, layer.batch, layer.hidden}}, {walks.back().states}));
  }
  const size_t all = steps.joined(states, 1);
  steps.add(layer.is_batch_first ? GraphOp(TransposeOp{{2, 0, 1, 3}}) : GraphOp(IdentityOp{}), {all});
  std::vector<ImportedOutput> outputs{steps.finish()};
  for (size_t i = 0; i < state_count; ++i) {
    std::vector<size_t> last;
    for (const Walked& walked : walks)
      last.push_back(steps.add(ReshapeOp{{1, layer.batch, layer.hidden}}, {walked.last[i]}));
    const size_t joined = steps.joined(last, 0);
    steps.add(layer.is_batch_first ? GraphOp(TransposeOp{{1, 0, 2}}) : GraphOp(IdentityOp{}), {joined});
    outputs.emplace_back(steps.finish());
  }
  return outputs;
}

}  // namespace

ImportedOutputs import_lstm(OnnxNode& node) {
  const bool couples_forgetting = node.integer("input_forget", 0) != 0;
  LATHE_TRY(const RecurrentLayer layer,
            read_recurrent_layer(node, LstmCell::kGates, {"Sigmoid", "Tanh", "Tanh"}));
  RecurrentSteps steps(node, layer);
  return import_layer(steps, 2, [&](RecurrentSteps& own, size_t direction) {
    return LstmCell(own, direction, couples_forgetting);
  });
}

ImportedOutputs import_dynamic_quantize_lstm(OnnxNode& node) {
  const bool couples_forgetting = node.integer("input_forget", 0) != 0;
  LATHE_TRY_STATUS(node.require_inputs({recurrent::kWeightsScale, recurrent::kRecurrenceScale}));
  LATHE_TRY(const RecurrentLayer layer,
            read_recurrent_layer(node, LstmCell::kGates, {"Sigmoid", "Tanh", "Tanh"}, true));
  RecurrentSteps steps(node, layer);
  LATHE_TRY_STATUS(steps.quantize());
  return import_layer(steps, 2, [&](RecurrentSteps& own, size_t direction) {
    return LstmCell(own, direction, couples_forgetting);
  });
}

ImportedOutputs import_gru(OnnxNode& node) {
  const bool resets_products = node.integer("linear_before_reset", 0) != 0;
  LATHE_TRY(const RecurrentLayer layer, read_recurrent_layer(node, GruCell::kGates, {"Sigmoid", "Tanh"}));
  RecurrentSteps steps(node, layer);
  return import_layer(steps, 1, [&](RecurrentSteps& own, size_t direction) {
    return GruCell(own, direction, resets_products);
  });
}

ImportedOutputs import_rnn(OnnxNode& node) {
  LATHE_TRY(const RecurrentLayer layer, read_recurrent_layer(node, RnnCell::kGates, {"Tanh"}));
  RecurrentSteps steps(node, layer);
  return import_layer(steps, 1,
                      [](RecurrentSteps& own, size_t direction) { return RnnCell(own, direction); });
}

}  // namespace lathe
