#include "graph/onnx/nodes/scatter.h"

#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

OnnxModel scatter_model(const char* type, const Shape& data, const Shape& indices,
                        const std::vector<int64_t>& places, const Shape& updates,
                        const char* reduction = "none") {
  OnnxModel model;
  model.operator_set(18).input("x", data).integers("i", indices, places).input("u", updates);
  model.node("n", type, {"x", "i", "u"}, "y").attribute("reduction", reduction).output("y");
  return model;
}

std::string refusal_of(const OnnxModel& model) {
  const auto graph = import_onnx_bytes(model.bytes(), "m");
  return graph ? "taken" : graph.error().message;
}

TEST(OnnxScatter, ElementsAreWrittenAlongAnAxis) {
  OnnxModel model = scatter_model("ScatterElements", {2, 3}, {2, 2}, {2, -3, 1, 1}, {2, 2});
  model.attribute("axis", 1);
  // The last of two updates of one place stays.
  EXPECT_EQ(run_network(model, {numbered({2, 3}), {{2, 2}, {10, 20, 30, 40}}}).data,
            (Numbers{20, 2, 10, 4, 40, 6}));
}

TEST(OnnxScatter, OldModelsCallItScatter) {
  OnnxModel model;
  model.operator_set(9).input("x", {3}).integers("i", {1}, {1}).input("u", {1});
  model.node("n", "Scatter", {"x", "i", "u"}, "y").output("y");
  EXPECT_EQ(run_network(model, {numbered({3}), {{1}, {9}}}).data, (Numbers{1, 9, 3}));
}

TEST(OnnxScatter, SlicesAreWrittenWhereIndicesSay) {
  const OnnxModel rows = scatter_model("ScatterND", {3, 2}, {2, 1}, {2, 0}, {2, 2});
  EXPECT_EQ(run_network(rows, {numbered({3, 2}), {{2, 2}, {10, 20, 30, 40}}}).data,
            (Numbers{30, 40, 3, 4, 10, 20}));
  const OnnxModel elements = scatter_model("ScatterND", {3, 2}, {2, 2}, {0, -1, 2, 0}, {2});
  EXPECT_EQ(run_network(elements, {numbered({3, 2}), {{2}, {10, 20}}}).data, (Numbers{1, 10, 3, 4, 20, 6}));
}

// Indices without numbers name all of the data, once for each update.
TEST(OnnxScatter, IndicesThatNameNoAxisMeanAllOfTheData) {
  const Values updates{{2, 2, 1}, {10, 20, 30, 40}};
  const auto model = [](const char* reduction, int64_t count) {
    OnnxModel made;
    made.operator_set(18).input("x", {2, 1}).integers("i", {count, 0}, {}).input("u", {count, 2, 1});
    return made.node("n", "ScatterND", {"x", "i", "u"}, "y").attribute("reduction", reduction).output("y");
  };
  EXPECT_EQ(run_network(model("none", 2), {numbered({2, 1}), updates}).data, (Numbers{30, 40}));
  EXPECT_EQ(run_network(model("add", 2), {numbered({2, 1}), updates}).data, (Numbers{41, 62}));
  EXPECT_EQ(run_network(model("none", 1), {numbered({2, 1}), {{1, 2, 1}, {7, 8}}}).data, (Numbers{7, 8}));
  // More of them than passes over the data are made for.
  const Values ones{{70, 2, 1}, std::vector<double>(140, 1)};
  EXPECT_EQ(run_network(model("add", 70), {numbered({2, 1}), ones}).data, (Numbers{71, 72}));
}

// As assignments to slices are exported: what is written stands between what stays, with no list of places.
TEST(OnnxScatter, ABoxIsWrittenInOnePiece) {
  const auto nodes_of = [](const OnnxModel& model) {
    const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m");
    EXPECT_TRUE(graph) << graph.error().to_string();
    std::string names;
    for (const GraphNode& node : graph->nodes) names += std::string(name_of(node.op)) + " ";
    return names;
  };
  const Values x = numbered({3, 4});
  // x[1:, 1:3] = u
  const std::vector<int64_t> inner{1, 1, 1, 2, 2, 1, 2, 2};
  const OnnxModel box = scatter_model("ScatterND", {3, 4}, {2, 2, 2}, inner, {2, 2});
  EXPECT_EQ(run_network(box, {x, {{2, 2}, {10, 20, 30, 40}}}).data,
            (Numbers{1, 2, 3, 4, 5, 10, 20, 8, 9, 30, 40, 12}));
  EXPECT_EQ(nodes_of(box).find("Gather"), std::string::npos) << nodes_of(box);
  // x[:, :] = u
  const OnnxModel whole = scatter_model("ScatterND", {3, 4}, {3, 1}, {0, 1, 2}, {3, 4});
  EXPECT_EQ(run_network(whole, {x, {{3, 4}, Numbers(12, 7)}}).data, Numbers(12, 7));
  EXPECT_EQ(nodes_of(whole), "Reshape ");
  // As many places, in another order.
  const OnnxModel turned = scatter_model("ScatterND", {3, 4}, {3, 1}, {0, 2, 1}, {3, 4});
  EXPECT_EQ(run_network(turned, {x, {{3, 4}, {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}}}).data,
            (Numbers{1, 1, 1, 1, 3, 3, 3, 3, 2, 2, 2, 2}));
}

