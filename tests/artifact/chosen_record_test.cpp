// Which record's program an artifact is made of, and what is compared before it is taken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "artifact/artifact_fixture.h"
#include "expr/parse.h"
#include "expr/print.h"
#include "graph/onnx/models.h"
#include "space/all.h"
#include "tune/choose_trace.h"
#include "tune/in_process_runner.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ChosenRecordTest : public ArtifactTest {};

// Callers have row-major tensors: what a program with layouts of its own gains must pay for the conversions.
TEST_F(ChosenRecordTest, LayoutsOfTheProgramMustPay) {
  auto records = RecordStore::open(folder("records.db"));
  ASSERT_TRUE(records.has_value());
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto append = [&](bool free_layouts, double seconds, const std::string& trace) {
    Record record = record_of(*make_task(workloads->front(), options_.target, free_layouts));
    record.trace = trace;
    record.measurement = measurement_of({seconds});
    return records->append(record).value();
  };
  const auto fixed = make_task(workloads->front(), options_.target, false);
  const auto chosen = [&](FreeLayouts free_layouts = FreeLayouts::if_faster) {
    return choose_trace(*fixed, &*records, free_layouts)->record;
  };
  const int64_t slow = append(false, 1e-3, "split C i [2]");
  const int64_t free = append(true, 1e-5, "layout C [1/4][0][1%4]");
  EXPECT_EQ(chosen(), free);
  EXPECT_EQ(chosen(FreeLayouts::never), slow);
  // Faster than the fixed one's, and slower with 399 elements converted.
  const int64_t near = append(false, 1.002e-5, "split C i [4]");
  EXPECT_EQ(chosen(), near);
  EXPECT_EQ(chosen(FreeLayouts::first), free);
  // Nothing is converted.
  const int64_t plain = append(true, 0.99e-5, "split C i [8]");
  EXPECT_EQ(chosen(), plain);
  EXPECT_EQ(chosen(FreeLayouts::first), plain);
}

// Another caller's tensors make more of a difference than there is between programs about as fast.
TEST_F(ChosenRecordTest, TheUntunedGivesWayToWhatIsClearlyFaster) {
  auto records = RecordStore::open(folder("records.db"));
  ASSERT_TRUE(records.has_value());
  const auto task = make_task(parse_workloads(kMatmul, "test")->front(), options_.target, false);
  const std::string untuned = untuned_trace(derive_space(*task).value());
  ASSERT_NE(untuned, "");
  const auto append = [&](const std::string& trace, Measurement measurement) {
    Record record = record_of(*task);
    record.machine = task->target.machine;
    record.trace = trace;
    record.measurement = std::move(measurement);
    return records->append(record).value();
  };
  const auto chosen = [&](std::span<const int64_t> except = {}) {
    return choose_trace(*task, &*records, FreeLayouts::never, except)->record;
  };
  const int64_t first = append(untuned, measurement_of({1e-5}));
  EXPECT_EQ(chosen(), first);
  const int64_t as_fast = append("split C i [2]", measurement_of({0.985e-5}));
  EXPECT_EQ(chosen(), first);
  EXPECT_EQ(chosen({{first}}), as_fast) << "it was found wrong";
  const int64_t faster = append("split C i [4]", measurement_of({0.97e-5}));
  EXPECT_EQ(chosen(), faster);
  const int64_t again = append(untuned, measurement_of({0.98e-5}));
  EXPECT_EQ(chosen(), again) << "its fastest record counts";
}

// Of a program that takes 1 us what its caller does between calls makes 5 %.
TEST(ClearlyFaster, IsByTwoHundredthsAndByWhatACallMayCost) {
  EXPECT_FALSE(is_clearly_faster(0.99e-3, 1e-3));
  EXPECT_TRUE(is_clearly_faster(0.97e-3, 1e-3));
  EXPECT_FALSE(is_clearly_faster(0.95e-6, 1e-6));
  EXPECT_TRUE(is_clearly_faster(0.9e-6, 1e-6));
}

TEST_F(ChosenRecordTest, AnUntunedProgramThatFailedTakesNoPlace) {
  auto records = RecordStore::open(folder("records.db"));
  ASSERT_TRUE(records.has_value());
  const auto task = make_task(parse_workloads(kMatmul, "test")->front(), options_.target, false);
  Record record = record_of(*task);
  record.trace = untuned_trace(derive_space(*task).value());
  record.measurement = failed_measurement(ErrorKind::wrong_result, "test");
  ASSERT_TRUE(records->append(record));
  record.trace = "split C i [2]";
  record.measurement = measurement_of({1e-5});
  const int64_t other = records->append(record).value();
  EXPECT_EQ(choose_trace(*task, &*records)->record, other);
}

