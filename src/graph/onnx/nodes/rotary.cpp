#include "graph/onnx/nodes/rotary.h"

#include <fmt/format.h>

#include "graph/onnx/nodes/node_steps.h"

namespace lathe {

namespace {

// `heads`: of data of three axes.
Result<Rotary> read_rotary(OnnxNode& node, int64_t heads) {
  const Shape& data = node.shape(0);
  Rotary rotary;
  rotary.shape = data;
  if (data.size() == 3 && heads > 0 && data[2] % heads == 0) {
    rotary.shape = {data[0], data[1], heads, data[2] / heads};
    rotary.heads_axis = 2;
  } else if (data.size() != 4) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("its data {} is not that of {} heads", to_string(data), heads));
  }
  const int64_t size = rotary.shape[3];
  rotary.turned = node.integer("rotary_embedding_dim", 0);
  if (rotary.turned == 0) rotary.turned = size;
  rotary.are_beside = node.integer("interleaved", 0) != 0;
  if (rotary.turned >= 2 && rotary.turned % 2 == 0 && rotary.turned <= size) return rotary;
  return fail(
      ErrorKind::invalid_argument,
      fmt::format("it turns {} of the {} elements of a head, which are not pairs", rotary.turned, size));
}

class RotarySteps {
 public:
  RotarySteps(StepList& steps, const Rotary& rotary) : steps_(steps), rotary_(rotary) {}

  size_t turned(size_t data, size_t cosines, size_t sines) {
    const int64_t turned = rotary_.turned, half = turned / 2, size = rotary_.shape[3];
    const bool beside = rotary_.are_beside;
    const size_t first = part(data, 0, half, beside ? 2 : 1);
    const size_t second = part(data, beside ? 1 : half, half, beside ? 2 : 1);
    const size_t result = joined(zip(ZipFunction::sub, product(cosines, first), product(sines, second)),
                                 zip(ZipFunction::add, product(sines, first), product(cosines, second)));
    if (turned == size) return result;
    return steps_.add(ConcatOp{3}, {result, part(data, turned, size - turned, 1)});
  }

 private:
  size_t zip(ZipFunction function, size_t a, size_t b) { return steps_.add(ZipOp{function}, {a, b}); }
  size_t product(size_t a, size_t b) { return zip(ZipFunction::mul, a, b); }

  size_t part(size_t x, int64_t start, int64_t extent, int64_t step) {
    SliceOp op{Shape(4, 0), Shape(4, 1), rotary_.shape};
    op.starts[3] = start;
    op.steps[3] = step;
    op.extents[3] = extent;
    return steps_.add(op, {x});
  }

  // The elements where those that they come from lay.
  size_t joined(size_t first, size_t second) {
    if (!rotary_.are_beside) return steps_.add(ConcatOp{3}, {first, second});
    Shape column = rotary_.shape;
    column[3] = rotary_.turned / 2;
    column.push_back(1);
    const size_t left = steps_.add(ReshapeOp{column}, {first}),
                 right = steps_.add(ReshapeOp{column}, {second});
    Shape whole = rotary_.shape;
    whole[3] = rotary_.turned;
    return steps_.add(ReshapeOp{whole}, {steps_.add(ConcatOp{4}, {left, right})});
  }

  StepList& steps_;
  const Rotary& rotary_;
};

// The node's data turned by angles whose cosines and sines are these steps.
std::vector<ImportedOutput> turned_data(const OnnxNode& node, const Rotary& rotary, StepList& steps,
                                        size_t cosines, size_t sines) {
  const size_t cosine = steps.add(ReshapeOp{rotary.angles()}, {cosines}),
               sine = steps.add(ReshapeOp{rotary.angles()}, {sines});
  const size_t data = steps.add(ReshapeOp{rotary.shape}, {0});
  steps.add(ReshapeOp{node.shape(0)}, {add_rotary(steps, rotary, data, cosine, sine)});
  return {steps.finish()};
}

}  // namespace

Shape Rotary::angles() const {
  Shape result = shape;
  result[heads_axis] = 1;
  result[3] = turned / 2;
  return result;
}

size_t add_rotary(StepList& steps, const Rotary& rotary, size_t data, size_t cosines, size_t sines) {
  return RotarySteps(steps, rotary).turned(data, cosines, sines);
}

ImportedOutputs import_rotary_embedding(OnnxNode& node) {
  constexpr size_t kCosines = 1, kSines = 2, kPlaces = 3;
  LATHE_TRY(const Rotary rotary, read_rotary(node, node.integer("num_heads", 0)));
  StepList steps(node.input_count());
  const auto of_places = [&](size_t table) {
    return node.has_input(kPlaces) ? steps.add(GatherByOp{}, {table, kPlaces}) : table;
  };
  const size_t cosines = of_places(kCosines), sines = of_places(kSines);
  return turned_data(node, rotary, steps, cosines, sines);
}

ImportedOutputs import_runtime_rotary_embedding(OnnxNode& node) {
  constexpr size_t kPlaces = 1, kCosines = 2, kSines = 3;
  const Shape &data = node.shape(0), &table = node.shape(kCosines), &places = node.shape(kPlaces);
  LATHE_TRY_STATUS(require_attribute("scale", node.real("scale", 1), 1));
  LATHE_TRY_STATUS(
      require_attribute("is_packed_batching", static_cast<double>(node.integer("is_packed_batching", 0)), 0));
  int64_t heads = node.integer("num_heads", 0);
  const bool fits_table = table.size() == 2 && node.shape(kSines) == table;
  if (heads == 0 && fits_table && data.size() == 3) heads = data[2] / (2 * table[1]);
  LATHE_TRY(const Rotary rotary, read_rotary(node, heads));
  const int64_t batch = rotary.shape[0], count = rotary.shape[3 - rotary.heads_axis];
  if (!fits_table || table[1] != rotary.turned / 2 ||
      (elements_of(places) != 1 && places != Shape{batch, count})) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("its data {}, places {} and cosines {} do not fit together", to_string(data),
                            to_string(places), to_string(table)));
  }
  NodeSteps steps(node.input_count());
  size_t numbers = kPlaces;
  if (elements_of(places) == 1) {
    const size_t first = steps.reshape(kPlaces, {1, 1});
    numbers = steps.expand(steps.plus(first, steps.cast(node.type(kPlaces).dtype, steps.counted({1, count}))),
                           {batch, count});
  }
  const size_t cosines = steps.gather(kCosines, 0, numbers), sines = steps.gather(kSines, 0, numbers);
  return turned_data(node, rotary, steps.list(), cosines, sines);
}

}  // namespace lathe
