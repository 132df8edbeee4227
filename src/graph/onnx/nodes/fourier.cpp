#include "graph/onnx/nodes/fourier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "graph/onnx/nodes/node_steps.h"

namespace lathe {
namespace {

// Lengths up to this one, and those that have no factor up to it, are transformed by one matrix.
constexpr int64_t kMostOfOneMatrix = 64;
constexpr int64_t kMostElements = int64_t{1} << 26;  // of a matrix

struct Transform {
  int64_t rows = 1;  // how many are transformed, each of so many numbers
  int64_t places = 1;
  int64_t parts = 1;  // of a number: 1 of a real one, 2 of a complex one
  int64_t results = 1;
  bool inverse = false;
};

double angle(int64_t numerator, int64_t denominator) {
  return 2 * std::numbers::pi * static_cast<double>(numerator % denominator) /
         static_cast<double>(denominator);
}

int64_t largest_factor(int64_t places) {
  for (int64_t factor = std::min(kMostOfOneMatrix, places); factor > 1; --factor)
    if (places % factor == 0) return factor;
  return 1;
}

class FourierSteps : public NodeSteps {
 public:
  using NodeSteps::NodeSteps;

  // Of x [rows, places, parts] the first results [rows, results, 2], without the inverse's factor.
  Result<size_t> transformed(size_t x, const Transform& op) {
    const int64_t factor = largest_factor(op.places);
    if (op.places <= kMostOfOneMatrix || factor == 1) return by_matrix(x, op);
    LATHE_TRY(const size_t all, by_factors(x, op, factor));
    return op.results == op.places ? all : part(all, {op.rows, op.places, 2}, 1, 0, op.results);
  }

 private:
  // The matrix of [places x parts, results x 2].
  Result<size_t> by_matrix(size_t x, const Transform& op) {
    if (op.places * op.parts > kMostElements / (op.results * 2)) {
      return fail(ErrorKind::unsupported,
                  fmt::format("its length {} has no factor that Lathe supports", op.places));
    }
    std::vector<double> matrix;
    matrix.reserve(static_cast<size_t>(op.places * op.parts * op.results * 2));
    for (int64_t place = 0; place < op.places; ++place) {
      for (int64_t part = 0; part < op.parts; ++part) {
        for (int64_t k = 0; k < op.results; ++k) {
          const double turn = angle(place * k, op.places) * (op.inverse ? 1 : -1);
          matrix.push_back(part == 0 ? std::cos(turn) : -std::sin(turn));
          matrix.push_back(part == 0 ? std::sin(turn) : std::cos(turn));
        }
      }
    }
    const size_t constant_matrix = constant(DType::f32, {op.places * op.parts, op.results * 2}, matrix);
    const size_t product = matmul(reshape(x, {op.rows, op.places * op.parts}), constant_matrix);
    return reshape(product, {op.rows, op.results, 2});
  }

  // Of n1 * n2 places: with place j1 n2 + j2 and result k1 + n1 k2, transforms over j1, then turned by
  // k1 j2 / n of a circle, then over j2.
  Result<size_t> by_factors(size_t x, const Transform& op, int64_t n1) {
    const int64_t n2 = op.places / n1;
    const size_t apart = reshape(x, {op.rows, n1, n2, op.parts});
    const size_t columns = reshape(transpose(apart, {0, 2, 1, 3}), {op.rows * n2, n1, op.parts});
    LATHE_TRY(const size_t inner, transformed(columns, {op.rows * n2, n1, op.parts, n1, op.inverse}));
    const size_t turned = turned_by_places(reshape(inner, {op.rows, n2, n1, 2}), op, n1);
    const size_t lines = reshape(transpose(turned, {0, 2, 1, 3}), {op.rows * n1, n2, 2});
    LATHE_TRY(const size_t outer, transformed(lines, {op.rows * n1, n2, 2, n2, op.inverse}));
    const size_t results = transpose(reshape(outer, {op.rows, n1, n2, 2}), {0, 2, 1, 3});
    return reshape(results, {op.rows, op.places, 2});
  }

