// TopK of long axes beside a plain sort; short ones are in top_places_test.cpp.
#include "graph/onnx/nodes/top_k.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/rng.h"
#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");
constexpr int64_t kPlaces = 2081;  // no block divides it
constexpr int kFloat = onnx::TensorProto_DataType_FLOAT;

OnnxModel top_model(const Shape& shape, int64_t count, int64_t axis, bool largest, int type = kFloat) {
  OnnxModel model;
  model.operator_set(11).input("x", shape, type).integers("k", {count});
  model.node("n", "TopK", {"x", "k"}, "v").gives("i");
  model.attribute("axis", axis).attribute("largest", largest ? 1 : 0);
  return std::move(model.output("i").output("v"));
}

// The places of the first ones of a stable sort.
Numbers sorted_places(const Numbers& line, int64_t count, bool largest) {
  std::vector<size_t> places(line.size());
  std::iota(places.begin(), places.end(), size_t{0});
  const auto is_less = [&](size_t a, size_t b) {
    return std::isnan(line[b]) ? !std::isnan(line[a]) : line[a] < line[b];
  };
  std::ranges::stable_sort(places,
                           [&](size_t a, size_t b) { return largest ? is_less(b, a) : is_less(a, b); });
  return {places.begin(), places.begin() + count};
}

// Of one line, all counts and either end.
void expect_sorted(const Numbers& line, int type = kFloat) {
  const auto extent = static_cast<int64_t>(line.size());
  for (const int64_t count : {int64_t{1}, int64_t{40}, extent / 4}) {
    for (const bool largest : {true, false}) {
      const Values places = run_network(top_model({extent}, count, 0, largest, type), {{{extent}, line}});
      EXPECT_EQ(places.data, sorted_places(line, count, largest)) << count << " of type " << type;
    }
  }
}

Numbers drawn(size_t count, double scale) {
  Rng rng(5);
  Numbers numbers(count);
  for (double& each : numbers) each = std::floor((rng.uniform() * 2 - 1) * scale);
  return numbers;
}

TEST(OnnxTopK, LongAxesAreInTheOrderOfASort) {
  expect_sorted(drawn(kPlaces, 1e6));
  expect_sorted(drawn(kPlaces, 4));
  expect_sorted(Numbers(kPlaces, 2.5));
}

TEST(OnnxTopK, NanInfinitiesZerosAndDenormalsOfLongAxes) {
  const Numbers some{0, -0.0, 1, kNan, -kInfinity, 1e-42, -1e-42, kInfinity, -1, -3e38};
  Numbers line(kPlaces);
  Rng rng(3);
  for (double& each : line) each = static_cast<float>(some[rng.below(some.size())]);
  expect_sorted(line);
  expect_sorted(Numbers(kPlaces, kNan));
}

TEST(OnnxTopK, AnyTypeOfNumbers) {
  const Numbers small = drawn(kPlaces, 120), large = drawn(kPlaces, 2e9);
  Numbers positive = large;
  for (double& each : positive) each = std::abs(each) * 2;
  Numbers bytes = small;
  for (double& each : bytes) each += 120;
  expect_sorted(small, onnx::TensorProto_DataType_INT8);
  expect_sorted(bytes, onnx::TensorProto_DataType_UINT8);
  expect_sorted(drawn(kPlaces, 32000), onnx::TensorProto_DataType_INT16);
  expect_sorted(large, onnx::TensorProto_DataType_INT32);
  expect_sorted(large, onnx::TensorProto_DataType_INT64);
  expect_sorted(positive, onnx::TensorProto_DataType_UINT32);
  expect_sorted(positive, onnx::TensorProto_DataType_UINT64);
  expect_sorted(small, onnx::TensorProto_DataType_DOUBLE);
}

TEST(OnnxTopK, AlongAnyLongAxis) {
  const Shape shape{2, 2100, 3};
  const Values x{shape, drawn(2 * 2100 * 3, 1000)};
  for (const int64_t count : {20, 100}) {
    const OnnxModel model = top_model(shape, count, 1, true);
    const Values places = run_network(model, {x}), values = run_network(model, {x}, 1);
    EXPECT_EQ(places.shape, (Shape{2, count, 3}));
    for (int64_t line = 0; line < 6; ++line) {
      const int64_t first = line / 3 * 2100 * 3 + line % 3;
      Numbers all;
      for (int64_t i = 0; i < 2100; ++i) all.push_back(x.data[static_cast<size_t>(first + i * 3)]);
      const Numbers expected = sorted_places(all, count, true);
      for (int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<size_t>(line / 3 * count * 3 + i * 3 + line % 3);
        const double place = expected[static_cast<size_t>(i)];
        EXPECT_EQ(places.data[at], place);
        EXPECT_EQ(values.data[at], all[static_cast<size_t>(place)]);
      }
    }
  }
}

TEST(OnnxTopK, MachineCodeGivesTheSame) {
  Numbers line = drawn(kPlaces, 1e6);
  line[7] = kNan;
  for (const int64_t count : {30, 300})
    EXPECT_EQ(run_compiled(top_model({kPlaces}, count, 0, false), {{{kPlaces}, line}}),
              sorted_places(line, count, false));
}

// The steps of a descent differ in a constant alone: 32 for the bits of an element, 12 for those of a place.
TEST(OnnxTopK, AllStepsAreOneTask) {
  const Graph graph = import_onnx_bytes(top_model({kPlaces}, 300, 0, true).bytes(), "m").value();
  const auto is_step = [](const GraphNode& node) { return std::holds_alternative<TopThresholdOp>(node.op); };
  EXPECT_EQ(std::ranges::count_if(graph.nodes, is_step), 44);
  EXPECT_LT(partition(graph).value().tasks.size(), 12U);
}

TEST(OnnxTopK, TooManyOfALongAxisAreRefused) {
  EXPECT_EQ(
      import_error(top_model({300000}, 70000, 0, true)),
      "node 'n' (TopK): it asks for 70000 of the 300000 places of axis 0, and Lathe supports 65536 of so "
      "many");
  EXPECT_EQ(
      import_error(top_model({100000}, 70000, 0, true)),
      "node 'n' (TopK): it asks for 70000 of the 100000 places of axis 0, and Lathe supports 65536 of so "
      "many");
  EXPECT_EQ(import_error(top_model({70000}, 1, 0, true)), "imported");
}

}  // namespace
}  // namespace lathe
