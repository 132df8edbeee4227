#include "graph/onnx/nodes/quantized_mixed.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/onnx/nodes/node_steps.h"
#include "graph/onnx/nodes/product_steps.h"
#include "graph/onnx/nodes/quantize.h"

namespace lathe {
namespace {

// What the sums of products stand for, and a bias, which may be left out.
std::vector<ImportedOutput> scaled_sums(ProductSteps& steps, size_t sums, size_t a_scale, size_t b_scale,
                                        size_t bias) {
  const size_t factors = steps.zip(ZipFunction::mul, steps.placed(a_scale, 1), steps.placed(b_scale, 0));
  const size_t result = steps.zip(ZipFunction::mul, steps.cast(DType::f32, sums), factors);
  if (steps.has(bias)) steps.zip(ZipFunction::add, result, bias);
  return {steps.finish()};
}

// Weights of a few bits, columns of K numbers of which each block has a scale.
struct BlockWeights {
  int64_t rows = 0, columns = 0;  // K and N
  int64_t bits = 4;
  int64_t block = 32;
  int64_t blocks() const { return (rows + block - 1) / block; }
  int64_t per_byte() const { return 8 / bits; }
};

Result<BlockWeights> read_weights(OnnxNode& node) {
  BlockWeights op;
  op.rows = node.integer("K", 0);
  op.columns = node.integer("N", 0);
  op.bits = node.integer("bits", 4);
  op.block = node.integer("block_size", 0);
  node.integer("accuracy_level", 0);  // of sums, which are f32 in any case
  const Shape &data = node.shape(0), &weights = node.shape(1);
  constexpr int64_t kMost = int64_t{1} << 24;  // rows, columns or a block
  const bool is_known = (op.bits == 2 || op.bits == 4 || op.bits == 8) && op.block >= 16 &&
                        std::max({op.block, op.rows, op.columns}) <= kMost && op.block % op.per_byte() == 0 &&
                        op.rows > 0 && op.columns > 0;
  const bool fits = is_known && !data.empty() && data.back() == op.rows && node.type(1).dtype == DType::u8 &&
                    elements_of(weights) == op.columns * op.blocks() * op.block / op.per_byte() &&
                    elements_of(node.shape(2)) == op.columns * op.blocks();
  if (fits) return op;
  return fail(
      ErrorKind::invalid_argument,
      fmt::format("its data {} and weights {} are not those of {} by {} numbers of {} bits in blocks of {}",
                  to_string(data), to_string(weights), op.rows, op.columns, op.bits, op.block));
}

// A number of so many bits in a row of bytes, the lowest bits first.
int64_t packed_number(const std::vector<double>& bytes, int64_t first_byte, int64_t number, int64_t bits) {
  const int64_t per_byte = 8 / bits;
  const auto byte = static_cast<int64_t>(bytes[static_cast<size_t>(first_byte + number / per_byte)]);
  return byte >> number % per_byte * bits & ((int64_t{1} << bits) - 1);
}

// Of each column's blocks: packed as the weights, or real numbers.
Result<std::vector<double>> zero_points(const OnnxNode& node, const BlockWeights& op) {
  constexpr size_t kZeros = 3;
  const int64_t blocks = op.blocks();
  std::vector<double> zeros(static_cast<size_t>(op.columns * blocks),
                            static_cast<double>(int64_t{1} << (op.bits - 1)));
  if (!node.has_input(kZeros)) return zeros;
  LATHE_TRY(std::vector<double> given, node.constant_numbers(kZeros));
  const int64_t row = (blocks + op.per_byte() - 1) / op.per_byte();
  const bool is_packed = node.type(kZeros).dtype == DType::u8;
  if (static_cast<int64_t>(given.size()) != op.columns * (is_packed ? row : blocks)) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("its zero points {} are not those of {} columns of {} blocks",
                            to_string(node.shape(kZeros)), op.columns, blocks));
  }
  if (!is_packed) return given;
  for (int64_t column = 0; column < op.columns; ++column)
    for (int64_t block = 0; block < blocks; ++block)
      zeros[static_cast<size_t>(column * blocks + block)] =
          static_cast<double>(packed_number(given, column * row, block, op.bits));
  return zeros;
}

// For each of K rows the block whose scale it has.
Result<Shape> blocks_of_rows(const OnnxNode& node, const BlockWeights& op) {
  constexpr size_t kGroups = 4;
  Shape result(static_cast<size_t>(op.rows));
  for (size_t row = 0; row < result.size(); ++row) result[row] = static_cast<int64_t>(row) / op.block;
  if (!node.has_input(kGroups)) return result;
  LATHE_TRY(Shape groups, node.constant_integers(kGroups));
  const auto is_block = [&](int64_t group) { return group >= 0 && group < op.blocks(); };
  if (groups.size() < result.size() || !std::ranges::all_of(groups, is_block))
    return fail(ErrorKind::invalid_argument, "its groups do not name a block for each row");
  groups.resize(result.size());
  return groups;
}

}  // namespace

ImportedOutputs import_matmul_integer_to_float(OnnxNode& node) {
  LATHE_TRY_STATUS(node.require_inputs({0, 1, 2, 3}));
  const QuantizedInput a{0, 2, 4}, b{1, 3, 5};
  LATHE_TRY_STATUS(require_narrow(node, {a.numbers, b.numbers}));
  ProductSteps steps(node);
  const size_t sums = steps.product(factor_of(node, a), factor_of(node, b));
  return scaled_sums(steps, sums, a.scale, b.scale, 6);
}

