// Winograd's rewrite gives the convolution's own result, as closely as candidates that use it are checked.
#include "rewrite/winograd.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "check/tolerance.h"
#include "expr/parse.h"
#include "loop/interpret.h"
#include "ops/workloads.h"
#include "rewrite/winograd_sides.h"
#include "schedule/apply.h"
#include "space/all.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

Task convolution(int batch, int height, int width, int channels) {
  const std::string text = fmt::format(
      R"([{{"name":"c", "op":"conv2d", "batch":{}, "height":{}, "width":{}, "in_channels":{},
          "out_channels":5, "kernel":3, "stride":1, "padding":1}}])",
      batch, height, width, channels);
  const Result<std::vector<Workload>> workloads = parse_workloads(text, "winograd_test");
  EXPECT_TRUE(workloads) << workloads.error().to_string();
  Result<Task> task = make_task(workloads->front(), generic_target("x86-avx2"), true);
  EXPECT_TRUE(task) << task.error().to_string();
  return std::move(*task);
}

// The largest difference between the rewritten and the direct program, as a share of the largest value.
double loss(const Task& task, const Trace& trace) {
  Rng rng(3);
  std::vector<HostTensor> inputs;
  for (const Tensor& input : task.dag.inputs) inputs.push_back(random_like(input, rng));
  const Result<Program> program = apply_trace(task, trace);
  EXPECT_TRUE(program) << program.error().to_string();
  const Result<Interpretation> direct = interpret(naive_program(task), inputs);
  const Result<Interpretation> rewritten = interpret(*program, inputs);
  EXPECT_TRUE(direct && rewritten);
  double largest = 0;
  double difference = 0;
  for (size_t i = 0; i < direct->outputs[0].values.size(); ++i) {
    largest = std::max(largest, std::abs(direct->outputs[0].values[i]));
    difference =
        std::max(difference, std::abs(direct->outputs[0].values[i] - rewritten->outputs[0].values[i]));
  }
  return difference / largest;
}

TEST(Winograd, LosesLessThanCandidatesAreAllowed) {
  const Task task = convolution(1, 12, 12, 64);
  for (const int64_t m : {2, 4, 6}) {
    for (const int64_t pairs : {0, 1}) {
      const Trace trace = {RewriteStep{"winograd", "O", {{"m", m}, {"pairs", pairs}}}};
      const double lost = loss(task, trace);
      EXPECT_GT(lost, 0) << m;
      // A third for longer sums and other numbers than these.
      EXPECT_LT(lost, relative_tolerance(task.dag, trace) / 3) << m;
    }
  }
}

// A product of matrices under a window, its pixels' rows beside the images, and its channels in two axes.
TEST(Winograd, AProductMayHaveMoreAxesThanAnImage) {
  const auto workloads = parse_workloads(
      R"([{"name":"c", "op":"capsule_conv2d", "batch":2, "height":7, "width":5, "in_channels":3,
           "out_channels":5, "kernel":3, "stride":1, "padding":1, "capsule":2}])",
      "winograd_test");
  ASSERT_TRUE(workloads);
  const Task task = make_task(workloads->front(), generic_target("x86-avx2"), true).value();
  for (const int64_t m : {2, 4, 6}) {
    const Trace trace = {RewriteStep{"winograd", "O", {{"m", m}}}};
    const double lost = loss(task, trace);
    EXPECT_GT(lost, 0) << m;
    EXPECT_LT(lost, relative_tolerance(task.dag, trace)) << m;
  }
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space);
  int points = 0;
  for (const Point& point : space->preferred_points()) {
    const Result<Trace> trace = space->trace(point);
    ASSERT_TRUE(trace);
    EXPECT_LT(loss(task, *trace), relative_tolerance(task.dag, *trace)) << to_string(*trace);
    points += std::holds_alternative<RewriteStep>(trace->front()) ? 1 : 0;
  }
  EXPECT_GE(points, 3);
}

TEST(Winograd, TilesThatLoseTheResultAreRefused) {
  const Task task = make_task("conv",
                              *parse_dag("O[n:1, f:4, y:12, x:12] = sum(c:3, p:5, q:5) "
                                         "I[n, c, y+p, x+q] * W[f, c, p, q]"),
                              generic_target("x86-avx2"))
                        .value();
  EXPECT_TRUE(apply_trace(task, {RewriteStep{"winograd", "O", {{"m", 4}}}}));
  const Result<Program> refused = apply_trace(task, {RewriteStep{"winograd", "O", {{"m", 6}}}});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("tiles of 10 rows lose too much"), std::string::npos)
      << refused.error().message;
}

TEST(Winograd, ElementsOfOtherTypesThanItsTablesAreRefused) {
  for (const std::string type : {"f64", "i32"}) {
    const Task task =
        make_task("conv",
                  *parse_dag(fmt::format("input I[1,2,8,8] {0} input W[3,2,3,3] {0} O[n:1, f:3, y:6, x:6] = "
                                         "sum(c:2, a:3, b:3) I[n, c, y+a, x+b] * W[f, c, a, b]",
                                         type)),
                  generic_target("x86-avx2"))
            .value();
    const Result<Program> refused = apply_trace(task, {RewriteStep{"winograd", "O", {{"m", 2}}}});
    ASSERT_FALSE(refused) << type;
    EXPECT_EQ(refused.error().message,
              "winograd does not apply to 'O': its elements are " + type + ", and the tables are f32");
  }
}

