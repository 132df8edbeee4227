#include "explain/explain.h"

#include <gtest/gtest.h>

#include "explain/comparable.h"
#include "expr/parse.h"
#include "ops/workloads.h"
#include "schedule/apply.h"
#include "target/all.h"
#include "task/task_text.h"

namespace lathe {
namespace {

Task task_of_text(const std::string& text) {
  const auto workloads =
      parse_workloads(R"([{"name": "case", "op": "expression", "text": ")" + text + "\"}]", "test");
  return *make_task(workloads->front(), generic_target("x86-avx2"), false);
}

Record record(int64_t id, const std::string& sketch, const Choices& choices, double seconds) {
  Record record;
  record.id = id;
  record.point = {"lathe", sketch, choices};
  record.measurement.seconds = seconds;
  return record;
}

Record failed(int64_t id, const std::string& sketch, ErrorKind kind) {
  Record made = record(id, sketch, {}, 0);
  made.measurement = failed_measurement(kind, "injected");
  return made;
}

TEST(StageBounds, WorkInRegistersIsLimitedByTheUnitsAndStreamsByMemory) {
  Target target = generic_target("x86-avx2");
  target.cpu().l1 = {.bytes = 32 << 10};
  target.cpu().l2 = {.bytes = 256 << 10};
  target.cpu().l3 = {.bytes = 1 << 20};
  const Roofline roofline{.gflops = 100, .gigabytes = {80, 20, 10}};
  const Task product = task_of_text("C[i:64, j:64] = sum(r:64) A[i,r] * B[r,j]");
  const auto product_bounds = stage_bounds(*apply_trace(product, {}), target, roofline);
  ASSERT_EQ(product_bounds.size(), 1u);
  EXPECT_EQ(product_bounds[0].operations, 2.0 * 64 * 64 * 64);
  EXPECT_EQ(product_bounds[0].bytes[1], 0);  // 48 KB in all: not beyond the second level
  EXPECT_EQ(product_bounds[0].limit, Bottleneck::units);
  EXPECT_DOUBLE_EQ(product_bounds[0].seconds, 2.0 * 64 * 64 * 64 / 100e9);

  const Task stream = task_of_text("C[i:4194304] = A[i] + B[i]");
  const auto stream_bounds = stage_bounds(*apply_trace(stream, {}), target, roofline);
  ASSERT_EQ(stream_bounds.size(), 1u);
  EXPECT_DOUBLE_EQ(stream_bounds[0].bytes[2], 3.0 * 4 * 4194304);
  EXPECT_EQ(stream_bounds[0].limit, Bottleneck::memory);
  EXPECT_DOUBLE_EQ(stream_bounds[0].seconds, 3.0 * 4 * 4194304 / 10e9);
}

TEST(StageBounds, WhatRunsColdBringsConstantsAndOutputsFromMemory) {
  const Target target = generic_target("x86-avx2");
  const Roofline roofline{.gflops = 100, .gigabytes = {80, 20, 10}};
  const Dag dag = parse_dag("C[i:64, j:64] = sum(r:64) A[i,r] * B[r,j]").value();
  const Task product = make_task("t", dag, target, {"B"}).value();
  const Program program = apply_trace(product, {}).value();
  EXPECT_EQ(stage_bounds(program, target, roofline)[0].bytes[2], 0);
  EXPECT_EQ(stage_bounds(program, target, roofline, true)[0].bytes[2], 2 * 4 * 64 * 64);
  // Read twice, and by a second block: it comes once.
  const Dag twice = parse_dag("D[i:64] = B[i] * B[i] C[i:64] = D[i] + B[i]").value();
  const Program shared = apply_trace(make_task("t", twice, target, {"B"}).value(), {}).value();
  const auto bounds = stage_bounds(shared, target, roofline, true);
  ASSERT_EQ(bounds.size(), 2u);
  EXPECT_EQ(bounds[0].bytes[2], 4 * 64);
  EXPECT_EQ(bounds[1].bytes[2], 4 * 64);  // the output
}

TEST(Tried, SketchesAreSortedByTheirBestAndFailuresCounted) {
  const std::vector<Record> records = {record(1, "a", {}, 3e-3), failed(2, "b", ErrorKind::timeout),
                                       record(3, "c", {}, 1e-3), record(4, "a", {}, 2e-3),
                                       failed(5, "a", ErrorKind::timeout)};
  const std::vector<Tried> sketches = tried_sketches(records);
  ASSERT_EQ(sketches.size(), 3u);
  EXPECT_EQ(sketches[0].what, "c");
  EXPECT_EQ(sketches[1].what, "a");
  EXPECT_EQ(sketches[1].trials, 3);
  EXPECT_EQ(sketches[1].failed, 1);
  EXPECT_EQ(sketches[1].best_record, 4);
  EXPECT_FALSE(sketches[2].best_seconds.has_value());
  const std::vector<Tried> kinds = failures(records);
  ASSERT_EQ(kinds.size(), 1u);
  EXPECT_EQ(kinds[0].what, "timeout");
  EXPECT_EQ(kinds[0].trials, 2);
}

TEST(Tried, ValuesAreTheParametersOwnAndThoseNeverVariedAreLeftOut) {
  const auto chosen = [](int64_t order, int64_t swap) {
    return Choices{{"order", {order}}, {"swap", {swap}}};
  };
  std::vector<Record> records = {record(1, "a", chosen(4, 1), 3e-3), record(2, "a", chosen(16, 1), 2e-3),
                                 record(3, "a", chosen(4, 1), 4e-3), record(4, "other", chosen(8, 0), 1e-3),
                                 record(5, "a", chosen(8, 0), 1e-3)};
  records.back().point.space = "another";
  // As files before version 4 hold it: by places.
  records.push_back(record(6, "a", {}, 5e-3));
  records.back().point.integers = {0, 1};
  const Domain domain{{{"order", OrderedParameter{{4, 8, 16}}}, {"swap", CategoricalParameter{2}}}};
  const Sketch sketch{.name = "a", .write = {}, .domain = domain, .preferred = {0, 0}};
  const std::vector<ParameterTried> parameters = tried_values(records, "lathe", sketch);
  ASSERT_EQ(parameters.size(), 1u);
  EXPECT_EQ(parameters[0].name, "order");
  ASSERT_EQ(parameters[0].values.size(), 2u);
  EXPECT_EQ(parameters[0].values[0].what, "16");
  EXPECT_EQ(parameters[0].values[1].what, "4");
  EXPECT_EQ(parameters[0].values[1].trials, 3);
  EXPECT_EQ(parameters[0].values[1].best_seconds, 3e-3);
}

std::vector<int64_t> ids_of(const Comparable& compared) {
  std::vector<int64_t> ids;
  for (const Record& made : compared.records) ids.push_back(made.id);
  return ids;
}

TEST(Comparable, ProcessorsAndVersionsAreNotMixed) {
  std::vector<Record> records;
  for (const auto& [machine, version] :
       {std::pair("here", "2"), std::pair("there", "2"), std::pair("here", "1"), std::pair("here", "2"),
        std::pair("there", "2")}) {
    Record made = record(static_cast<int64_t>(records.size()) + 1, "a", {}, 1e-3);
    made.machine = machine;
    made.compiler_version = version;
    records.push_back(made);
  }
  EXPECT_EQ(ids_of(comparable(records, "here", "2")), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(comparable(records, "here", "2").left_aside, 3u);
  // Nothing of this machine and version, or nothing that works: what was recorded last.
  EXPECT_EQ(ids_of(comparable(records, "here", "3")), (std::vector<int64_t>{2, 5}));
  for (size_t i : {0, 3}) records[i].measurement = failed_measurement(ErrorKind::crash, "injected");
  EXPECT_EQ(ids_of(comparable(records, "here", "2")), (std::vector<int64_t>{2, 5}));
  for (Record& made : records) made.measurement = failed_measurement(ErrorKind::crash, "injected");
  EXPECT_EQ(comparable(records, "here", "2").records.size(), 5u);
}

TEST(Explain, TellsTheBestProgramWithAndWithoutARoofline) {
  const Task task = task_of_text("C[i:64, j:64] = sum(r:64) A[i,r] * B[r,j]");
  Record slow = record(1, "a", {}, 2e-3);
  Record fast = record(2, "b", {}, 1e-3);
  for (Record* made : {&slow, &fast}) {
    made->task = text_of(task);
    made->target = task.target.name;
  }
  fast.trace = "split C j [8]\nvectorize C j.1\n";
  const std::vector<Record> records = {slow, fast};
  const auto plain = explain(records, std::nullopt);
  ASSERT_TRUE(plain.has_value()) << plain.error().to_string();
  EXPECT_EQ(plain->best.id, 2);
  EXPECT_EQ(plain->flops, 2.0 * 64 * 64 * 64);
  ASSERT_EQ(plain->steps.size(), 2u);
  EXPECT_EQ(plain->steps[1].subject, "C");
  EXPECT_EQ(plain->steps[1].words, "runs loop j.1 as vectors");
  EXPECT_TRUE(plain->sketches[0].stages.empty());
  const auto bounded = explain(records, Roofline{.gflops = 100, .gigabytes = {80, 20, 10}});
  ASSERT_TRUE(bounded.has_value());
  ASSERT_EQ(bounded->sketches.size(), 2u);
  EXPECT_EQ(bounded->sketches[1].tried.what, "a");
  EXPECT_GE(bounded->sketches[1].bound_seconds(), 2.0 * 64 * 64 * 64 / 100e9);

  const std::vector<Record> none = {failed(1, "a", ErrorKind::crash)};
  EXPECT_EQ(explain(none, std::nullopt).error().message, "no record of this task has a program that works");
}

}  // namespace
}  // namespace lathe
