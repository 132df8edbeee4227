// NonMaxSuppression of selections.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "graph/onnx/nodes/selections.h"

namespace lathe {

namespace {

constexpr size_t kBoxes = 0, kScores = 1, kMost = 2, kOverlap = 3, kScore = 4;
// Each round passes over all that may be selected.
constexpr int64_t kMostSelected = int64_t{1} << 20;

struct Suppression {
  int64_t batch = 0, classes = 0, boxes = 0;
  int64_t rounds = 0;       // how many boxes of a class may be selected
  bool is_centred = false;  // boxes are a centre and extents, not two corners
};

// How many boxes of a class may be selected; models write the largest integer where they mean all.
Result<int64_t> read_most(OnnxNode& node) {
  LATHE_TRY(const Shape most, node.bounds_of("", kMost));
  if (most.size() <= 1) return most.empty() ? 0 : most.front();
  return fail(ErrorKind::invalid_argument,
              fmt::format("input {} has shape {}, and must be one i64", kMost, to_string(node.shape(kMost))));
}

Result<Suppression> read_suppression(OnnxNode& node) {
  const Shape &boxes = node.shape(kBoxes), &scores = node.shape(kScores);
  if (boxes.size() != 3 || scores.size() != 3 || boxes[2] != 4 || boxes[0] != scores[0] ||
      boxes[1] != scores[2]) {
    return fail(ErrorKind::invalid_argument, fmt::format("its boxes {} and scores {} do not fit together",
                                                         to_string(boxes), to_string(scores)));
  }
  Suppression found;
  found.batch = scores[0];
  found.classes = scores[1];
  found.boxes = scores[2];
  LATHE_TRY(const int64_t most, read_most(node));
  found.rounds = std::clamp<int64_t>(most, 0, found.boxes);
  if (const int64_t selected = found.batch * found.classes * found.rounds; selected > kMostSelected) {
    return fail(ErrorKind::unsupported,
                fmt::format("it selects up to {} boxes, {} of each class, and Lathe supports {} together",
                            selected, found.rounds, kMostSelected));
  }
  for (const size_t input : {kOverlap, kScore}) {
    if (!node.has_input(input)) continue;
    if (node.type(input).dtype == DType::f32 && elements_of(node.shape(input)) == 1) continue;
    return fail(ErrorKind::invalid_argument,
                fmt::format("input {} is {}, and must be one f32", input, to_string(node.type(input))));
  }
  found.is_centred = node.integer("center_point_box", 0) != 0;
  return found;
}

class SuppressionSteps {
 public:
  SuppressionSteps(const OnnxNode& node, const Suppression& suppression)
      : node_(node),
        suppression_(suppression),
        steps_(node.input_count()),
        least_(steps_.real(-kInfinity)),
        zero_(steps_.real(0)),
        overlap_(number_of(kOverlap)) {}

