#include "graph/onnx/nodes/group_query_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "graph/onnx/nodes/head_steps.h"
#include "graph/onnx/nodes/rotary.h"

namespace lathe {
namespace {

struct GroupInput {
  static constexpr size_t kQuery = 0, kKey = 1, kValue = 2, kPastKey = 3, kPastValue = 4, kLengths = 5,
                          kTotal = 6, kCosines = 7, kSines = 8, kPlaces = 9, kProductBias = 10, kSink = 11;
};

struct GroupAttention {
  int64_t batch = 1, queries = 1, size = 1;
  int64_t heads = 1, key_heads = 1;
  int64_t past = 0;   // places of the past
  int64_t total = 1;  // places of the present
  double scale = 0;
  double cap = 0;       // 0: none
  int64_t window = -1;  // how many keys up to its own a query sees; below 0: all
  bool is_packed = false;
  bool is_smooth = false;  // whether each query's weights have a part that no key has, as of a product of 0
  bool turns = false;
  Rotary rotary;
};

// How many places the present has: of no constant, those of the past and the queries together.
Result<int64_t> total_places(const OnnxNode& node, int64_t past, int64_t queries) {
  if (!node.has_input(GroupInput::kTotal) || !node.is_constant(GroupInput::kTotal)) return past + queries;
  LATHE_TRY(const Shape total, node.constant_integers(GroupInput::kTotal));
  constexpr int64_t kMostPlaces = int64_t{1} << 24;
  if (total.size() == 1 && total[0] >= queries && total[0] <= kMostPlaces) return std::max(past, total[0]);
  return fail(ErrorKind::invalid_argument,
              fmt::format("its sequences of {} places do not hold {} queries", to_string(total), queries));
}

Status read_rotation(OnnxNode& node, GroupAttention& op) {
  op.turns = node.integer("do_rotary", 0) != 0;
  op.rotary.are_beside = node.integer("rotary_interleaved", 0) != 0;
  if (!op.turns) return {};
  LATHE_TRY_STATUS(node.require_inputs({GroupInput::kCosines, GroupInput::kSines}));
  const Shape& table = node.shape(GroupInput::kCosines);
  if (table.size() == 2 && node.shape(GroupInput::kSines) == table && 2 * table[1] <= op.size) {
    op.rotary.turned = 2 * table[1];
    return {};
  }
  return fail(ErrorKind::invalid_argument,
              fmt::format("its cosines {} do not turn the {} elements of a head", to_string(table), op.size));
}

Status check_past(const OnnxNode& node, const GroupAttention& op) {
  for (const size_t input : {GroupInput::kPastKey, GroupInput::kPastValue}) {
    if (!node.has_input(input) || node.shape(input) == Shape{op.batch, op.key_heads, op.past, op.size})
      continue;
    return fail(ErrorKind::invalid_argument,
                fmt::format("input {} has shape {}, and must be [{}, {}, places, {}]", input,
                            to_string(node.shape(input)), op.batch, op.key_heads, op.size));
  }
  if (node.shape(GroupInput::kLengths).size() <= 2 &&
      elements_of(node.shape(GroupInput::kLengths)) == op.batch)
    return {};
  return fail(ErrorKind::invalid_argument,
              fmt::format("its lengths have shape {} for {} sequences",
                          to_string(node.shape(GroupInput::kLengths)), op.batch));
}

Result<GroupAttention> read_group_attention(OnnxNode& node) {
  LATHE_TRY_STATUS(node.require_inputs({GroupInput::kQuery, GroupInput::kLengths}));
  GroupAttention op;
  const Shape& query = node.shape(GroupInput::kQuery);
  op.heads = node.integer("num_heads", 0);
  op.key_heads = node.integer("kv_num_heads", 0);
  op.is_packed = !node.has_input(GroupInput::kKey);
  constexpr int64_t kMostHeads = int64_t{1} << 20;
  const bool are_few = std::max(op.heads, op.key_heads) <= kMostHeads;
  const int64_t all = are_few && op.is_packed ? op.heads + 2 * op.key_heads : op.heads;
  if (!are_few || query.size() != 3 || op.key_heads < 1 || op.heads < 1 || op.heads % op.key_heads != 0 ||
      query[2] % all != 0 || op.is_packed == node.has_input(GroupInput::kValue)) {
    return fail(ErrorKind::invalid_argument, fmt::format("its queries {} are not those of {} heads over {}",
                                                         to_string(query), op.heads, op.key_heads));
  }
  op.batch = query[0];
  op.queries = query[1];
  op.size = query[2] / all;
  if (node.has_input(GroupInput::kPastKey) && node.shape(GroupInput::kPastKey).size() == 4)
    op.past = node.shape(GroupInput::kPastKey)[2];
  LATHE_TRY(op.total, total_places(node, op.past, op.queries));
  op.scale = node.real("scale", 0);
  if (op.scale == 0) op.scale = 1 / std::sqrt(static_cast<double>(op.size));
  op.cap = node.real("softcap", 0);
  op.window = node.integer("local_window_size", -1);
  op.is_smooth = node.integer("smooth_softmax", 0) > 0;
  LATHE_TRY_STATUS(require_attribute("qk_output", static_cast<double>(node.integer("qk_output", 0)), 0));
  if (node.has_input(GroupInput::kSink) && node.shape(GroupInput::kSink) != Shape{op.heads}) {
    return fail(ErrorKind::invalid_argument, fmt::format("its sinks have shape {} for {} heads",
                                                         to_string(node.shape(GroupInput::kSink)), op.heads));
  }
  LATHE_TRY_STATUS(read_rotation(node, op));
  LATHE_TRY_STATUS(check_past(node, op));
  return op;
}

class GroupSteps {
 public:
  GroupSteps(const OnnxNode& node, const GroupAttention& op)
      : node_(node), op_(op), heads_(node.input_count(), op.batch) {
    // How many places of each sequence lie before its queries: none where these are all that there is.
    const size_t lengths = steps().add(CastOp{DType::i64}, {GroupInput::kLengths});
    const size_t before = op.total == op.queries
                              ? steps().integers({op.batch, 1}, Shape(static_cast<size_t>(op.batch), 0))
                              : zip(ZipFunction::sub, lengths, steps().integers({}, {op.queries - 1}));
    before_ = steps().add(ReshapeOp{{op.batch, 1}}, {before});
  }

