// Recurrent layers beside ONNX's equations, written as loops over places and numbers.
#include "graph/onnx/nodes/recurrent.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "base/rng.h"
#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "graph/simplify.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

struct Case {
  const char* type;
  const char* direction = "forward";
  bool has_bias = true;
  bool has_lengths = false;
  bool has_initial = false;
  bool has_peepholes = false;
  std::map<std::string, int64_t> attributes = {};
  double clip = 0;
};

constexpr int64_t kPlaces = 5, kBatch = 2, kInputs = 3, kHidden = 4;
constexpr std::array<int64_t, kBatch> kSequenceLengths{5, 3};

int64_t gates_of(const std::string& type) { return type == "LSTM" ? 4 : type == "GRU" ? 3 : 1; }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The tensors of one direction.
struct Direction {
  const double* w;
  const double* r;
  const double* b;  // null: 0
  const double* peepholes;
  Numbers state, cell;  // [batch, hidden]
};

class Reference {
 public:
  Reference(const Case& c, const std::map<std::string, Values>& tensors) : case_(c), tensors_(tensors) {
    const std::string direction = c.direction;
    backwards_ = direction == "bidirectional" ? std::vector<bool>{false, true}
                                              : std::vector<bool>{direction == "reverse"};
    all_.assign(static_cast<size_t>(kPlaces * count() * kBatch * kHidden), 0);
  }

  void run() {
    for (int64_t d = 0; d < count(); ++d) {
      Direction at = direction(d);
      for (int64_t i = 0; i < kPlaces; ++i) {
        const int64_t place = backwards_[static_cast<size_t>(d)] ? kPlaces - 1 - i : i;
        for (int64_t n = 0; n < kBatch; ++n) {
          if (case_.has_lengths && place >= kSequenceLengths[static_cast<size_t>(n)]) continue;
          step(at, place, n, &all_[static_cast<size_t>(((place * count() + d) * kBatch + n) * kHidden)]);
        }
      }
      last_.insert(last_.end(), at.state.begin(), at.state.end());
      cells_.insert(cells_.end(), at.cell.begin(), at.cell.end());
    }
  }

  int64_t count() const { return static_cast<int64_t>(backwards_.size()); }
  const Numbers& all() const { return all_; }
  const Numbers& last() const { return last_; }
  const Numbers& cells() const { return cells_; }

 private:
  Direction direction(int64_t d) const {
    const int64_t rows = gates_of(case_.type) * kHidden;
    const auto from = [&](const char* name, int64_t offset) -> const double* {
      const auto found = tensors_.find(name);
      return found == tensors_.end() ? nullptr : found->second.data.data() + offset;
    };
    Direction at{from("W", d * rows * kInputs), from("R", d * rows * kHidden), from("B", d * 2 * rows),
                 from("P", d * 3 * kHidden),    Numbers(kBatch * kHidden, 0),  Numbers(kBatch * kHidden, 0)};
    if (const double* state = from("H", d * kBatch * kHidden))
      at.state.assign(state, state + kBatch * kHidden);
    if (const double* cell = from("C", d * kBatch * kHidden)) at.cell.assign(cell, cell + kBatch * kHidden);
    return at;
  }

  double clipped(double x) const { return case_.clip > 0 ? std::clamp(x, -case_.clip, case_.clip) : x; }
  bool has(const char* attribute) const { return case_.attributes.contains(attribute); }

  // What the data come to in a gate, with their bias.
  double of_data(const Direction& at, int64_t place, int64_t n, int64_t row) const {
    double sum = at.b == nullptr ? 0 : at.b[row];
    for (int64_t i = 0; i < kInputs; ++i)
      sum += at.w[row * kInputs + i] *
             tensors_.at("X").data[static_cast<size_t>((place * kBatch + n) * kInputs + i)];
    return sum;
  }
  // What a state comes to, with its bias.
  double of_state(const Direction& at, const Numbers& state, int64_t n, int64_t row) const {
    double sum = at.b == nullptr ? 0 : at.b[gates_of(case_.type) * kHidden + row];
    for (int64_t k = 0; k < kHidden; ++k)
      sum += at.r[row * kHidden + k] * state[static_cast<size_t>(n * kHidden + k)];
    return sum;
  }

