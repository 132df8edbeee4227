// Expressions for many points at once: each lane is what the expression is there by itself.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "expr/parse.h"
#include "loop/evaluate.h"

namespace lathe {
namespace {

// The output of O[i:n] = body, where A[i] = 0, 1 .. and, if read, s is 5, 0, 2, 1 over and over.
std::vector<double> over_lanes(int64_t n, const std::string& body, const std::string& declared = "") {
  const Result<Dag> dag = parse_dag(declared + "O[i:" + std::to_string(n) + "] = " + body);
  EXPECT_TRUE(dag) << dag.error().to_string();
  if (!dag) return {};
  constexpr double kPlaces[] = {5, 0, 2, 1};
  std::vector<HostTensor> inputs;
  for (const Tensor& input : dag->inputs) {
    inputs.push_back(zeros_like(input));
    for (size_t i = 0; i < inputs.back().values.size(); ++i)
      inputs.back().values[i] = input->name == "s" ? kPlaces[i % 4] : static_cast<double>(i);
  }
  const Result<std::vector<HostTensor>> outputs = evaluate(*dag, inputs);
  EXPECT_TRUE(outputs);
  return outputs ? outputs->front().values : std::vector<double>();
}

// Expects the formula at each of 1,100 places: two whole rows of lanes and a part of one.
template <class Formula>
void expect_lanes(const std::string& body, const Formula& formula, const std::string& declared = "") {
  constexpr int64_t kPlaces = 1100;
  const std::vector<double> values = over_lanes(kPlaces, body, declared);
  ASSERT_EQ(values.size(), static_cast<size_t>(kPlaces)) << body;
  for (int64_t i = 0; i < kPlaces; ++i)
    ASSERT_EQ(values[static_cast<size_t>(i)], static_cast<double>(formula(i))) << body << " at " << i;
}

int64_t place_of_lane(int64_t i) { return std::array<int64_t, 4>{5, 0, 2, 1}[static_cast<size_t>(i % 4)]; }

TEST(Lanes, IndicesStepDivideAndWrap) {
  expect_lanes("A[i]", [](int64_t i) { return i; });
  expect_lanes("A[3*i + 2]", [](int64_t i) { return 3 * i + 2; });
  expect_lanes("A[1099 - i]", [](int64_t i) { return 1099 - i; });
  expect_lanes("A[i/7]", [](int64_t i) { return i / 7; });
  expect_lanes("A[i%7 + i/100]", [](int64_t i) { return i % 7 + i / 100; });
  expect_lanes("A[(2*i + 1)/3 + (i/2)%5]", [](int64_t i) { return (2 * i + 1) / 3 + i / 2 % 5; });
  expect_lanes("A[4]", [](int64_t) { return 4; });
}

TEST(Lanes, DivisionsOfIndicesRoundDown) {
  expect_lanes("f32((i - 600)/7)", [](int64_t i) { return std::floor(static_cast<double>(i - 600) / 7); });
  expect_lanes("f32((i - 600)%7)", [](int64_t i) { return (i - 600 + 700) % 7; });
}

TEST(Lanes, IndirectIndicesAreReadLaneByLane) {
  const std::string declared = "input A[2000] input s[2000] i32 ";
  expect_lanes("A[s[i]]", place_of_lane, declared);
  expect_lanes("A[s[i]*100 + i]", [](int64_t i) { return place_of_lane(i) * 100 + i; }, declared);
  expect_lanes("A[s[2]/2]", [](int64_t) { return 1; }, declared);
  expect_lanes("A[s[s[i]]]", [](int64_t i) { return place_of_lane(place_of_lane(i)); }, declared);
}

// An index beyond the tensor gives NaN in its lane, and there alone.
TEST(Lanes, ReadsOutsideAreNaN) {
  const std::vector<double> values = over_lanes(8, "A[s[i]]", "input A[2] input s[8] i32 ");
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t place = place_of_lane(static_cast<int64_t>(i));
    EXPECT_EQ(std::isnan(values[i]), place >= 2) << i;
    EXPECT_TRUE(place >= 2 || values[i] == static_cast<double>(place)) << i;
  }
  const std::vector<double> negative = over_lanes(4, "A[s[i] - 3]", "input A[9] input s[4] i32 ");
  EXPECT_EQ(negative[0], 2);
  EXPECT_TRUE(std::isnan(negative[1]));
}

TEST(Lanes, SelectsTakeTheirSideInEachLane) {
  expect_lanes("select(i < 700, A[i], -A[i])", [](int64_t i) { return i < 700 ? i : -i; });
  expect_lanes("select(i%3 == 0, 1.0, select(i%3 == 1, 2.0, 3.0))", [](int64_t i) { return i % 3 + 1; });
  expect_lanes("select(i >= 0, A[i], 1.0 / 0.0)", [](int64_t i) { return i; });
  expect_lanes("select(i < 0, A[i], 7.0)", [](int64_t) { return 7; });
  // A side that no lane of a row takes is not even read.
  expect_lanes("select(i >= 3, A[i - 3], 0.0)", [](int64_t i) { return std::max<int64_t>(0, i - 3); });
  expect_lanes("select(i < 1000, A[2*i], 0.0)", [](int64_t i) { return i < 1000 ? 2 * i : 0; });
  expect_lanes("select(i >= 512, A[i - 512], 0.0)", [](int64_t i) { return std::max<int64_t>(0, i - 512); });
}

TEST(Lanes, ConditionsAreTruths) {
  expect_lanes("select(i < 3 && A[i] != 1.0 || !(i <= 1000), 1.0, 0.0)",
               [](int64_t i) { return (i < 3 && i != 1) || i > 1000; });
  expect_lanes("f32(i == 5)", [](int64_t i) { return i == 5; });
}

TEST(Lanes, IntegersWrapAround) {
  expect_lanes("f32(i8(i) * 3)", [](int64_t i) { return static_cast<int8_t>(static_cast<int8_t>(i) * 3); });
  expect_lanes("f32(i32(i) - 2147483647 - 600)", [](int64_t i) {
    return static_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(i - 600 - 2147483647LL)));
  });
  expect_lanes("f32(u8(i))", [](int64_t i) { return static_cast<uint8_t>(i); });
  expect_lanes("f32(abs(i8(i)))",
               [](int64_t i) { return static_cast<int8_t>(std::abs(static_cast<int8_t>(i))); });
}

