#include "graph/onnx/nodes/rotary.h"

#include <fmt/format.h>

namespace lathe {

namespace {

constexpr size_t kData = 0, kCosines = 1, kSines = 2, kPlaces = 3;

struct Rotary {
  Shape shape;              // of four axes: two of heads and places, in the order of the data
  size_t heads_axis = 1;    // 1 or 2
  int64_t turned = 0;       // how many elements of each head are turned
  bool are_beside = false;  // whether the two of a pair lie side by side, not half of what is turned apart
};

Result<Rotary> read_rotary(OnnxNode& node) {
  const Shape& data = node.shape(kData);
  const int64_t heads = node.integer("num_heads", 0);
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
  RotarySteps(const OnnxNode& node, const Rotary& rotary)
      : node_(node), rotary_(rotary), steps_(node.input_count()) {}

  std::vector<ImportedOutput> run() {
    const size_t data = steps_.add(ReshapeOp{rotary_.shape}, {kData});
    const int64_t turned = rotary_.turned, half = turned / 2, size = rotary_.shape[3];
    const bool beside = rotary_.are_beside;
    const size_t first = part(data, 0, half, beside ? 2 : 1);
    const size_t second = part(data, beside ? 1 : half, half, beside ? 2 : 1);
    const size_t cosines = angles(kCosines), sines = angles(kSines);
    size_t result = joined(zip(ZipFunction::sub, product(cosines, first), product(sines, second)),
                           zip(ZipFunction::add, product(sines, first), product(cosines, second)));
    if (turned < size) result = steps_.add(ConcatOp{3}, {result, part(data, turned, size - turned, 1)});
    steps_.add(ReshapeOp{node_.shape(kData)}, {result});
    return {steps_.finish()};
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

  // A number for each place and pair, the same for all heads.
  size_t angles(size_t operand) {
    const size_t of_places =
        node_.has_input(kPlaces) ? steps_.add(GatherByOp{}, {operand, kPlaces}) : operand;
    Shape shape = rotary_.shape;
    shape[rotary_.heads_axis] = 1;
    shape[3] = rotary_.turned / 2;
    return steps_.add(ReshapeOp{shape}, {of_places});
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

  const OnnxNode& node_;
  const Rotary& rotary_;
  StepList steps_;
};

}  // namespace

ImportedOutputs import_rotary_embedding(OnnxNode& node) {
  LATHE_TRY(const Rotary rotary, read_rotary(node));
  return RotarySteps(node, rotary).run();
}

}  // namespace lathe