  void step(Direction& at, int64_t place, int64_t n, double* given) const {
    const std::string type = case_.type;
    Numbers next(kHidden), reset(at.state);
    const auto gate = [&](int64_t number, int64_t j, const Numbers& state) {
      const int64_t row = number * kHidden + j;
      return of_data(at, place, n, row) + of_state(at, state, n, row);
    };
    const auto seen = [&](int64_t number, int64_t j, double cell) {
      return at.peepholes == nullptr ? 0 : at.peepholes[number * kHidden + j] * cell;
    };
    for (int64_t j = 0; j < kHidden; ++j)
      if (type == "GRU")
        reset[static_cast<size_t>(n * kHidden + j)] *= sigmoid(clipped(gate(1, j, at.state)));
    for (int64_t j = 0; j < kHidden; ++j) {
      const auto here = static_cast<size_t>(n * kHidden + j);
      double& result = next[static_cast<size_t>(j)];
      if (type == "RNN") result = std::tanh(clipped(gate(0, j, at.state)));
      if (type == "GRU") {
        const double update = sigmoid(clipped(gate(0, j, at.state)));
        const int64_t row = 2 * kHidden + j;
        const double product = has("linear_before_reset")
                                   ? sigmoid(clipped(gate(1, j, at.state))) * of_state(at, at.state, n, row)
                                   : of_state(at, reset, n, row);
        const double candidate = std::tanh(clipped(of_data(at, place, n, row) + product));
        result = (1 - update) * candidate + update * at.state[here];
      }
      if (type == "LSTM") {
        double& cell = at.cell[here];
        const double input = sigmoid(clipped(gate(0, j, at.state) + seen(0, j, cell)));
        const double forget =
            has("input_forget") ? 1 - input : sigmoid(clipped(gate(2, j, at.state) + seen(2, j, cell)));
        cell = forget * cell + input * std::tanh(clipped(gate(3, j, at.state)));
        result = sigmoid(clipped(gate(1, j, at.state) + seen(1, j, cell))) * std::tanh(cell);
      }
    }
    std::ranges::copy(next, given);
    std::ranges::copy(next, at.state.begin() + n * kHidden);
  }

  const Case& case_;
  const std::map<std::string, Values>& tensors_;
  std::vector<bool> backwards_;
  Numbers all_, last_, cells_;
};

// Those that the case has; every one in f32.
std::map<std::string, Values> draw_tensors(const Case& c) {
  Rng rng(11);
  const int64_t directions = std::string(c.direction) == "bidirectional" ? 2 : 1;
  const int64_t rows = gates_of(c.type) * kHidden;
  std::map<std::string, Values> tensors;
  const auto draw = [&](const char* name, const Shape& shape) {
    Values& values = tensors[name];
    values.shape = shape;
    for (int64_t i = 0; i < elements_of(shape); ++i)
      values.data.push_back(static_cast<float>(2 * rng.uniform() - 1));
  };
  draw("X", {kPlaces, kBatch, kInputs});
  draw("W", {directions, rows, kInputs});
  draw("R", {directions, rows, kHidden});
  if (c.has_bias) draw("B", {directions, 2 * rows});
  if (c.has_initial) draw("H", {directions, kBatch, kHidden});
  if (c.has_initial && gates_of(c.type) == 4) draw("C", {directions, kBatch, kHidden});
  if (c.has_peepholes) draw("P", {directions, 3 * kHidden});
  return tensors;
}

// A batch of sequences with its first two axes exchanged.
Values exchanged(const Values& x) {
  Values result{{x.shape[1], x.shape[0], x.shape[2]}, {}};
  for (int64_t n = 0; n < x.shape[1]; ++n)
    for (int64_t t = 0; t < x.shape[0]; ++t)
      for (int64_t i = 0; i < x.shape[2]; ++i)
        result.data.push_back(x.data[static_cast<size_t>((t * x.shape[1] + n) * x.shape[2] + i)]);
  return result;
}