TEST(Lanes, DivisionsOfValuesRoundDownAndBy0Give0) {
  const std::string declared = "input s[2000] i32 ";
  expect_lanes(
      "f32(i32(i - 600) / s[i])",
      [](int64_t i) {
        const int64_t by = place_of_lane(i);
        return by == 0 ? 0 : std::floor(static_cast<double>(i - 600) / static_cast<double>(by));
      },
      declared);
  expect_lanes(
      "f32(i32(i - 600) % s[i])",
      [](int64_t i) {
        const int64_t by = place_of_lane(i);
        return by == 0 ? i - 600 : ((i - 600) % by + by) % by;
      },
      declared);
  expect_lanes(
      "f32(max(min(i32(i), s[i] * 200), 7))",
      [](int64_t i) { return std::max<int64_t>(std::min(i, place_of_lane(i) * 200), 7); }, declared);
}

TEST(Lanes, CastsOfFloatsCutOffAndSaturate) {
  expect_lanes("f32(i8(A[i] * 0.75 - 300.0))", [](int64_t i) {
    return std::clamp(std::trunc(static_cast<double>(i) * 0.75 - 300), -128.0, 127.0);
  });
  expect_lanes("f32(f16(A[i] + 2048.0))",
               [](int64_t i) { return as_stored(DType::f16, static_cast<double>(i) + 2048); });
}

TEST(Lanes, CastsOfIntegersRound) {
  expect_lanes("f32(i + 16777216) - 16777216.0",
               [](int64_t i) { return static_cast<double>(static_cast<float>(i + 16777216)) - 16777216; });
}

TEST(Lanes, MinimumsKeepNaN) {
  const std::vector<double> values = over_lanes(4, "min(max(A[i] / A[i], 0.0), 2.0)");
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[3], 1);
}

// A chain deeper than is computed in place: from the fifth step on elements are kept.
TEST(Lanes, ChainsOfAnyDepthGiveTheSame) {
  std::string text = "T0[i:1100] = A[i] + 1.0\n";
  for (int k = 1; k < 9; ++k)
    text += "T" + std::to_string(k) + "[i:1100] = T" + std::to_string(k - 1) + "[1099 - i] + 1.0\n";
  const Dag dag = parse_dag(text).value();
  HostTensor a = zeros_like(dag.inputs[0]);
  for (size_t i = 0; i < a.values.size(); ++i) a.values[i] = static_cast<double>(i);
  const std::vector<double> values = evaluate(dag, std::vector<HostTensor>{a})->front().values;
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<double>(i) + 9);
}

}  // namespace
}  // namespace lathe