  ImportedOutputs run() {
    LATHE_TRY(Headed query, headed(GroupInput::kQuery, 0, op_.heads));
    LATHE_TRY(Headed key, headed(GroupInput::kKey, op_.heads, op_.key_heads));
    LATHE_TRY(Headed value, headed(GroupInput::kValue, op_.heads + op_.key_heads, op_.key_heads));
    if (op_.turns) {
      const size_t places = places_of_queries();
      turn(query, places);
      turn(key, places);
    }
    put_behind_past(key, GroupInput::kPastKey);
    put_behind_past(value, GroupInput::kPastValue);
    size_t products = heads_.products(query, key, op_.scale);
    if (op_.cap > 0) {
      const size_t cap = steps().real(op_.cap);
      const size_t bounded = steps().add(MapOp{MapFunction::tanh}, {zip(ZipFunction::div, products, cap)});
      products = zip(ZipFunction::mul, bounded, cap);
    }
    if (node_.has_input(GroupInput::kProductBias))
      products = zip(ZipFunction::add, products, GroupInput::kProductBias);
    products = steps().add(WhereOp{}, {sees(), products, steps().real(kUnseen)});
    const size_t result = heads_.join(heads_.mix(weights(products), query, value));
    return heads_.outputs(std::array{result, key.step, value.step});
  }

 private:
  StepList& steps() { return heads_.steps(); }
  size_t zip(ZipFunction function, size_t a, size_t b) { return heads_.zip(function, a, b); }
  size_t both(size_t a, size_t b) { return zip(ZipFunction::logical_and, a, b); }
  size_t less(size_t a, size_t b) { return zip(ZipFunction::less, a, b); }
  // 0, 1, 2 ..
  size_t counted(const Shape& shape) {
    Shape numbers(static_cast<size_t>(elements_of(shape)));
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
    return steps().integers(shape, numbers);
  }
  size_t shaped(size_t x, Shape shape) { return steps().add(ReshapeOp{std::move(shape)}, {x}); }