OnnxModel model_of(const Case& c, const std::map<std::string, Values>& tensors) {
  OnnxModel model;
  model.operator_set(17);
  const bool is_batch_first = c.attributes.contains("layout");
  std::vector<std::string> reads;
  for (const char* name : {"X", "W", "R", "B", "L", "H", "C", "P"}) {
    const auto found = tensors.find(name);
    if (std::string(name) == "L" && c.has_lengths) {
      onnx::TensorProto& lengths = *model.proto.mutable_graph()->add_initializer();
      lengths.set_name("L");
      lengths.set_data_type(onnx::TensorProto_DataType_INT32);
      lengths.add_dims(kBatch);
      for (const int64_t length : kSequenceLengths) lengths.add_int32_data(static_cast<int32_t>(length));
    } else if (found != tensors.end() && std::string(name) == "X") {
      model.input(name, is_batch_first ? exchanged(found->second).shape : found->second.shape);
    } else if (found != tensors.end()) {
      const Values stored =
          is_batch_first && (*name == 'H' || *name == 'C') ? exchanged(found->second) : found->second;
      model.initializer(name, stored.shape, std::vector<float>(stored.data.begin(), stored.data.end()));
    } else {
      reads.emplace_back();
      continue;
    }
    reads.emplace_back(name);
  }
  while (reads.back().empty()) reads.pop_back();
  model.node("n", c.type, reads, "Y").gives("YH");
  if (gates_of(c.type) == 4) model.gives("YC");
  model.attribute("hidden_size", kHidden).attribute("direction", c.direction);
  for (const auto& [name, value] : c.attributes) model.attribute(name, value);
  if (c.clip > 0) model.attribute("clip", c.clip);
  model.output("Y").output("YH");
  if (gates_of(c.type) == 4) model.output("YC");
  return model;
}

void expect_near(const Numbers& actual, const Numbers& expected, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 2e-6) << what << " " << i;
}

TEST(OnnxRecurrent, ComputesTheEquationsOfTheStandard) {
  const std::vector<Case> cases = {
      {"RNN"},
      {"RNN", "reverse", false, false, true},
      {"RNN", "bidirectional", true, true},
      {"GRU"},
      {"GRU", "reverse", true, true, true},
      {"GRU", "forward", true, false, true, false, {{"linear_before_reset", 1}}},
      {"GRU", "bidirectional", false, false, false, false, {{"linear_before_reset", 1}}, 0.5},
      {"LSTM"},
      {"LSTM", "reverse", true, true, true, true},
      {"LSTM", "bidirectional", true, true, true},
      {"LSTM", "forward", true, false, true, true, {{"input_forget", 1}}, 0.25},
      {"LSTM", "bidirectional", false},
  };
  for (const Case& c : cases) {
    const std::map<std::string, Values> tensors = draw_tensors(c);
    Reference reference(c, tensors);
    reference.run();
    const OnnxModel model = model_of(c, tensors);
    const std::string what = fmt::format("{} {}", c.type, c.direction);
    const std::vector<Values> inputs{tensors.at("X")};
    expect_near(run_network(model, inputs, 0).data, reference.all(), what + " states");
    expect_near(run_network(model, inputs, 1).data, reference.last(), what + " last");
    if (gates_of(c.type) == 4)
      expect_near(run_network(model, inputs, 2).data, reference.cells(), what + " cells");
  }
}

// [batch, places, directions, hidden], and states of [batch, directions, hidden].
TEST(OnnxRecurrent, LayoutOneHasTheBatchFirst) {
  const Case c{"LSTM", "bidirectional", true, false, true, false, {{"layout", 1}}};
  const std::map<std::string, Values> tensors = draw_tensors(c);
  Reference reference(c, tensors);
  reference.run();
  const OnnxModel model = model_of(c, tensors);
  const std::vector<Values> inputs{exchanged(tensors.at("X"))};
  const Values all = run_network(model, inputs, 0);
  EXPECT_EQ(all.shape, (Shape{kBatch, kPlaces, 2, kHidden}));
  const Values before{{kPlaces * 2, kBatch, kHidden}, reference.all()};
  expect_near(all.data, exchanged(before).data, "states");
  const Values last{{2, kBatch, kHidden}, reference.last()};
  expect_near(run_network(model, inputs, 1).data, exchanged(last).data, "last");
}

