// ArgMax, ArgMin, Hardmax.
#include "graph/operators/arg_extremum.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Data = std::vector<double>;

OnnxModel arg_model(const char* type, int64_t axis, int64_t keeps, int64_t last,
                    int dtype = onnx::TensorProto_DataType_FLOAT) {
  OnnxModel model;
  model.input("x", {2, 4}, dtype).node("n", type, {"x"}, "y").attribute("axis", axis);
  model.attribute("keepdims", keeps).attribute("select_last_index", last).output("y");
  return model;
}

Values x() { return {{2, 4}, {1, 5, 5, -2, -2, 7, -2, 0}}; }

TEST(ArgExtremum, NamesTheFirstOrTheLastPlace) {
  EXPECT_EQ(run_network(arg_model("ArgMax", 1, 1, 0), {x()}).data, (Data{1, 1}));
  EXPECT_EQ(run_network(arg_model("ArgMax", 1, 1, 1), {x()}).data, (Data{2, 1}));
  EXPECT_EQ(run_network(arg_model("ArgMin", -1, 1, 0), {x()}).data, (Data{3, 0}));
  EXPECT_EQ(run_network(arg_model("ArgMin", -1, 1, 1), {x()}).data, (Data{3, 2}));
  EXPECT_EQ(run_network(arg_model("ArgMax", 0, 0, 0), {x()}).data, (Data{0, 1, 0, 1}));
}

TEST(ArgExtremum, KeepsTheAxisOrNot) {
  const Values kept = run_network(arg_model("ArgMax", 1, 1, 0), {x()});
  EXPECT_EQ(kept.shape, (Shape{2, 1}));
  EXPECT_EQ(kept.dtype, DType::i64);
  EXPECT_EQ(run_network(arg_model("ArgMax", 1, 0, 0), {x()}).shape, (Shape{2}));
}

TEST(ArgExtremum, TakesIntegers) {
  const OnnxModel model = arg_model("ArgMin", 1, 0, 0, onnx::TensorProto_DataType_INT64);
  EXPECT_EQ(run_network(model, {x()}).data, (Data{3, 0}));
}

TEST(ArgExtremum, ANotANumberIsBoth) {
  const Values nan{{2, 4}, {1, NAN, 5, NAN, -2, -1, -3, -4}};
  EXPECT_EQ(run_network(arg_model("ArgMax", 1, 0, 0), {nan}).data, (Data{1, 1}));
  EXPECT_EQ(run_network(arg_model("ArgMin", 1, 0, 0), {nan}).data, (Data{1, 3}));
  EXPECT_EQ(run_network(arg_model("ArgMax", 1, 0, 1), {nan}).data, (Data{3, 1}));
}

TEST(ArgExtremum, NamesWhatItCannotTake) {
  EXPECT_EQ(import_error(arg_model("ArgMax", 2, 1, 0)), "node 'n' (ArgMax): there is no axis 2 among 2 axes");
  EXPECT_EQ(import_error(arg_model("ArgMax", 1, 1, 0, onnx::TensorProto_DataType_BOOL)),
            "node 'n' (ArgMax): input 0 is of type bool, and Lathe supports f32, f64 and integers here");
}

TEST(Hardmax, MarksTheFirstLargest) {
  OnnxModel model;
  model.input("x", {2, 4}).node("n", "Hardmax", {"x"}, "y").output("y");
  EXPECT_EQ(run_network(model, {x()}).data, (Data{0, 1, 0, 0, 0, 1, 0, 0}));
}

}  // namespace
}  // namespace lathe
