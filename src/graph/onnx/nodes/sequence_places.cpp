#include "graph/onnx/nodes/sequence_places.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/onnx/nodes/node_steps.h"

namespace lathe {

ImportedOutputs import_reverse_sequence(OnnxNode& node) {
  constexpr size_t kLengths = 1;
  const Shape& shape = node.shape(0);
  const size_t rank = shape.size();
  LATHE_TRY(const size_t batch_axis, axis_of(node.integer("batch_axis", 1), rank));
  LATHE_TRY(const size_t time_axis, axis_of(node.integer("time_axis", 0), rank));
  if (batch_axis == time_axis || node.shape(kLengths) != Shape{shape[batch_axis]}) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("its lengths {} are not those of the sequences of {} along axis {}",
                            to_string(node.shape(kLengths)), to_string(shape), time_axis));
  }
  const int64_t batch = shape[batch_axis], places = shape[time_axis];
  std::vector<size_t> order{batch_axis, time_axis}, back(rank);
  for (size_t d = 0; d < rank; ++d)
    if (d != batch_axis && d != time_axis) order.push_back(d);
  for (size_t d = 0; d < rank; ++d) back[order[d]] = d;
  Shape rows{batch * places};
  for (size_t d = 2; d < rank; ++d) rows.push_back(shape[order[d]]);
  NodeSteps steps(node.input_count());
  const bool is_wide = node.type(kLengths).dtype == DType::i64;
  const size_t lengths = steps.reshape(is_wide ? kLengths : steps.cast(DType::i64, kLengths), {batch, 1});
  const size_t place = steps.counted({1, places});
  const size_t turned = steps.minus(steps.minus(lengths, steps.whole(1)), place);
  const size_t source = steps.where(steps.zip(ZipFunction::less, place, lengths), turned, place);
  const size_t row = steps.plus(source, steps.counted({batch, 1}, places));
  const size_t data = steps.reshape(steps.transpose(0, order), rows);
  steps.give(steps.transpose(steps.gather(data, 0, row), back));
  return steps.outputs();
}

ImportedOutputs import_tensor_scatter(OnnxNode& node) {
  constexpr size_t kCache = 0, kUpdate = 1, kFirst = 2;
  const Shape &cache = node.shape(kCache), &update = node.shape(kUpdate);
  LATHE_TRY(const size_t axis, axis_of(node.integer("axis", -2), cache.size()));
  const std::string mode = node.text("mode", "linear");
  if (mode != "linear" && mode != "circular") {
    return fail(ErrorKind::invalid_argument,
                fmt::format("attribute 'mode' is '{}', and must be linear or circular", mode));
  }
  bool fits = update.size() == cache.size() && axis > 0;
  for (size_t d = 0; fits && d < cache.size(); ++d)
    fits = d == axis ? update[d] <= cache[d] : update[d] == cache[d];
  fits = fits && (!node.has_input(kFirst) || node.shape(kFirst) == Shape{cache[0]});
  if (!fits) {
    return fail(ErrorKind::invalid_argument, fmt::format("its cache {} and update {} do not fit together",
                                                         to_string(cache), to_string(update)));
  }
  NodeSteps steps(node.input_count());
  Shape along(cache.size(), 1), apart(cache.size(), 1);
  along[axis] = cache[axis];
  apart[0] = cache[0];
  size_t number = steps.counted(along);  // of the update that each place takes
  if (node.has_input(kFirst)) {
    const bool is_wide = node.type(kFirst).dtype == DType::i64;
    const size_t first = steps.reshape(is_wide ? kFirst : steps.cast(DType::i64, kFirst), apart);
    number = steps.minus(number, first);
    if (mode == "circular") number = steps.zip(ZipFunction::mod, number, steps.whole(cache[axis]));
  }
  const size_t none = steps.whole(0);
  const size_t is_updated =
      steps.zip(ZipFunction::logical_and, steps.zip(ZipFunction::less_equal, none, number),
                steps.zip(ZipFunction::less, number, steps.whole(update[axis])));
  GatherElementsOp gather;
  gather.axis = axis;
  const size_t places = steps.expand(steps.where(is_updated, number, none), cache);
  steps.give(steps.where(is_updated, steps.add(gather, {kUpdate, places}), kCache));
  return steps.outputs();
}

}  // namespace lathe