// Weights as columns of integers of 8 bits, with a zero point and a scale for each direction.
struct QuantizedWeights {
  int64_t rows = 0;
  std::vector<int32_t> numbers;  // [2, rows, 4 hidden]

  static constexpr int64_t kColumns = 4 * kHidden;
  static constexpr std::array kZeros = {128, 100};
  static constexpr std::array kScales = {1 / 128.0F, 1 / 256.0F};

  void add_to(OnnxModel& model, const char* name) const {
    onnx::TensorProto& tensor = *model.proto.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto_DataType_UINT8);
    for (const int64_t extent : {int64_t{2}, rows, kColumns}) tensor.add_dims(extent);
    for (const int32_t number : numbers) tensor.add_int32_data(number);
  }
  // Rows of numbers times those of a direction: the numbers of all rows are rounded to u8 by one scale first.
  Numbers product(size_t direction, const Numbers& x) const {
    const auto [least, most] = std::ranges::minmax_element(x);
    const double low = std::min(*least, 0.0), scale = (std::max(*most, 0.0) - low) / 255;
    const double zero = scale == 0 ? 0 : std::nearbyint(-low / scale);
    Numbers sums(x.size() / static_cast<size_t>(rows) * kColumns);
    for (size_t i = 0; i < sums.size() && scale != 0; ++i) {
      for (size_t k = 0; k < static_cast<size_t>(rows); ++k) {
        const double number = std::nearbyint(x[i / kColumns * static_cast<size_t>(rows) + k] / scale) + zero;
        const size_t weight = (direction * static_cast<size_t>(rows) + k) * kColumns + i % kColumns;
        sums[i] += (std::clamp(number, 0.0, 255.0) - zero) * (numbers[weight] - kZeros[direction]) * scale *
                   kScales[direction];
      }
    }
    return sums;
  }
};

// Data and states are rounded before they are multiplied, as ONNX Runtime does it.
TEST(OnnxRecurrent, AQuantizedLayerRoundsDataAndStates) {
  Rng rng(3);
  QuantizedWeights weights{kInputs, {}}, recurrence{kHidden, {}};
  OnnxModel model;
  model.input("X", {kPlaces, kBatch, kInputs});
  for (QuantizedWeights* each : {&weights, &recurrence}) {
    for (int64_t i = 0; i < 2 * each->rows * QuantizedWeights::kColumns; ++i)
      each->numbers.push_back(static_cast<int32_t>(rng.between(0, 255)));
    each->add_to(model, each == &weights ? "W" : "R");
  }
  model.initializer("s", {2}, {QuantizedWeights::kScales.begin(), QuantizedWeights::kScales.end()});
  onnx::TensorProto& zeros = *model.proto.mutable_graph()->add_initializer();
  zeros.set_name("z");
  zeros.set_data_type(onnx::TensorProto_DataType_UINT8);
  zeros.add_dims(2);
  for (const int zero : QuantizedWeights::kZeros) zeros.add_int32_data(zero);
  model.runtime_node("n", "DynamicQuantizeLSTM", {"X", "W", "R", "", "", "", "", "", "s", "z", "s", "z"},
                     "Y");
  model.attribute("hidden_size", kHidden).attribute("direction", "bidirectional").output("Y");
  Values x{{kPlaces, kBatch, kInputs}, {}};
  for (int64_t i = 0; i < elements_of(x.shape); ++i) x.data.push_back(2 * rng.uniform() - 1);

  constexpr size_t kStates = kBatch * kHidden;
  Numbers expected(kPlaces * 2 * kStates);
  for (size_t d = 0; d < 2; ++d) {
    const Numbers products = weights.product(d, x.data);
    Numbers state(kStates), cell(kStates);
    for (size_t step = 0; step < kPlaces; ++step) {
      const size_t place = d == 0 ? step : kPlaces - 1 - step;
      const Numbers own = recurrence.product(d, state);
      for (size_t i = 0; i < kStates; ++i) {
        const size_t row = i / kHidden * QuantizedWeights::kColumns, column = i % kHidden;
        const auto gate = [&](size_t number) {
          const size_t at = row + number * kHidden + column;
          return products[place * kBatch * QuantizedWeights::kColumns + at] + own[at];
        };
        cell[i] = sigmoid(gate(2)) * cell[i] + sigmoid(gate(0)) * std::tanh(gate(3));
        state[i] = sigmoid(gate(1)) * std::tanh(cell[i]);
        expected[(place * 2 + d) * kStates + i] = state[i];
      }
    }
  }
  expect_near(run_network(model, {x}).data, expected, "states");
}

