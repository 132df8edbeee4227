#include "graph/onnx/nodes/known.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "graph/onnx/proto.h"

namespace lathe {

namespace {

constexpr int64_t kMostElements = int64_t{1} << 28;

// The values of a constant of f32, of f64 or of integers that a double holds.
Result<std::vector<double>> exact_numbers(const OnnxNode& node, size_t input) {
  if (is_float(node.type(input).dtype)) return node.constant_reals(input);
  LATHE_TRY(const Shape integers, node.constant_integers(input));
  return std::vector<double>(integers.begin(), integers.end());
}

// Operands that must be of one type.
Status require_one_type(const OnnxNode& node) {
  for (size_t i = 1; i < node.input_count(); ++i) {
    if (node.type(i).dtype == node.type(0).dtype) continue;
    return fail(ErrorKind::invalid_argument,
                fmt::format("input {} is {} and input 0 {}, and must be of one type", i,
                            to_string(node.type(i)), to_string(node.type(0))));
  }
  return {};
}

// The sum of shares[k] * cos(k times what part of a period a place has behind it).
Result<OnnxConstant> window(OnnxNode& node, std::initializer_list<double> shares) {
  const bool is_periodic = node.integer("periodic", 1) != 0;
  LATHE_TRY(const DType dtype,
            dtype_of_onnx(node.integer("output_datatype", onnx::TensorProto_DataType_FLOAT),
                          "attribute 'output_datatype'"));
  LATHE_TRY(const Shape sizes, node.constant_integers(0));
  if (sizes.size() != 1 || sizes[0] < 1 || sizes[0] > kMostElements)
    return fail(ErrorKind::unsupported, "its size is not one number that Lathe supports");
  const int64_t period = is_periodic ? sizes[0] : std::max<int64_t>(1, sizes[0] - 1);
  std::vector<double> values;
  for (int64_t i = 0; i < sizes[0]; ++i) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(period);
    double sum = 0, times = 0;
    for (const double share : shares) sum += share * std::cos(turn * times++);
    values.push_back(sum);
  }
  return OnnxConstant{{dtype, sizes}, to_bytes(dtype, values)};
}

}  // namespace

Result<OnnxConstant> import_hann_window(OnnxNode& node) { return window(node, {0.5, -0.5}); }

// The standard's 25/46, the share at which the first side lobe is gone.
Result<OnnxConstant> import_hamming_window(OnnxNode& node) { return window(node, {25.0 / 46, -21.0 / 46}); }

Result<OnnxConstant> import_blackman_window(OnnxNode& node) { return window(node, {0.42, -0.5, 0.08}); }

// Triangles that overlap, at places that lie evenly on the mel scale, over the frequencies of a transform.
Result<OnnxConstant> import_mel_weight_matrix(OnnxNode& node) {
  LATHE_TRY(const DType dtype,
            dtype_of_onnx(node.integer("output_datatype", onnx::TensorProto_DataType_FLOAT),
                          "attribute 'output_datatype'"));
  std::vector<double> numbers;
  for (size_t i = 0; i < 5; ++i) {
    LATHE_TRY(const std::vector<double> values, node.constant_numbers(i));
    if (values.size() != 1)
      return fail(ErrorKind::invalid_argument,
                  fmt::format("input {} has {} values, not one", i, values.size()));
    numbers.push_back(values.front());
  }
  const double length = numbers[1], rate = numbers[2];
  const auto mel_of = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mel_of(numbers[3]), high = mel_of(numbers[4]);
  const bool fits = numbers[0] >= 1 && length >= 1 && rate >= 1 && low >= 0 && low <= high &&
                    numbers[0] * length <= static_cast<double>(kMostElements) && 2 * numbers[4] <= rate;
  if (!fits) return fail(ErrorKind::invalid_argument, "its bands do not lie within half of the sample rate");
  const auto bands = static_cast<int64_t>(numbers[0]), bins = static_cast<int64_t>(length) / 2 + 1;
  std::vector<int64_t> bounds;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double mel = low + (high - low) / static_cast<double>(bands + 2) * static_cast<double>(i);
    const double hertz = 700 * (std::pow(10, mel / 2595) - 1);
    bounds.push_back(static_cast<int64_t>(std::floor((length + 1) * hertz / rate)));
  }
  std::vector<double> weights(static_cast<size_t>(bins * bands), 0);
  for (int64_t band = 0; band < bands; ++band) {
    const auto at = static_cast<size_t>(band);
    const int64_t first = bounds[at], middle = bounds[at + 1], last = bounds[at + 2];
    const auto set = [&](int64_t bin, int64_t part, int64_t whole) {
      if (bin >= bins) return;  // the one behind the last of an odd length
      weights[static_cast<size_t>(bin * bands + band)] =
          static_cast<double>(part) / static_cast<double>(whole);
    };
    if (first == middle) set(middle, 1, 1);
    for (int64_t bin = first; bin <= middle && first < middle; ++bin) set(bin, bin - first, middle - first);
    for (int64_t bin = middle; bin < last; ++bin) set(bin, last - bin, last - middle);
  }
  return OnnxConstant{{dtype, {bins, bands}}, to_bytes(dtype, weights)};
}

