#include "graph/onnx/nodes/top_k.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "graph/onnx/nodes/node_steps.h"

namespace lathe {
namespace {

// TopPlacesOp compares each of n elements with each. Steps that pass over the axis once for each bit of an
// element, and compare the wanted elements alone with each other, are faster from so many elements on of
// which at most half are wanted.
constexpr int64_t kLongAxis = 128;
// Blocks of an axis of so many times the wanted elements are chosen first, by their largest ones: those of
// the wanted blocks are all that the steps pass over.
constexpr int64_t kBlocksFrom = 64;

bool is_long(const TopPlacesOp& op, const TensorType& type) {
  if (!is_number(type.dtype) || op.axis >= type.shape.size()) return false;
  const int64_t extent = type.shape[op.axis];
  return extent >= kLongAxis && op.count >= 1 &&
         (op.count <= extent / 2 || extent > TopPlacesOp::kMostElements);
}

// The places of the largest elements along an axis by keys: integers that order as the elements do.
class TopSteps : public NodeSteps {
 public:
  TopSteps(const TopPlacesOp& op, const TensorType& type)
      : NodeSteps(1),
        op_(op),
        type_(type),
        bits_(8 * static_cast<int>(bytes_of(type.dtype))),
        key_type_(bits_ == 64 ? DType::i64 : DType::i32),
        least_(-std::ldexp(1.0, bits_ - 1)) {}

  // In the order of the elements; equal ones in the order in which they stand.
  size_t run() {
    keys_ = keys_of(type_.dtype);
    if (!op_.largest) keys_ = map(MapFunction::bit_not, keys_);
    const int64_t extent = type_.shape[op_.axis];
    const size_t places = extent >= kBlocksFrom * op_.count ? places_in_blocks() : places_of(keys_, extent);
    const size_t order = add(TopPlacesOp{op_.axis, op_.count, true}, {gather_elements(keys_, places)});
    return gather_elements(places, order);
  }

  size_t gather_elements(size_t x, size_t places) {
    GatherElementsOp gather;
    gather.axis = op_.axis;
    return add(gather, {x, places});
  }

 private:
  size_t key(double value) { return constant(key_type_, {}, {value}); }
  Shape with_extents(const Shape& extents) const {
    Shape shape = type_.shape;
    const auto at = shape.begin() + static_cast<std::ptrdiff_t>(op_.axis);
    shape.insert(shape.erase(at), extents.begin(), extents.end());
    return shape;
  }

  size_t keys_of(DType dtype) {
    if (dtype == key_type_) return 0;
    if (!is_float(dtype)) {
      const size_t whole = bits_ < 32 ? cast(key_type_, 0) : add(BitCastOp{dtype, key_type_}, {0});
      const bool is_signed = dtype == DType::i8 || dtype == DType::i16;
      return is_signed ? whole : zip(ZipFunction::add, whole, key(least_));
    }
    // Both zeros are one; negative numbers have the larger bits the less they are; a NaN is above infinity.
    const size_t zero = constant(dtype, {}, {0});
    const size_t x = where(zip(ZipFunction::equal, 0, zero), zero, 0);
    const size_t bits = add(BitCastOp{dtype, key_type_}, {x});
    const size_t turned = zip(ZipFunction::bit_xor, map(MapFunction::bit_not, bits), key(least_));
    const size_t ordered = where(zip(ZipFunction::less, bits, key(0)), turned, bits);
    const int fraction_bits = bits_ == 64 ? 52 : 23;
    return where(map(MapFunction::is_nan, 0), key(-least_ - std::ldexp(1.0, fraction_bits - 1)), ordered);
  }

  // The smallest of the largest keys along the axis: at least `least`, from which it differs in so many of
  // the lowest bits, and in the sign where `is_signed`.
  size_t threshold_of(size_t keys, DType dtype, double least, int bits, bool is_signed) {
    const auto step = [&](size_t threshold, double bit) {
      return add(TopThresholdOp{op_.axis, op_.count}, {keys, threshold, constant(dtype, {}, {bit})});
    };
    size_t threshold = expand(constant(dtype, {}, {least}), with_extents({1}));
    if (is_signed) threshold = step(threshold, least);
    for (int i = bits; i-- > 0;) threshold = step(threshold, std::ldexp(1.0, i));
    return threshold;
  }