  // Of [rows, n2, n1, 2].
  size_t turned_by_places(size_t x, const Transform& op, int64_t n1) {
    const int64_t n2 = op.places / n1;
    std::vector<double> cosines, sines;
    for (int64_t place = 0; place < n2; ++place) {
      for (int64_t k = 0; k < n1; ++k) {
        const double turn = angle(place * k, op.places) * (op.inverse ? 1 : -1);
        cosines.push_back(std::cos(turn));
        sines.push_back(std::sin(turn));
      }
    }
    const Shape shape{op.rows, n2, n1, 2};
    const size_t cosine = constant(DType::f32, {n2, n1, 1}, cosines),
                 sine = constant(DType::f32, {n2, n1, 1}, sines);
    const size_t real_part = part(x, shape, 3, 0, 1), imaginary = part(x, shape, 3, 1, 1);
    return concat(3, {minus(times(real_part, cosine), times(imaginary, sine)),
                      plus(times(real_part, sine), times(imaginary, cosine))});
  }
};

// Real or complex numbers along one axis.
struct Signal {
  Shape shape;
  size_t axis = 0;
  int64_t length = 1;
  bool inverse = false;
  bool onesided = false;
};

Status check_signal(const Signal& signal) {
  const int64_t parts = signal.shape.back();
  if (signal.length > kMostElements) {
    return fail(ErrorKind::unsupported,
                fmt::format("its length is {}, and Lathe supports at most {}", signal.length, kMostElements));
  }
  if (signal.length < 1 || (parts != 1 && parts != 2) || signal.axis + 1 == signal.shape.size()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("its operand {} does not hold real or complex numbers along axis {} to be "
                            "transformed in lengths of {}",
                            to_string(signal.shape), signal.axis, signal.length));
  }
  if (!signal.onesided || parts == (signal.inverse ? 2 : 1)) return {};
  return fail(ErrorKind::invalid_argument,
              fmt::format("attribute 'onesided' is set, and its operand {} holds {} numbers",
                          to_string(signal.shape), parts == 1 ? "real" : "complex"));
}

// As many places as are transformed, cut off or filled with zeros: x [rows, places, parts]. Of the half of a
// real signal's transform the other half is its mirror.
size_t fitted(FourierSteps& steps, size_t x, int64_t rows, const Signal& signal) {
  const int64_t parts = signal.shape.back(), given = signal.shape[signal.axis];
  const int64_t wanted = signal.inverse && signal.onesided ? signal.length / 2 + 1 : signal.length;
  if (given > wanted) x = steps.part(x, {rows, given, parts}, 1, 0, wanted);
  if (given < wanted) x = steps.pad(x, {0, 0, 0}, {0, wanted - given, 0});
  return x;
}

// What real numbers the half of their transform [rows, n / 2 + 1, 2] comes from: a sum of cosines and sines,
// in which all but the first number, and the last one of an even length, stand for their mirror too.
Result<size_t> real_inverse(FourierSteps& steps, size_t x, int64_t rows, int64_t n) {
  const int64_t half = n / 2 + 1;
  Shape places;
  std::vector<double> signs;
  for (int64_t k = 0; k < n; ++k) {
    const bool is_mirrored = k >= half;
    const bool is_real = k == 0 || 2 * k == n;
    places.push_back(is_mirrored ? n - k : k);
    signs.push_back(1);
    signs.push_back(is_real ? 0 : is_mirrored ? -1 : 1);
  }
  const size_t whole_spectrum = steps.gather(x, 1, steps.integers({n}, places));
  const size_t mirrored = steps.times(whole_spectrum, steps.constant(DType::f32, {n, 2}, signs));
  LATHE_TRY(const size_t result, steps.transformed(mirrored, {rows, n, 2, n, true}));
  return steps.part(result, {rows, n, 2}, 2, 0, 1);
}

// The steps of the transform of x, which has the signal's shape; the axis lies where it lay.
Result<size_t> add_transform(FourierSteps& steps, size_t x, const Signal& signal) {
  const size_t rank = signal.shape.size();
  std::vector<size_t> order, back(rank);
  for (size_t d = 0; d + 1 < rank; ++d)
    if (d != signal.axis) order.push_back(d);
  order.insert(order.end(), {signal.axis, rank - 1});
  for (size_t d = 0; d < rank; ++d) back[order[d]] = d;
  Shape shape;
  for (const size_t d : order) shape.push_back(signal.shape[d]);
  const int64_t rows = elements_between(shape, 0, rank - 2), n = signal.length;
  size_t lines = steps.reshape(steps.transpose(x, order), {rows, shape[rank - 2], shape[rank - 1]});
  lines = fitted(steps, lines, rows, signal);
  const bool gives_reals = signal.inverse && signal.onesided;
  Transform op{rows, n, signal.shape.back(), signal.onesided ? n / 2 + 1 : n, signal.inverse};
  if (gives_reals) {
    LATHE_TRY(lines, real_inverse(steps, lines, rows, n));
    op.results = n;
  } else {
    LATHE_TRY(lines, steps.transformed(lines, op));
  }
  if (signal.inverse) lines = steps.times(lines, steps.real(1 / static_cast<double>(n)));
  shape[rank - 2] = op.results;
  shape[rank - 1] = gives_reals ? 1 : 2;
  return steps.transpose(steps.reshape(lines, shape), back);
}

// The one integer of a constant operand.
Result<int64_t> constant_integer(const OnnxNode& node, size_t input, int64_t otherwise) {
  if (!node.has_input(input)) return otherwise;
  LATHE_TRY(const Shape values, node.constant_integers(input));
  if (values.size() == 1) return values.front();
  return fail(ErrorKind::invalid_argument,
              fmt::format("input {} has {} values, not one", input, values.size()));
}

}  // namespace