// Where a near cache holds a tensor its conversion is several times as fast as from memory.
TEST_F(ChosenRecordTest, ConversionsInANearCacheAreEstimatedAsFast) {
  auto records = RecordStore::open(folder("records.db"));
  ASSERT_TRUE(records.has_value());
  options_.target.cpu().l2.bytes = 1 << 20;
  const auto workloads = parse_workloads(
      R"([{"name": "c", "op": "expression", "text": "C[i:100, j:100] = A[i, j] + 1.0"}])", "test");
  const auto append = [&](bool free_layouts, double seconds, const std::string& trace) {
    Record record = record_of(*make_task(workloads->front(), options_.target, free_layouts));
    record.trace = trace;
    record.measurement = measurement_of({seconds});
    return records->append(record).value();
  };
  // 40 kB: 8 us from memory.
  const int64_t fixed = append(false, 15e-6, "split C i [2]");
  const int64_t free = append(true, 10e-6, "layout C [1/4][0][1%4]");
  const auto chosen = [&] {
    const auto task = make_task(workloads->front(), options_.target, false);
    return choose_trace(*task, &*records, FreeLayouts::if_faster)->record;
  };
  EXPECT_EQ(chosen(), free);
  options_.target.cpu().l2.bytes = 1 << 16;
  EXPECT_EQ(chosen(), fixed);
}

// What they take is measured, whatever the records say: so much that the faster one is the same on any
// machine. Where there is no time for that an estimate decides, which knows nothing of these programs.
TEST_F(ChosenRecordTest, ConversionsAreMeasuredWhereThereIsTime) {
  auto records = RecordStore::open(folder("records.db"));
  ASSERT_TRUE(records.has_value());
  const auto workloads = parse_workloads(
      R"([{"name": "c", "op": "expression", "text": "C[i:3000, j:8] = sum(r:1000) A[i,r] * B[r,j]"}])",
      "test");
  const auto append = [&](bool free_layouts, double seconds, const std::string& trace) {
    Record record = record_of(*make_task(workloads->front(), options_.target, free_layouts));
    record.trace = trace;
    record.measurement = measurement_of({seconds});
    return records->append(record).value();
  };
  // Elements 4 KB apart are a line each, and vectors are not.
  const int64_t fixed = append(false, 1, "reorder C i r j\nvectorize C j");
  const int64_t free = append(true, 1e-9, "layout A [1][0]\nlayout C [1][0]");
  testing::InProcessRunner runner;
  options_.runner = &runner;
  options_.records = &*records;
  options_.rejected = [](const std::string& sentence) { ADD_FAILURE() << sentence; };
  const auto chosen = [&] {
    const auto model = compile_operator(workloads->front(), options_);
    EXPECT_TRUE(model.has_value()) << model.error().to_string();
    return model->kernels.front().record;
  };
  EXPECT_EQ(chosen(), fixed);
  options_.watch.deadline = Deadline::in(0);
  EXPECT_EQ(chosen(), free);
}

TEST_F(ChosenRecordTest, ThisProcessorsGoFirst) {
  const auto workloads = parse_workloads(kMatmul, "test");
  options_.target.machine = "this";
  const auto fixed = make_task(workloads->front(), options_.target, false);
  for (const bool free_is_ours : {false, true}) {
    auto records = RecordStore::open(folder(free_is_ours ? "free.db" : "fixed.db"));
    ASSERT_TRUE(records.has_value());
    std::map<bool, int64_t> id;
    for (const bool is_free : {false, true}) {
      Record record = record_of(*make_task(workloads->front(), options_.target, is_free));
      record.trace = "split C i [2]";
      record.machine = is_free == free_is_ours ? "this" : "another";
      record.measurement = measurement_of({record.machine == "this" ? 1e-3 : 1e-6});
      id[is_free] = records->append(record).value();
    }
    EXPECT_EQ(choose_trace(*fixed, &*records, FreeLayouts::if_faster)->record, id[free_is_ours]);
  }
}