  // Of the largest keys, ascending: those above the threshold, and of those that equal it the first ones.
  // These are found by a second threshold, over keys that are larger the earlier a place stands.
  size_t places_of(size_t keys, int64_t extent) {
    const size_t threshold = threshold_of(keys, key_type_, least_, bits_ - 1, true);
    Shape line(type_.shape.size(), 1);
    line[op_.axis] = extent;
    const auto number = [&](double value) { return constant(DType::i32, {}, {value}); };
    std::vector<double> places(static_cast<size_t>(extent));
    for (size_t i = 0; i < places.size(); ++i) places[i] = -1 - static_cast<double>(i);
    const size_t is_equal = zip(ZipFunction::equal, keys, threshold);
    const size_t equal = where(is_equal, constant(DType::i32, line, places), number(-std::ldexp(1.0, 31)));
    const size_t earliest = where(zip(ZipFunction::greater, keys, threshold), number(0), equal);
    const auto bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(extent - 1)));
    const size_t first = threshold_of(earliest, DType::i32, -std::ldexp(1.0, bits), bits, false);
    return add(SetPlacesOp{op_.axis, op_.count}, {zip(ZipFunction::greater_equal, earliest, first)});
  }

  // As many blocks as there are elements in those of the wanted ones; of a size by which the axis divides, if
  // one is near, as nothing need be copied to fill up the last block then.
  int64_t block_of(int64_t extent) const {
    const auto even = static_cast<int64_t>(std::sqrt(extent / op_.count));
    for (int64_t block = even; block < 2 * even; ++block)
      if (extent % block == 0) return block;
    return even;
  }

  // Puts as many of the least keys behind the others: zeros, whose signs are turned over.
  void fill_up(int64_t count) {
    const auto turned = [&](size_t keys) { return zip(ZipFunction::bit_xor, keys, key(least_)); };
    Shape after(type_.shape.size(), 0);
    after[op_.axis] = count;
    keys_ = turned(pad(turned(keys_), Shape(after.size(), 0), after));
  }

  // No other block has one of the largest keys: before each key of it stand the largest ones of as many
  // blocks as are wanted.
  size_t places_in_blocks() {
    const int64_t extent = type_.shape[op_.axis];
    const int64_t block = block_of(extent);
    const int64_t blocks = (extent + block - 1) / block;
    if (blocks * block > extent) fill_up(blocks * block - extent);
    const size_t cut = reshape(keys_, with_extents({blocks, block}));
    const size_t largest = reduce(ReduceFunction::max, cut, {op_.axis + 1}, false);
    const size_t chosen = reshape(places_of(largest, blocks), with_extents({op_.count, 1}));
    Shape line(type_.shape.size() + 1, 1);
    line[op_.axis + 1] = block;
    const size_t all = zip(ZipFunction::add, times(chosen, whole(block)), counted(line));
    const size_t places = reshape(all, with_extents({op_.count * block}));
    return gather_elements(places, places_of(gather_elements(keys_, places), op_.count * block));
  }

  TopPlacesOp op_;
  TensorType type_;
  int bits_;  // of an element, and of a key, which is a signed integer
  DType key_type_;
  double least_;  // of the keys
  size_t keys_ = 0;
};

}  // namespace

ImportedOutputs import_top_k(OnnxNode& node) {
  LATHE_TRY(const TopPlacesOp op, import_top_places(node));
  const bool by_keys = is_long(op, node.type(0));
  if (by_keys && op.count > TopPlacesOp::kMostElements)
    return fail(ErrorKind::unsupported,
                fmt::format("it asks for {} of the {} places of axis {}, and Lathe "
                            "supports {} of so many",
                            op.count, node.shape(0)[op.axis], op.axis, TopPlacesOp::kMostElements));
  TopSteps steps(op, node.type(0));  // the count is no operand
  const size_t places = by_keys ? steps.run() : steps.add(op, {0});
  steps.give(steps.gather_elements(0, places));
  steps.give(places);
  return steps.outputs();
}

}  // namespace lathe