  // A loop takes the best box of each class and drops what overlaps it, as long as there is any.
  CountedOutput run() {
    const Suppression& s = suppression_;
    const StepLoop loop{node_.place() + "#rounds", s.rounds};
    const Shape selected{s.batch, s.classes, s.rounds};
    size_t state = 0;
    const auto from_step_to_step = [&](size_t first) { return add(StepStateOp{loop, state++}, {first}); };
    add_corners();
    const size_t least_taken = node_.has_input(kScore) ? number_of(kScore) : least_;
    const size_t first_scores = where(zip(ZipFunction::greater, kScores, least_taken), kScores, least_);
    const Best first = best_of(first_scores);
    const size_t scores = from_step_to_step(first_scores);
    const Best best{from_step_to_step(first.place), from_step_to_step(first.score)};
    const size_t round = from_step_to_step(number(0));
    const size_t chosen = from_step_to_step(add(ExpandOp{selected}, {number(0)}));
    const size_t are_there = from_step_to_step(add(ExpandOp{selected}, {truth(false)}));

    const size_t is_round =
        zip(ZipFunction::equal, steps_.integers({1, 1, s.rounds}, ascending(s.rounds)), round);
    const size_t is_there = zip(ZipFunction::greater, best.score, least_);
    const size_t next_scores = where(is_dropped(best.place), least_, scores);
    const Best next = best_of(next_scores);
    const std::array nexts{next_scores,
                           next.place,
                           next.score,
                           zip(ZipFunction::add, round, number(1)),
                           where(is_round, best.place, chosen),
                           where(is_round, is_there, are_there)};
    std::array<size_t, nexts.size()> last{};
    for (size_t i = 0; i < nexts.size(); ++i) last[i] = add(LastStateOp{loop, i}, {nexts[i]});
    add(StepsWhileOp{loop}, {is_any(first), is_any(next)});

    const int64_t all = elements_of(selected);
    const size_t places = add(ReshapeOp{{all}}, {last[4]});
    const size_t flags = add(ReshapeOp{{all}}, {last[5]});
    const auto [order, count] = add_selected(steps_, flags, all);
    const size_t of_batch = zip(ZipFunction::div, order, number(s.classes * s.rounds));
    const size_t of_class =
        zip(ZipFunction::mod, zip(ZipFunction::div, order, number(s.rounds)), number(s.classes));
    std::vector<size_t> columns;
    for (const size_t column : {of_batch, of_class, add(GatherByOp{0}, {places, order})})
      columns.push_back(add(ReshapeOp{{all, 1}}, {column}));
    add(ConcatOp{1}, columns);
    return {steps_.finish(), 0, count};
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // Numbers of a box, in this order in the table that is looked up.
  enum Number : size_t { kLowY, kLowX, kHighY, kHighX, kArea, kNumbers };

  // The best box of each class and its score, [batch, classes, 1]; the least score where all are dropped.
  struct Best {
    size_t place = 0, score = 0;
  };
  Best best_of(size_t scores) {
    ReduceOp largest;
    largest.function = ReduceFunction::max;
    largest.axes = {2};
    ArgExtremumOp place;
    place.axis = 2;
    return {add(place, {scores}), add(largest, {scores})};
  }
  // Whether any class has a box left.
  size_t is_any(const Best& best) {
    ReduceOp largest;
    largest.function = ReduceFunction::max;
    largest.axes = {0, 1, 2};
    largest.keeps_axes = false;
    return zip(ZipFunction::greater, add(largest, {best.score}), least_);
  }

  size_t add(GraphOp op, std::vector<size_t> reads) { return steps_.add(std::move(op), std::move(reads)); }
  size_t zip(ZipFunction function, size_t a, size_t b) { return add(ZipOp{function}, {a, b}); }
  size_t where(size_t condition, size_t then, size_t otherwise) {
    return add(WhereOp{}, {condition, then, otherwise});
  }
  size_t number(int64_t value) { return steps_.integers({}, {value}); }
  size_t truth(bool value) { return steps_.constant(DType::boolean, {}, {value ? 1.0 : 0.0}); }
  static Shape ascending(int64_t count) {
    Shape numbers(static_cast<size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }

  // An input of one number; 0 where it is left out.
  size_t number_of(size_t input) { return node_.has_input(input) ? add(ReshapeOp{{}}, {input}) : zero_; }

  // Of all boxes [batch, 1, boxes], and as a table [batch x boxes, numbers].
  void add_corners() {
    const Suppression& s = suppression_;
    std::array<size_t, 4> given{};
    for (int64_t i = 0; i < 4; ++i) {
      const size_t column = add(SliceOp{{0, 0, i}, {1, 1, 1}, {s.batch, s.boxes, 1}}, {kBoxes});
      given[static_cast<size_t>(i)] = add(ReshapeOp{{s.batch, 1, s.boxes}}, {column});
    }
    if (s.is_centred) {
      const size_t half = steps_.real(0.5);
      const size_t half_x = zip(ZipFunction::mul, given[2], half),
                   half_y = zip(ZipFunction::mul, given[3], half);
      numbers_[kLowY] = zip(ZipFunction::sub, given[1], half_y);
      numbers_[kLowX] = zip(ZipFunction::sub, given[0], half_x);
      numbers_[kHighY] = zip(ZipFunction::add, given[1], half_y);
      numbers_[kHighX] = zip(ZipFunction::add, given[0], half_x);
    } else {
      for (size_t i = 0; i < 2; ++i) {
        numbers_[kLowY + i] = zip(ZipFunction::min, given[i], given[2 + i]);
        numbers_[kHighY + i] = zip(ZipFunction::max, given[i], given[2 + i]);
      }
    }
    numbers_[kArea] = zip(ZipFunction::mul, zip(ZipFunction::sub, numbers_[kHighY], numbers_[kLowY]),
                          zip(ZipFunction::sub, numbers_[kHighX], numbers_[kLowX]));
    std::vector<size_t> columns;
    for (const size_t each : numbers_) columns.push_back(add(ReshapeOp{{s.batch * s.boxes, 1}}, {each}));
    table_ = add(ConcatOp{1}, columns);
    Shape first = ascending(s.batch);
    for (int64_t& each : first) each *= s.boxes;
    first_ = steps_.integers({s.batch, 1, 1}, first);
    places_ = steps_.integers({1, 1, s.boxes}, ascending(s.boxes));
  }

  // Whether a box is the chosen one [batch, classes, 1], or overlaps it too much.
  size_t is_dropped(size_t chosen) {
    const Suppression& s = suppression_;
    const size_t rows = add(GatherByOp{0}, {table_, zip(ZipFunction::add, chosen, first_)});
    const auto of_chosen = [&](Number which) {
      const SliceOp part{{0, 0, 0, static_cast<int64_t>(which)}, {1, 1, 1, 1}, {s.batch, s.classes, 1, 1}};
      return add(ReshapeOp{{s.batch, s.classes, 1}}, {add(part, {rows})});
    };
    const auto shared = [&](Number low, Number high) {
      const size_t end = zip(ZipFunction::min, numbers_[high], of_chosen(high));
      const size_t start = zip(ZipFunction::max, numbers_[low], of_chosen(low));
      return zip(ZipFunction::max, zip(ZipFunction::sub, end, start), zero_);
    };
    const size_t both = zip(ZipFunction::mul, shared(kLowY, kHighY), shared(kLowX, kHighX));
    const size_t areas = zip(ZipFunction::add, numbers_[kArea], of_chosen(kArea));
    const size_t share = zip(ZipFunction::div, both, zip(ZipFunction::sub, areas, both));
    const size_t is_over = zip(ZipFunction::greater, share, overlap_);
    return zip(ZipFunction::logical_or, is_over, zip(ZipFunction::equal, places_, chosen));
  }

  const OnnxNode& node_;
  const Suppression& suppression_;
  StepList steps_;
  size_t least_, zero_, overlap_;
  std::array<size_t, kNumbers> numbers_{};
  size_t table_ = 0, first_ = 0, places_ = 0;
};

}  // namespace

ImportedOutputs import_non_max_suppression(OnnxNode& node) {
  LATHE_TRY(const Suppression suppression, read_suppression(node));
  if (suppression.rounds == 0)
    return std::vector<ImportedOutput>{OnnxConstant{{DType::i64, {0, 3}}, std::make_shared<const Bytes>()}};
  return std::vector<ImportedOutput>{SuppressionSteps(node, suppression).run()};
}

}  // namespace lathe