  // Of an input of its own, or heads from the `first` on of the packed one.
  Result<Headed> headed(size_t input, int64_t first, int64_t heads) {
    if (op_.is_packed) {
      SliceOp slice{{0, 0, first * op_.size}, {1, 1, 1}, {op_.batch, op_.queries, heads * op_.size}};
      return heads_.split(steps().add(slice, {GroupInput::kQuery}), heads, op_.queries, heads * op_.size);
    }
    const Shape shape{op_.batch, op_.queries, heads * op_.size};
    if (node_.shape(input) == shape) return heads_.split(input, heads, op_.queries, shape[2]);
    return fail(ErrorKind::invalid_argument, fmt::format("input {} has shape {}, and must be {}", input,
                                                         to_string(node_.shape(input)), to_string(shape)));
  }

  // [N, queries].
  size_t places_of_queries() {
    if (node_.has_input(GroupInput::kPlaces)) return GroupInput::kPlaces;
    return zip(ZipFunction::add, before_, counted({op_.queries}));
  }

  void turn(Headed& x, size_t places) {
    Rotary rotary = op_.rotary;
    rotary.shape = {op_.batch, x.heads, x.places, x.size};
    const auto angles = [&](size_t table) {
      return shaped(steps().add(GatherByOp{}, {table, places}), rotary.angles());
    };
    const size_t cosines = angles(GroupInput::kCosines), sines = angles(GroupInput::kSines);
    x.step = add_rotary(steps(), rotary, x.step, cosines, sines);
  }

  // Each place of the present is one of the past, or of what is new from where the sequence's queries begin,
  // or 0 behind these.
  void put_behind_past(Headed& x, size_t input) {
    if (op_.total == op_.queries) return;
    const Shape shape{op_.batch, x.heads, op_.total, x.size};
    const size_t number =
        zip(ZipFunction::sub, counted({1, 1, op_.total, 1}), shaped(before_, {op_.batch, 1, 1, 1}));
    const size_t none = steps().integers({}, {0});
    const size_t is_new =
        both(zip(ZipFunction::less_equal, none, number), less(number, steps().integers({}, {op_.queries})));
    const size_t place = steps().add(ExpandOp{shape}, {steps().add(WhereOp{}, {is_new, number, none})});
    GatherElementsOp gather;
    gather.axis = 2;
    const size_t taken = steps().add(gather, {x.step, place});
    size_t rest = steps().real(0);
    if (node_.has_input(input)) {
      PadOp pad{Shape(4, 0), {0, 0, op_.total - op_.past, 0}};
      const size_t past = op_.total == op_.past ? input : steps().add(pad, {input});
      rest = steps().add(WhereOp{}, {less(number, none), past, rest});
    }
    x.step = steps().add(WhereOp{}, {is_new, taken, rest});
    x.places = op_.total;
  }

  // Of a key more, which has no value, where the node has one.
  size_t weights(size_t products) {
    const bool has_sink = node_.has_input(GroupInput::kSink);
    if (!has_sink && !op_.is_smooth) return heads_.weights(products);
    const size_t sink = has_sink ? shaped(GroupInput::kSink, {1, op_.heads, 1, 1}) : steps().real(0);
    const Shape shape{op_.batch, op_.heads, op_.queries, op_.total};
    Shape wider = shape;
    wider[3] = 1;
    const size_t column = steps().add(ExpandOp{wider}, {sink});
    const size_t all = heads_.weights(steps().add(ConcatOp{3}, {products, column}));
    return steps().add(SliceOp{Shape(4, 0), Shape(4, 1), shape}, {all});
  }

  // Whether a query sees a key: [N, 1, queries, keys].
  size_t sees() {
    const size_t own =
        zip(ZipFunction::add, shaped(before_, {op_.batch, 1, 1, 1}), counted({op_.queries, 1}));
    const size_t key = counted({op_.total});
    const size_t is_before = zip(ZipFunction::less_equal, key, own);
    if (op_.window < 0) return is_before;
    return both(is_before, less(own, zip(ZipFunction::add, key, steps().integers({}, {op_.window}))));
  }

  const OnnxNode& node_;
  const GroupAttention& op_;
  HeadSteps heads_;
  size_t before_ = 0;  // [N, 1], i64
};

}  // namespace

ImportedOutputs import_group_query_attention(OnnxNode& node) {
  LATHE_TRY(const GroupAttention op, read_group_attention(node));
  return GroupSteps(node, op).run();
}

}  // namespace lathe
