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
// Each round is some twenty operators.
constexpr int64_t kMostRounds = 1024;

struct Suppression {
  int64_t batch = 0, classes = 0, boxes = 0;
  int64_t rounds = 0;       // how many boxes of a class may be selected
  bool is_centred = false;  // boxes are a centre and extents, not two corners
};

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
  LATHE_TRY(const double most, node.constant_number(kMost, DType::i64, 0));
  found.rounds = std::min(static_cast<int64_t>(std::max(most, 0.0)), found.boxes);
  if (found.rounds > kMostRounds) {
    return fail(ErrorKind::unsupported,
                fmt::format("it selects up to {} boxes of a class, and Lathe supports {}", found.rounds,
                            kMostRounds));
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

  CountedOutput run() {
    const Suppression& s = suppression_;
    add_corners();
    size_t scores = kScores;
    if (node_.has_input(kScore))
      scores = where(zip(ZipFunction::greater, kScores, number_of(kScore)), kScores, least_);
    std::vector<size_t> chosen, are_there;
    for (int64_t round = 0; round < s.rounds; ++round) {
      ReduceOp largest;
      largest.function = ReduceFunction::max;
      largest.axes = {2};
      ArgExtremumOp place;
      place.axis = 2;
      chosen.push_back(add(place, {scores}));
      are_there.push_back(zip(ZipFunction::greater, add(largest, {scores}), least_));
      scores = where(is_dropped(chosen.back()), least_, scores);
    }
    const int64_t all = s.batch * s.classes * s.rounds;
    const size_t places = add(ReshapeOp{{all}}, {steps_.joined(chosen, 2)});
    const size_t flags = add(ReshapeOp{{all}}, {steps_.joined(are_there, 2)});
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

  size_t add(GraphOp op, std::vector<size_t> reads) { return steps_.add(std::move(op), std::move(reads)); }
  size_t zip(ZipFunction function, size_t a, size_t b) { return add(ZipOp{function}, {a, b}); }
  size_t where(size_t condition, size_t then, size_t otherwise) {
    return add(WhereOp{}, {condition, then, otherwise});
  }
  size_t number(int64_t value) { return steps_.integers({}, {value}); }

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
    Shape first(static_cast<size_t>(s.batch)), places(static_cast<size_t>(s.boxes));
    std::iota(first.begin(), first.end(), 0);
    for (int64_t& each : first) each *= s.boxes;
    std::iota(places.begin(), places.end(), 0);
    first_ = steps_.integers({s.batch, 1, 1}, first);
    places_ = steps_.integers({1, 1, s.boxes}, places);
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