// The image's pixels are found again in the tiles, so that the output can be written where its tile is made.
TEST(Winograd, ImagesOfOneTileAcrossOrDownAreWrittenFromTheirTiles) {
  for (const auto& [height, width] : {std::pair(11, 5), std::pair(4, 13), std::pair(3, 3)}) {
    const Task task = convolution(2, height, width, 3);
    const Result<Trace> trace = parse_trace(
        "rewrite winograd O m=6\nreorder O.Y p f u v j\nreverse_compute_at O O.Y u scope=registers\n");
    ASSERT_TRUE(trace) << trace.error().to_string();
    EXPECT_LT(loss(task, *trace), relative_tolerance(task.dag, *trace)) << height << " x " << width;
  }
}

Task entry(const std::string& fields) {
  const Result<std::vector<Workload>> workloads =
      parse_workloads("[{\"name\":\"c\"," + fields + "}]", "test");
  EXPECT_TRUE(workloads) << workloads.error().to_string();
  return make_task(workloads->front(), generic_target("x86-avx2"), true).value();
}

// Of one to three dimensions, dilated, with flipped weights, with a window of nine taps in three parts.
TEST(Winograd, TakesAnyWindowThatSlidesBySingleSteps) {
  const std::string channels = R"("in_channels":3, "out_channels":4, "stride":1)";
  const std::vector<std::string> entries = {
      R"("op":"conv1d", "batch":2, "length":11, "kernel":3, "padding":1, )" + channels,
      R"("op":"conv1d", "batch":2, "length":13, "kernel":5, "padding":4, "dilation":2, )" + channels,
      R"("op":"conv1d", "batch":2, "length":14, "kernel":9, "padding":1, )" + channels,
      R"("op":"conv1d", "batch":1, "length":25, "kernel":6, "padding":2, "dilation":3, )" + channels,
      R"("op":"conv2d", "batch":2, "height":9, "width":7, "kernel":3, "padding":2, "dilation":2, )" +
          channels,
      R"("op":"conv3d", "batch":1, "depth":3, "height":5, "width":4, "kernel":3, "padding":1, )" + channels,
      R"("op":"conv2d_transpose", "batch":2, "height":5, "width":6, "kernel":3, "padding":1, )" + channels,
  };
  for (const std::string& fields : entries) {
    const Task task = entry(fields);
    for (const RewriteParameters& parameters : winograd_choices(task.dag, "O")) {
      const Trace trace = {RewriteStep{"winograd", "O", parameters}};
      EXPECT_LT(loss(task, trace), relative_tolerance(task.dag, trace)) << fields << to_string(trace);
    }
  }
}