TEST(OnnxScatter, UpdatesOfOnePlaceAreReduced) {
  const std::vector<int64_t> places{1, 1, 3, 1};
  const std::vector<Values> inputs{numbered({5}), {{4}, {10, -20, 30, 3}}};
  const auto result = [&](const char* reduction) {
    return run_network(scatter_model("ScatterElements", {5}, {4}, places, {4}, reduction), inputs).data;
  };
  EXPECT_EQ(result("add"), (Numbers{1, -5, 3, 34, 5}));
  EXPECT_EQ(result("mul"), (Numbers{1, -1200, 3, 120, 5}));
  EXPECT_EQ(result("max"), (Numbers{1, 10, 3, 30, 5}));
  EXPECT_EQ(result("min"), (Numbers{1, -20, 3, 4, 5}));
}

// So many that each is not a pass of its own.
TEST(OnnxScatter, AnyNumberOfUpdatesIsReduced) {
  const std::vector<int64_t> many(65, 1);
  const Values updates{{65}, Numbers(65, 2)};
  EXPECT_EQ(
      run_network(scatter_model("ScatterND", {3}, {65, 1}, many, {65}, "add"), {numbered({3}), updates}).data,
      (Numbers{1, 132, 3}));
}

OnnxModel run_time_model(const char* type, const Shape& data, const Shape& indices, const Shape& updates,
                         const char* reduction, int element = onnx::TensorProto_DataType_FLOAT) {
  OnnxModel model;
  model.operator_set(18).input("x", data, element).input("i", indices, onnx::TensorProto_DataType_INT64);
  model.input("u", updates, element).node("n", type, {"x", "i", "u"}, "y");
  return std::move(model.attribute("reduction", reduction).output("y"));
}

Values indices_of(const Shape& shape, const Numbers& numbers) { return {shape, numbers, DType::i64}; }

// Updates may leave out some of the data beside the axis; what names no place is not written.
TEST(OnnxScatter, IndicesMayBeInputs) {
  OnnxModel rows = run_time_model("ScatterElements", {2, 3}, {2, 2}, {2, 2}, "none").attribute("axis", 1);
  const Values updates{{2, 2}, {10, 20, 30, 40}};
  EXPECT_EQ(run_network(rows, {numbered({2, 3}), indices_of({2, 2}, {2, -3, 1, 1}), updates}).data,
            (Numbers{20, 2, 10, 4, 40, 6}));
  const OnnxModel columns = run_time_model("ScatterElements", {2, 3}, {3, 2}, {3, 2}, "add");
  const Values three{{3, 2}, {10, 20, 30, 40, 50, 60}};
  EXPECT_EQ(run_network(columns, {numbered({2, 3}), indices_of({3, 2}, {0, 1, 0, -1, 2, -3}), three}).data,
            (Numbers{41, 2, 3, 4, 65, 6}));
}

TEST(OnnxScatter, SlicesMayBeNamedByInputs) {
  const OnnxModel slices = run_time_model("ScatterND", {2, 2, 2}, {3, 2}, {3, 2}, "none");
  const Values updates{{3, 2}, {10, 20, 30, 40, 50, 60}};
  // The third one is beyond the second axis, and would be a place of the next row.
  const Values places = indices_of({3, 2}, {1, 0, -2, -1, 0, 2});
  EXPECT_EQ(run_network(slices, {numbered({2, 2, 2}), places, updates}).data,
            (Numbers{1, 2, 30, 40, 10, 20, 7, 8}));
}

TEST(OnnxScatter, EveryReductionTakesInputs) {
  const std::vector<Values> inputs{numbered({5}), indices_of({4}, {1, 1, 3, 1}), {{4}, {10, -20, 30, 3}}};
  const auto result = [&](const char* reduction) {
    return run_network(run_time_model("ScatterElements", {5}, {4}, {4}, reduction), inputs).data;
  };
  EXPECT_EQ(result("add"), (Numbers{1, -5, 3, 34, 5}));
  EXPECT_EQ(result("mul"), (Numbers{1, -1200, 3, 120, 5}));
  EXPECT_EQ(result("max"), (Numbers{1, 10, 3, 30, 5}));
  EXPECT_EQ(result("min"), (Numbers{1, -20, 3, 4, 5}));
}