// y = (x w) v: the kernels of a network give each other what they compute as it is.
TEST_F(ChosenRecordTest, ANetworkTakesNoLayoutsOfTheProgram) {
  OnnxModel onnx;
  onnx.input("x", {8, 8}).initializer("w", {8, 8}).initializer("v", {8, 8});
  onnx.node("n1", "MatMul", {"x", "w"}, "t").node("n2", "MatMul", {"t", "v"}, "y").output("y");
  std::ofstream(folder("net.onnx"), std::ios::binary) << onnx.bytes();
  const auto network = load_network(folder("net.onnx"), {}, options_.target);
  ASSERT_TRUE(network.has_value()) << network.error().to_string();
  ASSERT_EQ(network->tasks.tasks.size(), 1U);
  const Task& fixed = network->tasks.tasks.front().task;
  Task freed = fixed;
  for (Argument& argument : freed.arguments) argument.layout_is_free = !argument.is_constant;
  ASSERT_NE(hash_of(freed), hash_of(fixed));
  auto records = RecordStore::open(folder("records.db"));
  ASSERT_TRUE(records.has_value());
  Record record = record_of(freed);
  record.trace = "layout " + fixed.dag.computes.back().output->name + " [1][0]";
  record.measurement = measurement_of({1e-9});
  ASSERT_TRUE(records->append(record).has_value());
  options_.records = &*records;
  for (const bool is_tuned : {false, true}) {
    if (is_tuned) {
      record = record_of(fixed);
      record.trace = "";
      record.measurement = measurement_of({1e-3});
      ASSERT_TRUE(records->append(record).has_value());
    }
    const auto model = compile_network(*network, options_);
    ASSERT_TRUE(model.has_value()) << model.error().to_string();
    EXPECT_EQ(model->kernels.front().record, is_tuned ? std::optional<int64_t>(2) : std::nullopt);
  }
}

// Formulas that differ in names alone are one task; its traces speak of the names that came first.
TEST_F(ChosenRecordTest, RecordsUnderOtherNamesGiveTheProgramAndNotItsNames) {
  auto records = RecordStore::open(folder("records.db"));
  ASSERT_TRUE(records.has_value());
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto task = make_task(workloads->front(), options_.target, false);
  const auto renamed =
      make_task("renamed", *parse_dag("Z[a:19, b:21] = sum(k:17) X[a,k] * Y[k,b]"), options_.target, {"Y"});
  ASSERT_TRUE(renamed.has_value()) << renamed.error().to_string();
  ASSERT_EQ(hash_of(*task), hash_of(*renamed));
  Record record = record_of(*renamed);
  record.trace = "split Z a [4]";
  record.measurement = measurement_of({1e-6});
  ASSERT_TRUE(records->append(record).has_value());
  const auto chosen = choose_trace(*task, &*records);
  ASSERT_TRUE(chosen.has_value()) << chosen.error().to_string();
  EXPECT_EQ(to_string(chosen->task.dag), record.task.dag);
  write_matmul(&*records);
  auto artifact = LoadedArtifact::open(folder(), 1);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  EXPECT_EQ(artifact->inputs()[1].name, task->arguments[1].tensor->name);
  check_matmul(*artifact, random_floats(19 * 17, 5), random_floats(17 * 21, 6));
}

// Spoils one element of what these modules, told by their code, compute.
class SpoilingRunner : public testing::InProcessRunner {
 public:
  explicit SpoilingRunner(std::vector<std::string> objects) : objects_(std::move(objects)) {
    spoil = [this](const Module& module, const MeasureInputs&, const testing::Outputs& outputs) {
      if (std::ranges::find(objects_, module.object) != objects_.end()) testing::spoil_element(outputs, 0);
    };
  }

 private:
  std::vector<std::string> objects_;
};

TEST_F(ChosenRecordTest, AProgramThatIsWrongGivesWayToTheNextBest) {
  auto records = RecordStore::open(folder("records.db"));
  ASSERT_TRUE(records.has_value());
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto task = make_task(workloads->front(), options_.target, false);
  Record record = record_of(*task);
  std::vector<std::string> objects;
  for (const char* trace : {"unroll C i", "unroll C j"}) {
    record.trace = trace;
    record.measurement = measurement_of({1e-6 * static_cast<double>(objects.size() + 1)});
    ASSERT_TRUE(records->append(record).has_value());
    const auto compiled = compile_task(*task, *parse_trace(trace), std::nullopt, 0);
    ASSERT_TRUE(compiled.has_value()) << compiled.error().to_string();
    objects.push_back(compiled->module.object);
  }
  options_.records = &*records;
  std::vector<std::string> rejected;
  options_.rejected = [&](const std::string& sentence) { rejected.push_back(sentence); };

  SpoilingRunner spoils_best({objects[0]});
  options_.runner = &spoils_best;
  const auto second = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(second.has_value()) << second.error().to_string();
  EXPECT_EQ(second->kernels.front().record, 2);
  ASSERT_EQ(rejected.size(), 1u);
  EXPECT_THAT(rejected[0], HasSubstr("mm: the program of record 1 of " + records->path() +
                                     " is not used, wrong_result: C[0, 0] is 100"));

  SpoilingRunner spoils_both(objects);
  options_.runner = &spoils_both;
  const auto untuned = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(untuned.has_value()) << untuned.error().to_string();
  EXPECT_FALSE(untuned->kernels.front().record.has_value());

  // A record that was compared before is taken as it is.
  options_.confirmed = {1};
  EXPECT_EQ(compile_operator(workloads->front(), options_)->kernels.front().record, 1);
}

