// What a file that fixes a size of one tells of its axis, and what it does not.
#include "artifact/fixed_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "session/network_file.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

class FixedSizeTest : public ::testing::Test {
 protected:
  // The first axis of the only input, of one place, is to have four.
  FixedReading reading(const OnnxModel& model) const {
    const std::string path = model_file(folder_, model);
    const Graph network = import_onnx(path, {}).value();
    OnnxImportOptions two;
    Shape shape = network.tensor(network.inputs[0]).type.shape;
    ++shape[0];
    two.input_shapes = {{network.tensor(network.inputs[0]).name, shape}};
    const Result<Graph> more = import_onnx(path, two);
    std::vector<FreeInput> others;
    if (more) others.push_back({more->inputs[0], 0});
    return read_fixed_size(network, std::vector<FreeInput>{{network.inputs[0], 0}}, more ? &*more : nullptr,
                           others, shape[0] - 1, 4);
  }

  TemporaryFolder folder_;
};

OnnxModel model_of(const Shape& shape) {
  OnnxModel model;
  model.input("x", shape).output("y");
  return model;
}

TEST_F(FixedSizeTest, TwoPlacesTellTheirAxisFromOneThatIsAdded) {
  OnnxModel model = model_of({1, 5});
  model.integers("axes", {0}).node("u", "Unsqueeze", {"x", "axes"}, "t").node("r", "Relu", {"t"}, "y");
  const FixedReading reading = this->reading(model);
  EXPECT_TRUE(reading.has_one_more);
  EXPECT_FALSE(reading.refusal) << *reading.refusal;
}

// Read with two places the second would be among the features.
TEST_F(FixedSizeTest, AReshapeThatSpellsTheOneIsFollowed) {
  OnnxModel model = model_of({1, 3, 4});
  model.integers("flat", {1, -1}).node("f", "Reshape", {"x", "flat"}, "t").node("r", "Relu", {"t"}, "y");
  const FixedReading reading = this->reading(model);
  EXPECT_FALSE(reading.has_one_more);
  EXPECT_EQ(reading.units, UnitPlaces::first);
  EXPECT_FALSE(reading.refusal) << *reading.refusal;
}

// The first axis is summed up, or the second: the file cannot be read with two places, and either may be
// meant.
TEST_F(FixedSizeTest, WhatTheFileDoesNotTellIsRefused) {
  OnnxModel model = model_of({1, 6});
  model.integers("shape", {1, 1, 6}).node("f", "Reshape", {"x", "shape"}, "t").node("r", "Relu", {"t"}, "y");
  const FixedReading reading = this->reading(model);
  EXPECT_FALSE(reading.has_one_more);
  ASSERT_TRUE(reading.refusal);
  EXPECT_THAT(*reading.refusal, HasSubstr("could be any of several axes of one place"));
}

// Where other axes do not fit, there is one answer: that a mask is added to.
TEST_F(FixedSizeTest, AnAxisThatFitsNothingIsNotMeant) {
  OnnxModel model = model_of({1, 6});
  model.integers("shape", {1, 1, 6}).node("f", "Reshape", {"x", "shape"}, "t").initializer("w", {1, 3, 6});
  model.node("a", "Add", {"t", "w"}, "s").integers("back", {1, 18}).node("b", "Reshape", {"s", "back"}, "y");
  const FixedReading reading = this->reading(model);
  EXPECT_EQ(reading.units, UnitPlaces::first);
  EXPECT_FALSE(reading.refusal) << *reading.refusal;
}

TEST_F(FixedSizeTest, ANumberThatGoesByTheSizeIsNamed) {
  OnnxModel model = model_of({1, 4});
  model.node("n", "Shape", {"x"}, "shape").integers("axis", {0}).node("g", "Gather", {"shape", "axis"}, "n1");
  model.node("c", "Cast", {"n1"}, "count").attribute("to", int64_t{1}).node("d", "Div", {"x", "count"}, "y");
  const FixedReading reading = this->reading(model);
  ASSERT_TRUE(reading.refusal);
  EXPECT_THAT(*reading.refusal, HasSubstr("a number that goes by the number of places"));
}

}  // namespace
}  // namespace lathe