// Of 8 bits too, which wrap around.
TEST(OnnxScatter, IntegersAreReducedInTheirType) {
  const auto result = [&](const char* reduction, int element, DType dtype) {
    const OnnxModel model = run_time_model("ScatterElements", {3}, {2}, {2}, reduction, element);
    return run_network(model, {{{3}, {100, 5, 7}, dtype}, indices_of({2}, {0, 0}), {{2}, {90, 90}, dtype}})
        .data;
  };
  constexpr int kU8 = onnx::TensorProto_DataType_UINT8, kI32 = onnx::TensorProto_DataType_INT32;
  EXPECT_EQ(result("add", kU8, DType::u8), (Numbers{24, 5, 7}));
  EXPECT_EQ(result("none", kU8, DType::u8), (Numbers{90, 5, 7}));
  EXPECT_EQ(result("max", kI32, DType::i32), (Numbers{100, 5, 7}));
  EXPECT_EQ(result("min", kI32, DType::i32), (Numbers{90, 5, 7}));
}

TEST(OnnxScatter, WhatDoesNotFitIsRefused) {
  EXPECT_NE(refusal_of(scatter_model("ScatterND", {3, 2}, {1, 1}, {3}, {1, 2})).find("no place 3 in axis 0"),
            std::string::npos);
  EXPECT_NE(refusal_of(scatter_model("ScatterND", {3, 2}, {1, 1}, {0}, {2})).find("do not fit"),
            std::string::npos);
  EXPECT_NE(refusal_of(scatter_model("ScatterND", {3}, {1, 2}, {0, 0}, {1})).find("do not fit"),
            std::string::npos);
  EXPECT_NE(refusal_of(scatter_model("ScatterElements", {3}, {2}, {0, 1}, {1})).find("do not fit"),
            std::string::npos);
  EXPECT_NE(refusal_of(scatter_model("ScatterND", {3}, {1, 1}, {0}, {1}, "or")).find("reduction"),
            std::string::npos);
}

OnnxModel gather_model(const Shape& data, const Shape& indices, int64_t batch = 0) {
  OnnxModel model;
  model.operator_set(13).input("x", data).input("i", indices, onnx::TensorProto_DataType_INT64);
  model.node("n", "GatherND", {"x", "i"}, "y").attribute("batch_dims", batch).output("y");
  return model;
}

TEST(OnnxGatherNd, TakesElementsAndSlices) {
  const Values x = numbered({2, 3});
  EXPECT_EQ(run_network(gather_model({2, 3}, {2, 2}), {x, {{2, 2}, {0, 2, -1, 0}, DType::i64}}).data,
            (Numbers{3, 4}));
  const Values rows = run_network(gather_model({2, 3}, {2, 1}), {x, {{2, 1}, {1, 0}, DType::i64}});
  EXPECT_EQ(rows.shape, (Shape{2, 3}));
  EXPECT_EQ(rows.data, (Numbers{4, 5, 6, 1, 2, 3}));
}

TEST(OnnxGatherNd, BatchesHaveIndicesOfTheirOwn) {
  const Values x = numbered({2, 3, 2});
  const Values result = run_network(gather_model({2, 3, 2}, {2, 1}, 1), {x, {{2, 1}, {2, -3}, DType::i64}});
  EXPECT_EQ(result.shape, (Shape{2, 2}));
  EXPECT_EQ(result.data, (Numbers{5, 6, 7, 8}));
}

TEST(OnnxGatherNd, TakesConstantIndicesEvenlyOrNot) {
  const auto taken = [](const Shape& indices, const std::vector<int64_t>& places, int64_t batch) {
    OnnxModel model;
    model.operator_set(13).input("x", {2, 3, 2}).integers("i", indices, places);
    model.node("n", "GatherND", {"x", "i"}, "y").attribute("batch_dims", batch).output("y");
    return run_network(model, {numbered({2, 3, 2})}).data;
  };
  EXPECT_EQ(taken({3, 3}, {0, 0, 0, 0, 1, 0, 0, 2, 0}, 0), (Numbers{1, 3, 5}));
  EXPECT_EQ(taken({2, 2}, {1, -1, 0, 0}, 0), (Numbers{11, 12, 1, 2}));
  EXPECT_EQ(taken({2, 2, 1}, {0, 2, 1, 0}, 1), (Numbers{1, 2, 5, 6, 9, 10, 7, 8}));
  EXPECT_EQ(taken({1, 3}, {-1, -1, -1}, 0), (Numbers{12}));
}

TEST(OnnxGatherNd, ConstantIndicesLieInside) {
  OnnxModel model;
  model.operator_set(13).input("x", {2, 3}).integers("i", {1, 2}, {1, 3});
  model.node("n", "GatherND", {"x", "i"}, "y").output("y");
  EXPECT_NE(refusal_of(model).find("no place 3 in axis 1"), std::string::npos) << refusal_of(model);
  EXPECT_NE(refusal_of(gather_model({2, 3}, {1, 3})).find("do not fit"), std::string::npos);
}

}  // namespace
}  // namespace lathe