OnnxModel plain_model() {
  const Case c{"RNN"};
  return model_of(c, draw_tensors(c));
}

TEST(OnnxRecurrent, ActivationsTakeTheirParametersInOrder) {
  OnnxModel model;
  model.operator_set(17).input("X", {1, 1, 1}).initializer("W", {2, 1, 1}, {1, 1});
  model.initializer("R", {2, 1, 1}, {0, 0}).node("n", "RNN", {"X", "W", "R"}, "Y");
  model.attribute("direction", "bidirectional").output("Y");
  const auto add = [&](const char* name, int type, auto fill) {
    onnx::AttributeProto& attribute = *model.proto.mutable_graph()->mutable_node(0)->add_attribute();
    attribute.set_name(name);
    attribute.set_type(static_cast<onnx::AttributeProto_AttributeType>(type));
    fill(attribute);
  };
  add("activations", onnx::AttributeProto_AttributeType_STRINGS, [](onnx::AttributeProto& attribute) {
    attribute.add_strings("Relu");
    attribute.add_strings("Affine");
  });
  add("activation_alpha", onnx::AttributeProto_AttributeType_FLOATS,
      [](onnx::AttributeProto& attribute) { attribute.add_floats(3); });
  add("activation_beta", onnx::AttributeProto_AttributeType_FLOATS,
      [](onnx::AttributeProto& attribute) { attribute.add_floats(0.5F); });
  EXPECT_EQ(run_network(model, {{{1, 1, 1}, {2}}}).data, (Numbers{2, 6.5}));
  model.proto.mutable_graph()->mutable_node(0)->mutable_attribute(1)->set_strings(0, "Swish");
  const auto graph = import_onnx_bytes(model.bytes(), "m");
  ASSERT_FALSE(graph);
  EXPECT_NE(graph.error().message.find("the activation 'Swish'"), std::string::npos) << graph.error().message;
}

// However long the sequence is: the product with the data, and a loop over one product and what follows it.
TEST(OnnxRecurrent, APlaceIsAStepOfALoop) {
  const Case c{"LSTM"};
  const auto graph = import_onnx_bytes(model_of(c, draw_tensors(c)).bytes(), "m");
  ASSERT_TRUE(graph) << graph.error().to_string();
  const Graph simple = simplify(*graph);
  const Partition parts = partition(simple).value();
  ASSERT_EQ(parts.loops.size(), 1U);
  EXPECT_EQ(parts.loops[0].steps, kPlaces);
  std::vector<std::vector<std::string>> body;
  for (const TaskUse& use : parts.uses)
    if (use.loop) body.push_back(use.operators);
  ASSERT_EQ(body.size(), 3U);
  EXPECT_EQ(body[0].front(), "MatMul");
  EXPECT_EQ(body[1].back(), "Add");  // the cell
  EXPECT_EQ(body[2].back(), "Mul");  // the state
}

TEST(OnnxRecurrent, ShapesThatDoNotFitAreRefused) {
  OnnxModel model = plain_model();
  model.proto.mutable_graph()->mutable_initializer(1)->set_dims(1, kHidden + 1);
  model.proto.mutable_graph()->mutable_initializer(1)->clear_raw_data();
  EXPECT_FALSE(import_onnx_bytes(model.bytes(), "m"));
  OnnxModel sized = plain_model();
  for (onnx::AttributeProto& attribute : *sized.proto.mutable_graph()->mutable_node(0)->mutable_attribute())
    if (attribute.name() == "hidden_size") attribute.set_i(kHidden + 2);
  const auto graph = import_onnx_bytes(sized.bytes(), "m");
  ASSERT_FALSE(graph);
  EXPECT_NE(graph.error().message.find("input 1 has shape [1,4,3], and must be [1,6,3]"), std::string::npos)
      << graph.error().message;
}

}  // namespace
}  // namespace lathe
