// From the names of files to operators, networks and tasks.
#include "session/load_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/network_file.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A convolution that is required to be computed by Winograd's algorithm, or not.
std::string convolution(const std::string& op) {
  return R"({"name": "c", "op": ")" + op +
         R"(", "batch": 1, "height": 7, "width": 7, "in_channels": 8, "out_channels": 8, "kernel": 3,
             "padding": 1, "stride": 1})";
}

class LoadSource : public SessionTest {
 protected:
  std::vector<std::string> names(const ProgramSource& source) const {
    const Result<std::vector<Workload>> workloads = load_workloads(source);
    if (!workloads) return {refusal_of(workloads)};
    std::vector<std::string> names;
    for (const Workload& workload : *workloads) names.push_back(workload.name);
    return names;
  }
  Result<Task> task(bool free_layouts, bool exact_specials) const {
    return task_of(load_workloads(source()).value().front(), target_, free_layouts, exact_specials);
  }
};

TEST_F(LoadSource, TheFilterPicksOperators) {
  write_workload(R"({"name": "a1", "op": "expression", "text": "B[i:9] = A[i]"},
                    {"name": "a2", "op": "expression", "text": "B[i:9] = A[i]"})");
  ProgramSource both = source();
  EXPECT_THAT(names(both), ElementsAre("a1", "a2"));
  both.filter = "2$";
  EXPECT_THAT(names(both), ElementsAre("a2"));
  both.filter = "b";
  EXPECT_THAT(names(both),
              ElementsAre("--filter: no entry of " + path("w.json") + " has a name that matches 'b'"));
}

TEST_F(LoadSource, LayoutsOfActivationsAreFreeOrFixed) {
  const Task fixed = task(false, false).value();
  const Task free = task(true, false).value();
  EXPECT_FALSE(text_of(fixed).free_layouts);
  EXPECT_TRUE(text_of(free).free_layouts);
  EXPECT_NE(text_of(fixed).hash, text_of(free).hash);
  EXPECT_EQ(fixed.target, target_);
}

// A task that no program spreads infinities in serves both, and so do its records.
TEST_F(LoadSource, ExactSpecialsAreTasksOfTheirOwnWhereTheyDiffer) {
  EXPECT_EQ(text_of(task(false, true).value()).hash, text_of(task(false, false).value()).hash);
  write_workload(convolution("conv2d"));
  EXPECT_EQ(task(false, false)->algorithm, "");
  EXPECT_NE(task(false, true)->algorithm, "");
  EXPECT_NE(text_of(task(false, true).value()).hash, text_of(task(false, false).value()).hash);
}

TEST_F(LoadSource, AnAlgorithmThatSpreadsThemIsRefusedAndTheOperatorNamed) {
  write_workload(convolution("conv2d_winograd"));
  EXPECT_EQ(refusal_of(task(false, false)), "");
  const Result<Task> exact = task(false, true);
  EXPECT_EQ(refusal_of(exact),
            "c: the task is to be computed by the algorithm 'winograd', which spreads "
            "infinities and NaN to results beside them");
  EXPECT_EQ(exact.error().kind, ErrorKind::unsupported);
}

TEST_F(LoadSource, ANetworkIsReadWithTheShapesThatAreGiven) {
  OnnxModel model;
  model.input("x", {4, 6}).initializer("w", {6, 5}).node("n", "MatMul", {"x", "w"}, "y").output("y");
  ProgramSource source;
  source.model = model_file(folder_, model, "some.net.onnx");
  const Result<Network> network = load_network(source, target_);
  ASSERT_TRUE(network.has_value()) << refusal_of(network);
  EXPECT_EQ(network->name, "some.net");
  EXPECT_EQ(network->tasks.tasks.size(), 1U);
  EXPECT_EQ(network->graph.tensor(network->graph.inputs[0]).type.shape, (Shape{4, 6}));
  source.input_shapes["x"] = {7, 6};
  const Result<Network> larger = load_network(source, target_);
  ASSERT_TRUE(larger.has_value()) << refusal_of(larger);
  EXPECT_EQ(larger->graph.tensor(larger->graph.outputs[0]).type.shape, (Shape{7, 5}));
  source.input_shapes = {{"z", {1}}};
  EXPECT_THAT(refusal_of(load_network(source, target_)), HasSubstr("'z'"));
  source.model = path("none.onnx");
  EXPECT_THAT(refusal_of(load_network(source, target_)), StartsWith(path("none.onnx") + ": "));
}

// Before anything is compiled.
TEST_F(LoadSource, WhatNoMemoryHoldsIsRefused) {
  OnnxModel model;
  model.input("x", {4, 6}).node("n", "Relu", {"x"}, "y").output("y");
  ProgramSource source;
  source.model = model_file(folder_, model, "net.onnx");
  source.input_shapes["x"] = {int64_t{1} << 30, 1000};
  EXPECT_THAT(refusal_of(load_network(source, target_)),
              AllOf(HasSubstr("net.onnx: the inputs and outputs take "), HasSubstr(" GB of memory")));
}

}  // namespace
}  // namespace lathe
