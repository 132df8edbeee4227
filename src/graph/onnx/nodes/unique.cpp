// Unique of selections.h.
#include <fmt/format.h>

#include <numeric>

#include "graph/onnx/nodes/selections.h"

namespace lathe {

namespace {

// Rows are put in order by a column after the other.
constexpr int64_t kMostColumns = 256;

class UniqueSteps {
 public:
  // Of the places along the axis of a tensor of that shape.
  UniqueSteps(const OnnxNode& node, const Shape& shape, size_t axis, bool is_flat)
      : axis_(axis),
        rows_(shape[axis]),
        columns_(elements_of(shape) / shape[axis]),
        steps_(node.input_count()) {
    data_ = is_flat ? add(ReshapeOp{shape}, {0}) : 0;
    const bool is_flag = node.type(0).dtype == DType::boolean;
    TransposeOp front{{axis}};
    for (size_t d = 0; d < shape.size(); ++d)
      if (d != axis) front.order.push_back(d);
    const size_t turned = add(ReshapeOp{{rows_, columns_}}, {add(front, {data_})});
    table_ = is_flag ? add(CastOp{DType::i32}, {turned}) : turned;
    Shape places(static_cast<size_t>(rows_));
    std::iota(places.begin(), places.end(), int64_t{0});
    places_ = steps_.integers({rows_}, places);
  }

  std::vector<ImportedOutput> run(bool is_sorted) {
    const size_t order = sorted_order();
    const size_t starts = where_runs_start(add(GatherByOp{0}, {table_, order}));
    const Selected runs = add_selected(steps_, starts, rows_);
    CumSumOp sum;
    const size_t run_of_place = minus(add(sum, {add(CastOp{DType::i64}, {starts})}), number(1));
    size_t inverse = look_up(run_of_place, order_of(order));
    size_t first = look_up(order, runs.places), lengths = run_lengths(runs);
    if (!is_sorted) {
      const size_t is_run = zip(ZipFunction::less, places_, runs.count);
      const size_t by_first = order_of(add(WhereOp{}, {is_run, first, number(rows_)}));
      first = look_up(first, by_first);
      lengths = look_up(lengths, by_first);
      inverse = look_up(order_of(by_first), inverse);
    }
    add(GatherByOp{axis_}, {data_, first});
    std::vector<ImportedOutput> outputs{CountedOutput{steps_.finish(), axis_, runs.count}};
    const auto give = [&](size_t result) {
      add(IdentityOp{}, {result});
      return steps_.finish();
    };
    outputs.emplace_back(CountedOutput{give(first), 0, runs.count});
    outputs.emplace_back(give(inverse));
    outputs.emplace_back(CountedOutput{give(lengths), 0, runs.count});
    return outputs;
  }

 private:
  size_t add(GraphOp op, std::vector<size_t> reads) { return steps_.add(std::move(op), std::move(reads)); }
  size_t zip(ZipFunction function, size_t a, size_t b) { return add(ZipOp{function}, {a, b}); }
  size_t minus(size_t a, size_t b) { return zip(ZipFunction::sub, a, b); }
  size_t number(int64_t value) { return steps_.integers({}, {value}); }
  size_t look_up(size_t x, size_t places) { return add(GatherByOp{0}, {x, places}); }
  // Where the smallest number stands, the next one ..; of a list of all places it says where each stands.
  size_t order_of(size_t numbers) {
    TopPlacesOp smallest;
    smallest.count = rows_;
    smallest.largest = false;
    return add(smallest, {numbers});
  }

  // The rows in order: by the last column, then by the one before it, and equal ones as they were.
  size_t sorted_order() {
    size_t order = places_;
    for (int64_t column = columns_; column-- > 0;) {
      const size_t part = add(SliceOp{{0, column}, {1, 1}, {rows_, 1}}, {table_});
      const size_t numbers = look_up(add(ReshapeOp{{rows_}}, {part}), order);
      order = look_up(order, order_of(numbers));
    }
    return order;
  }

  // Whether a row of the sorted ones differs from the one before it.
  size_t where_runs_start(size_t sorted) {
    Shape before(static_cast<size_t>(rows_));
    for (size_t i = 1; i < before.size(); ++i) before[i] = static_cast<int64_t>(i) - 1;
    const size_t last = look_up(sorted, steps_.integers({rows_}, before));
    const size_t differs = add(MapOp{MapFunction::logical_not}, {zip(ZipFunction::equal, sorted, last)});
    ReduceOp any;
    any.function = ReduceFunction::max;
    any.axes = {1};
    any.keeps_axes = false;
    const size_t some = add(any, {add(CastOp{DType::i32}, {differs})});
    return zip(ZipFunction::logical_or, add(CastOp{DType::boolean}, {some}),
               zip(ZipFunction::equal, places_, number(0)));
  }

  // From each run's start to the next one's, or to the end.
  size_t run_lengths(const Selected& runs) {
    Shape behind(static_cast<size_t>(rows_));
    std::iota(behind.begin(), behind.end(), int64_t{1});
    const size_t has_next = zip(ZipFunction::less, steps_.integers({rows_}, behind), runs.count);
    behind.back() = rows_ - 1;
    const size_t next = look_up(runs.places, steps_.integers({rows_}, behind));
    return minus(add(WhereOp{}, {has_next, next, number(rows_)}), runs.places);
  }

  size_t axis_;
  int64_t rows_, columns_;
  StepList steps_;
  size_t data_ = 0, table_ = 0, places_ = 0;
};

}  // namespace

ImportedOutputs import_unique(OnnxNode& node) {
  const bool is_flat = !node.has("axis");
  const Shape shape = is_flat ? Shape{elements_of(node.shape(0))} : node.shape(0);
  LATHE_TRY(const size_t axis, axis_of(node.integer("axis", 0), shape.size()));
  const int64_t columns = elements_of(shape) / shape[axis];
  if (columns > kMostColumns) {
    return fail(ErrorKind::unsupported,
                fmt::format("it compares {} numbers of each place of axis {}, and Lathe "
                            "supports {}",
                            columns, axis, kMostColumns));
  }
  return UniqueSteps(node, shape, axis, is_flat).run(node.integer("sorted", 1) != 0);
}

}  // namespace lathe