ImportedOutputs import_dft(OnnxNode& node) {
  constexpr size_t kLength = 1, kAxis = 2;
  Signal signal;
  signal.shape = node.shape(0);
  const size_t rank = signal.shape.size();
  LATHE_TRY_STATUS(require_f32(std::vector<TensorType>{node.type(0)}));
  if (rank < 2) return fail(ErrorKind::invalid_argument, "its operand has fewer than two axes");
  const bool is_old = node.operator_set() < 20;
  LATHE_TRY(const int64_t axis, constant_integer(node, kAxis, is_old ? node.integer("axis", 1) : -2));
  LATHE_TRY(signal.axis, axis_of(axis, rank));
  signal.inverse = node.integer("inverse", 0) != 0;
  signal.onesided = node.integer("onesided", 0) != 0;
  const int64_t places = signal.shape[signal.axis];
  LATHE_TRY(signal.length,
            constant_integer(node, kLength, signal.inverse && signal.onesided ? 2 * (places - 1) : places));
  LATHE_TRY_STATUS(check_signal(signal));
  FourierSteps steps(1);  // length and axis are no operands
  LATHE_TRY(const size_t result, add_transform(steps, 0, signal));
  steps.give(result);
  return steps.outputs();
}

ImportedOutputs import_stft(OnnxNode& node) {
  constexpr size_t kStep = 1, kWindow = 2, kFrame = 3;
  Shape given = node.shape(0);
  if (given.size() == 2) given.push_back(1);
  LATHE_TRY_STATUS(require_f32(std::vector<TensorType>{node.type(0)}));
  if (given.size() != 3) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("its signal {} is not [N, places, 1 or 2]", to_string(node.shape(0))));
  }
  LATHE_TRY(const int64_t step, constant_integer(node, kStep, 0));
  const int64_t of_window = node.has_input(kWindow) ? elements_of(node.shape(kWindow)) : given[1];
  LATHE_TRY(const int64_t length, constant_integer(node, kFrame, of_window));
  if (step < 1 || length < 1 || length > given[1] || (node.has_input(kWindow) && of_window != length)) {
    return fail(
        ErrorKind::invalid_argument,
        fmt::format("its frames of {} by steps of {}, with a window of {}, are not those of a signal of {}",
                    length, step, of_window, given[1]));
  }
  const int64_t frames = (given[1] - length) / step + 1;
  if (frames > kMostElements / length)
    return fail(ErrorKind::unsupported, fmt::format("its frames have more than {} places", kMostElements));
  Signal signal{{given[0], frames, length, given[2]}, 2, length, false, node.integer("onesided", 1) != 0};
  LATHE_TRY_STATUS(check_signal(signal));
  Shape places;
  for (int64_t frame = 0; frame < frames; ++frame)
    for (int64_t place = 0; place < length; ++place) places.push_back(frame * step + place);
  FourierSteps steps(std::min<size_t>(node.input_count(), kWindow + 1));
  size_t framed = steps.gather(steps.reshape(0, given), 1, steps.integers({frames, length}, places));
  if (node.has_input(kWindow)) framed = steps.times(framed, steps.reshape(kWindow, {length, 1}));
  LATHE_TRY(const size_t result, add_transform(steps, framed, signal));
  steps.give(result);
  return steps.outputs();
}

}  // namespace lathe