ImportedOutputs import_dynamic_quantize_matmul(OnnxNode& node) {
  LATHE_TRY_STATUS(node.require_inputs({0, 1, 2}));
  const QuantizedInput b{1, 2, 3};
  LATHE_TRY_STATUS(require_narrow(node, {b.numbers}));
  StepList list(node.input_count());
  const QuantizedInput added = add_dynamic_quantization(list, 0, node.shape(0).size());
  ProductSteps steps(node, list);
  const QuantizedInput a{added.numbers, ProductSteps::step_as_input(added.scale),
                         ProductSteps::step_as_input(added.zero)};
  const size_t sums = steps.product({a, a.numbers, node.shape(0)}, factor_of(node, b));
  return scaled_sums(steps, sums, a.scale, b.scale, 4);
}

ImportedOutputs import_matmul_nbits(OnnxNode& node) {
  constexpr size_t kWeights = 1, kScales = 2, kBias = 5;
  LATHE_TRY(const BlockWeights op, read_weights(node));
  LATHE_TRY(const std::vector<double> bytes, node.constant_numbers(kWeights));
  LATHE_TRY(const std::vector<double> scales, node.constant_reals(kScales));
  LATHE_TRY(const std::vector<double> zeros, zero_points(node, op));
  LATHE_TRY(const Shape blocks, blocks_of_rows(node, op));
  const int64_t row_bytes = op.blocks() * op.block / op.per_byte();
  std::vector<double> matrix(static_cast<size_t>(op.rows * op.columns));
  for (int64_t column = 0; column < op.columns; ++column) {
    for (int64_t row = 0; row < op.rows; ++row) {
      const auto block = static_cast<size_t>(column * op.blocks() + blocks[static_cast<size_t>(row)]);
      const auto number = static_cast<double>(packed_number(bytes, column * row_bytes, row, op.bits));
      matrix[static_cast<size_t>(row * op.columns + column)] = (number - zeros[block]) * scales[block];
    }
  }
  NodeSteps steps(node.input_count());
  size_t result = steps.matmul(0, steps.constant(DType::f32, {op.rows, op.columns}, matrix));
  if (node.has_input(kBias)) result = steps.plus(result, kBias);
  steps.give(result);
  return steps.outputs();
}

ImportedOutputs import_gather_block_quantized(OnnxNode& node) {
  constexpr size_t kTable = 0, kIndices = 1, kScales = 2, kZeros = 3;
  LATHE_TRY_STATUS(node.require_inputs({kTable, kIndices, kScales}));
  Shape shape = node.shape(kTable);
  const size_t rank = shape.size();
  LATHE_TRY(const size_t axis, axis_of(node.integer("gather_axis", 0), rank));
  LATHE_TRY(const size_t scaled, axis_of(node.integer("quantize_axis", 1), rank));
  const int64_t bits = node.integer("bits", 4), block = node.integer("block_size", 128);
  constexpr int64_t kMostOfBlock = int64_t{1} << 24;
  const bool is_known = (bits == 4 || bits == 8) && block >= 16 && block <= kMostOfBlock &&
                        scaled + 1 == rank && axis != scaled && node.type(kTable).dtype == DType::u8;
  if (!is_known) {
    return fail(
        ErrorKind::unsupported,
        fmt::format("its table {} is not one of 4 or 8 bits in blocks of 16 or more along its last axis",
                    to_string(node.type(kTable))));
  }
  const int64_t row_bytes = shape.back(), columns = row_bytes * (8 / bits),
                blocks = (columns + block - 1) / block, zero_bytes = (blocks + 8 / bits - 1) / (8 / bits);
  shape.back() = columns;
  const int64_t rows = elements_of(shape) / columns;
  LATHE_TRY(const std::vector<double> bytes, node.constant_numbers(kTable));
  LATHE_TRY(const std::vector<double> scales, node.constant_reals(kScales));
  std::vector<double> zeros;
  if (node.has_input(kZeros)) {
    LATHE_TRY(zeros, node.constant_numbers(kZeros));
  }
  if (static_cast<int64_t>(scales.size()) != rows * blocks ||
      (!zeros.empty() && static_cast<int64_t>(zeros.size()) != rows * zero_bytes)) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("its scales {} or zero points are not those of {} rows of {} blocks",
                            to_string(node.shape(kScales)), rows, blocks));
  }
  const int64_t middle = int64_t{1} << (bits - 1);
  std::vector<double> table;
  table.reserve(static_cast<size_t>(rows * columns));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t own = column / block;
      const int64_t zero = zeros.empty() ? middle : packed_number(zeros, row * zero_bytes, own, bits);
      const int64_t number = packed_number(bytes, row * row_bytes, column, bits) - zero;
      table.push_back(static_cast<double>(number) * scales[static_cast<size_t>(row * blocks + own)]);
    }
  }
  NodeSteps steps(node.input_count());
  const size_t reals = steps.constant(DType::f32, shape, table);
  steps.give(steps.gather(reals, axis, kIndices));
  return steps.outputs();
}

}  // namespace lathe