Result<OnnxConstant> import_eye_like(OnnxNode& node) {
  const Shape& shape = node.shape(0);
  DType dtype = node.declared(0);
  if (node.has("dtype")) {
    LATHE_TRY(dtype, dtype_of_onnx(node.integer("dtype", 0), "attribute 'dtype'"));
  }
  const int64_t diagonal = node.integer("k", 0);
  if (shape.size() != 2 || elements_of(shape) > kMostElements) {
    return fail(ErrorKind::unsupported,
                "its operand " + to_string(shape) + " is no matrix, or one that is too large");
  }
  std::vector<double> values(static_cast<size_t>(elements_of(shape)), 0);
  for (int64_t row = 0; row < shape[0]; ++row) {
    const int64_t column = row + diagonal;
    if (column >= 0 && column < shape[1]) values[static_cast<size_t>(row * shape[1] + column)] = 1;
  }
  return OnnxConstant{{dtype, shape}, to_bytes(dtype, values)};
}

Result<OnnxConstant> import_shape(OnnxNode& node) {
  const Shape& shape = node.shape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  const auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t start = place(node.integer("start", 0));
  const int64_t end = std::max(start, place(node.integer("end", rank)));
  const std::vector<double> extents(shape.begin() + start, shape.begin() + end);
  const TensorType type{DType::i64, {end - start}};
  return OnnxConstant{type, to_bytes(DType::i64, extents)};
}

Result<OnnxConstant> import_size(OnnxNode& node) {
  const std::vector<double> elements{static_cast<double>(elements_of(node.shape(0)))};
  return OnnxConstant{{DType::i64, {}}, to_bytes(DType::i64, elements)};
}

Result<OnnxConstant> import_constant_of_shape(OnnxNode& node) {
  LATHE_TRY(const Shape shape, node.constant_shape(0));
  const bool has_elements = std::ranges::find(shape, 0) == shape.end();
  if (has_elements) LATHE_TRY_STATUS(check_shape(shape, "its result"));
  if (elements_of(shape) > kMostElements)
    return fail(ErrorKind::unsupported, "its result " + to_string(shape) + " is too large");
  OnnxConstant element{{DType::f32, {1}}, to_bytes(DType::f32, std::vector<double>{0})};
  if (const onnx::TensorProto* value = node.tensor("value")) {
    onnx::TensorProto copy = *value;
    LATHE_TRY(element, take_constant(copy, "attribute 'value'", DataFolders{}));
  }
  if (elements_of(element.type.shape) != 1)
    return fail(ErrorKind::invalid_argument, "attribute 'value' is not one element");
  const size_t bytes = element.data->size();
  auto data = std::make_shared<Bytes>(static_cast<size_t>(elements_of(shape)) * bytes);
  for (size_t i = 0; i < data->size(); i += bytes) std::copy_n(element.data->data(), bytes, data->data() + i);
  return OnnxConstant{{element.type.dtype, shape}, std::move(data)};
}

Result<OnnxConstant> import_range(OnnxNode& node) {
  LATHE_TRY_STATUS(require_one_type(node));
  std::vector<double> bounds;
  for (size_t i = 0; i < 3; ++i) {
    LATHE_TRY(const std::vector<double> values, exact_numbers(node, i));
    if (values.size() != 1)
      return fail(ErrorKind::invalid_argument,
                  fmt::format("input {} has {} values, not one", i, values.size()));
    bounds.push_back(values[0]);
  }
  const double start = bounds[0], limit = bounds[1], step = bounds[2];
  const double places = std::ceil((limit - start) / step);
  if (step == 0 || !(places <= static_cast<double>(kMostElements))) {
    return fail(ErrorKind::unsupported,
                fmt::format("{} to {} by {} is no range that Lathe supports", start, limit, step));
  }
  const TensorType type{node.declared(0), {static_cast<int64_t>(std::max(0.0, places))}};
  std::vector<double> values;
  for (int64_t i = 0; i < type.shape[0]; ++i) values.push_back(start + static_cast<double>(i) * step);
  return OnnxConstant{type, to_bytes(type.dtype, values)};
}

}  // namespace lathe