TEST(Winograd, SidesOfATileMayDifferOrStayAsTheyAre) {
  const Task task =
      entry(R"("op":"conv3d", "batch":1, "depth":4, "height":5, "width":7, "in_channels":3, "out_channels":4,
               "kernel":3, "stride":1, "padding":1)");
  for (const RewriteParameters& parameters :
       {RewriteParameters{{"m", 4}, {"m0", 1}}, RewriteParameters{{"m0", 2}, {"m1", 1}, {"m2", 3}},
        RewriteParameters{{"m0", 1}, {"m1", 1}, {"m2", 5}},
        RewriteParameters{{"m0", 2}, {"m1", 4}, {"m2", 3}, {"pairs", 1}},
        RewriteParameters{{"m", 4}, {"m0", 1}, {"pairs", 1}}}) {
    const Trace trace = {RewriteStep{"winograd", "O", parameters}};
    EXPECT_LT(loss(task, trace), relative_tolerance(task.dag, trace)) << to_string(trace);
  }
  const Result<Program> none = apply_trace(task, {RewriteStep{"winograd", "O", {{"m", 1}}}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "winograd does not apply to 'O': none of its windows is tiled");
}

// `a` is no axis of the weights and moves the window that stays.
TEST(Winograd, AnotherAxisMayMoveAWindowThatStays) {
  for (const int extent : {1, 3}) {
    const std::string text = fmt::format(
        "O[n:2, f:4, y:6, x:8, a:{}] = sum(c:3, ky:3, kx:3) I[n, c, y + ky + 2*a, x + kx] * W[f, c, ky, kx]",
        extent);
    const Task task = make_task("conv", *parse_dag(text), generic_target("x86-avx2")).value();
    for (const RewriteParameters& parameters :
         {RewriteParameters{{"m0", 1}, {"m1", 4}}, RewriteParameters{{"m0", 1}, {"m1", 4}, {"pairs", 1}}}) {
      const Trace trace = {RewriteStep{"winograd", "O", parameters}};
      EXPECT_LT(loss(task, trace), relative_tolerance(task.dag, trace)) << text;
    }
  }
}

// Strides of 2 and 1, so that one phase has a single place and no part in the weights.
TEST(Winograd, TakesThePhasesOfATransposedConvolutionOfTwoStrides) {
  const Dag dag = *parse_dag(
      "E[n:2, c:3, y:13, x:9] = select(y % 2 == 0 && y >= 2 && y < 12 && x >= 2 && x < 7, "
      "X[n, c, y / 2 - 1, x - 2], 0.0)\n"
      "O[n:2, f:4, y:11, x:7] = sum(c:3, ky:3, kx:3) E[n, c, y + ky, x + kx] * W[c, f, -ky + 2, -kx + 2]");
  const Task task = make_task("conv", dag, generic_target("x86-avx2")).value();
  const Trace trace = {RewriteStep{"phases", "O", {}},
                       RewriteStep{"winograd", "O.P", {{"m0", 1}, {"m1", 4}}}};
  EXPECT_LT(loss(task, trace), relative_tolerance(task.dag, trace));
}

// Names that a rewrite in pairs takes are free otherwise.
TEST(Winograd, AnAxisKeepsItsNameWhereNothingElseTakesIt) {
  const Task task = make_task("conv",
                              *parse_dag("O[n:1, f:4, y:12, x:12] = sum(e:3, a_:3, b_:3) "
                                         "I[n, e, y+a_, x+b_] * W[f, e, a_, b_]"),
                              generic_target("x86-avx2"))
                        .value();
  for (const auto& [pairs, name] : {std::pair(0, "e"), std::pair(1, "e_")}) {
    const auto trace =
        parse_trace(fmt::format("rewrite winograd O m=4 pairs={}\nsplit O.M {} [2]\n", pairs, name));
    ASSERT_TRUE(trace) << trace.error().to_string();
    EXPECT_LT(loss(task, *trace), relative_tolerance(task.dag, *trace)) << pairs;
  }
}

TEST(Winograd, PairsAreAskedForOrNot) {
  const Result<Program> refused =
      apply_trace(convolution(1, 8, 8, 3), {RewriteStep{"winograd", "O", {{"pairs", 2}}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "winograd does not apply to 'O': pairs is 2, not 0 or 1");
}

TEST(Winograd, AWindowThatIsNotThereIsRefused) {
  const Result<Program> refused =
      apply_trace(convolution(1, 8, 8, 3), {RewriteStep{"winograd", "O", {{"m2", 2}}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "winograd does not apply to 'O': it has 2 windows, and m2 is given");
}

TEST(Winograd, FollowsWhatMakesADenseWindow) {
  const Task grouped = entry(R"("op":"conv2d", "batch":2, "height":6, "width":5, "in_channels":6,
                               "out_channels":8, "kernel":3, "stride":1, "padding":1, "groups":2)");
  const Task strided = entry(R"("op":"conv2d_transpose", "batch":2, "height":5, "width":4, "in_channels":3,
                               "out_channels":4, "kernel":4, "stride":2, "padding":1)");
  for (const auto& [task, text] :
       {std::pair(grouped, "rewrite divided_axis O\nrewrite winograd O.D m=4\n"),
        std::pair(strided, "rewrite phases O\nrewrite winograd O.P m=3\n"),
        std::pair(grouped, "rewrite divided_axis O\nrewrite winograd O.D m=4 pairs=1\n"),
        std::pair(strided, "rewrite phases O\nrewrite winograd O.P m=4 pairs=1\n")}) {
    const Result<Trace> trace = parse_trace(text);
    ASSERT_TRUE(trace) << trace.error().to_string();
    EXPECT_LT(loss(task, *trace), relative_tolerance(task.dag, *trace)) << text;
  }
}

// Tiles beyond the results of a window are no choice; those of two always are.
TEST(Winograd, NoTileIsLargerThanTheOutput) {
  const auto largest = [](const std::string& length) {
    const Task task = entry(R"("op":"conv1d", "batch":2, "kernel":3, "padding":1, "in_channels":3,
                               "out_channels":4, "stride":1, )" +
                            length);
    int64_t most = 0;
    for (const RewriteParameters& parameters : winograd_choices(task.dag, "O"))
      most = std::max(most, parameters.at("m"));
    return most;
  };
  EXPECT_EQ(largest(R"("length":3)"), 3);
  EXPECT_EQ(largest(R"("length":2)"), 2);
  EXPECT_GT(largest(R"("length":24)"), 3);
}

// A channel by itself has nothing to add up, and a result by itself nothing to share.
TEST(Winograd, WhatItSavesNothingOnIsRefused) {
  const std::string rest = R"("batch":1, "height":8, "width":8, "kernel":3, "stride":1, "padding":1)";
  const auto message = [](const Task& task) {
    return apply_trace(task, {RewriteStep{"winograd", "O", {{"m", 2}}}}).error().message;
  };
  EXPECT_EQ(message(entry(R"("op":"conv2d", "in_channels":1, "out_channels":4, )" + rest)),
            "winograd does not apply to 'O': it adds up one channel alone");
  EXPECT_EQ(message(entry(R"("op":"conv2d", "in_channels":4, "out_channels":1, )" + rest)),
            "winograd does not apply to 'O': each of its windows gives one result alone");
}

}  // namespace
}  // namespace lathe::testing
