#include "graph/operators/set_places.h"

#include <gtest/gtest.h>

#include "graph/network_runner.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

// What the operator gives by its definition. Expects its computes to give the same.
Numbers places_of(const Values& flags, const SetPlacesOp& op) {
  GraphBuilder builder("m");
  const TensorId input = *builder.input("flags", {DType::boolean, flags.shape});
  EXPECT_TRUE(builder.output(*builder.node("n", op, {input}, "y")));
  const Graph graph = builder.build();
  const Values reference = evaluate(op, std::vector<Values>{flags});
  EXPECT_EQ(run_partition(graph, partition(graph).value(), {flags})[0].data, reference.data);
  return reference.data;
}

TEST(SetPlaces, AreThoseOfTheFirstSetOnes) {
  const Values flags{{6}, {0, 1, 0, 1, 1, 0}, DType::boolean};
  EXPECT_EQ(places_of(flags, {0, 2}), (Numbers{1, 3}));
  EXPECT_EQ(places_of(flags, {0, 3}), (Numbers{1, 3, 4}));
}

// Readers look up what stands behind the places that count too.
TEST(SetPlaces, TheLastPlaceFollowsWhereFewerAreSet) {
  EXPECT_EQ(places_of({{3}, {0, 1, 0}, DType::boolean}, {0, 3}), (Numbers{1, 2, 2}));
  EXPECT_EQ(places_of({{3}, {0, 0, 0}, DType::boolean}, {0, 2}), (Numbers{2, 2}));
  EXPECT_EQ(places_of({{1}, {0}, DType::boolean}, {0, 1}), (Numbers{0}));
}

TEST(SetPlaces, AlongAnyAxis) {
  const Values flags{{2, 3, 2}, {1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0}, DType::boolean};
  EXPECT_EQ(places_of(flags, {1, 2}), (Numbers{0, 1, 2, 2, 1, 2, 2, 2}));
}

TEST(SetPlaces, OfLongAxes) {
  for (const int64_t extent : {17, 64, 1000, 1025}) {
    Values flags{{extent}, Numbers(static_cast<size_t>(extent)), DType::boolean};
    Numbers expected;
    for (int64_t i = 0; i < extent; i += 1 + i % 5) {
      flags.data[static_cast<size_t>(i)] = 1;
      expected.push_back(static_cast<double>(i));
    }
    expected.resize(flags.data.size(), static_cast<double>(extent - 1));
    EXPECT_EQ(places_of(flags, {0, extent}), expected) << extent;
  }
}

TEST(SetPlaces, NamesWhatItDoesNotTake) {
  const auto error = [](const SetPlacesOp& op, const TensorType& flags) {
    const auto type = infer(op, std::vector<TensorType>{flags});
    return type ? to_string(*type) : type.error().message;
  };
  EXPECT_EQ(to_string(GraphOp(SetPlacesOp{1, 2})), "SetPlaces(axis 1, first 2)");
  EXPECT_EQ(error({0, 2}, {DType::boolean, {3, 4}}), "i64[2,4]");
  EXPECT_EQ(error({0, 1}, {DType::f32, {3}}), "input 0 is of type f32, and Lathe supports bool here");
  EXPECT_EQ(error({1, 1}, {DType::boolean, {3}}), "[3] has no axis 1");
  EXPECT_EQ(error({0, 4}, {DType::boolean, {3}}), "it asks for 4 of the 3 places of axis 0 of [3]");
  EXPECT_EQ(error({0, 1}, {DType::boolean, {int64_t{1} << 31}}),
            "axis 0 of [2147483648] has 2147483648 places, and Lathe supports 1073741823");
}

}  // namespace
}  // namespace lathe