TEST_F(ChosenRecordTest, WhatIsTakenWithoutBeingComparedSaysWhy) {
  const auto workloads = parse_workloads(
      R"([{"name": "n", "op": "expression", "text": "C[i:9] = log(A[i]) + log(0.0 - A[i]) * 2.0"},
          {"name": "b", "op": "expression", "text": "C[i:9] = A[i] < 0.5"}])",
      "test");
  ASSERT_TRUE(workloads.has_value()) << workloads.error().to_string();
  testing::InProcessRunner runner;
  options_.runner = &runner;
  const auto unknown = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(unknown.has_value()) << unknown.error().to_string();
  EXPECT_EQ(unknown->kernels[0].uncompared,
            "output 'C' is infinite or no number for random inputs: programs cannot be compared");
  EXPECT_EQ(runner.runs, 0);
  const auto compared = compile_operator(workloads->back(), options_);
  ASSERT_TRUE(compared.has_value()) << compared.error().to_string();
  EXPECT_EQ(compared->kernels[0].uncompared, std::nullopt);
  EXPECT_EQ(runner.runs, 1);
}

TEST_F(ChosenRecordTest, HowMuchIsComparedIsChosenAndSaid) {
  const auto workloads = parse_workloads(kMatmul, "test");
  testing::InProcessRunner runner;
  options_.runner = &runner;
  const auto compiled = [&] {
    const auto model = compile_operator(workloads->front(), options_);
    EXPECT_TRUE(model.has_value()) << model.error().to_string();
    return model->kernels.front();
  };
  EXPECT_EQ(compiled().checked, Checked::full);
  options_.check = Checked::none;
  const int runs = runner.runs;
  EXPECT_EQ(compiled().checked, Checked::none);
  EXPECT_EQ(runner.runs, runs);
  options_.check = Checked::sampled;
  const CompiledTask sampled = compiled();
  EXPECT_EQ(sampled.checked, Checked::sampled);
  EXPECT_EQ(sampled.uncompared, std::nullopt) << "it was asked for";
  // Where no time is left that is said, whatever was asked for.
  options_.check = Checked::full;
  options_.watch.deadline = Deadline::in(0);
  EXPECT_EQ(compiled().checked, Checked::none);
  EXPECT_EQ(compiled().uncompared, "there was no time left");
  EXPECT_EQ(runner.runs, runs + 1);
}

TEST_F(ChosenRecordTest, AWrongBooleanIsRefused) {
  const auto workloads =
      parse_workloads(R"([{"name": "b", "op": "expression", "text": "C[i:9] = A[i] < 0.5"}])", "test");
  testing::InProcessRunner runner;
  runner.spoil = [](const Module&, const MeasureInputs&, const testing::Outputs& outputs) {
    outputs.front()[3] ^= std::byte{1};
  };
  options_.runner = &runner;
  const auto model = compile_operator(workloads->front(), options_);
  ASSERT_FALSE(model.has_value());
  EXPECT_THAT(model.error().message, StartsWith("no program of it is right: C[3] is "));
}

TEST_F(ChosenRecordTest, ARecordThatDoesNotApplyGivesWayToTheNextBest) {
  auto records = RecordStore::open(folder("records.db"));
  ASSERT_TRUE(records.has_value());
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto task = make_task(workloads->front(), options_.target, false);
  Record record = record_of(*task);
  double seconds = 0;
  for (const char* trace : {"split C zzz [1]", "unroll C yyy", "unroll C j"}) {
    record.trace = trace;
    record.measurement = measurement_of({seconds += 1e-6});
    ASSERT_TRUE(records->append(record).has_value());
  }
  options_.records = &*records;
  std::vector<std::string> rejected;
  options_.rejected = [&](const std::string& sentence) { rejected.push_back(sentence); };
  const auto model = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  EXPECT_EQ(model->kernels.front().record, 3);
  const std::string file = records->path();
  ASSERT_EQ(rejected.size(), 2u);
  EXPECT_THAT(rejected[0], StartsWith("mm: the program of record 1 of " + file +
                                      " is not used, illegal_schedule: split C zzz [1]: block 'C' has no"));
  EXPECT_THAT(rejected[1], StartsWith("mm: the program of record 2 of " + file +
                                      " is not used, illegal_schedule: unroll C yyy: "));
}

}  // namespace
}  // namespace lathe
