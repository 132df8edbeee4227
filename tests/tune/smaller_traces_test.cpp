// Which programs are offered in the place of one that keeps much of its constants.
#include "tune/smaller_traces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/compiler_version.h"
#include "ops/workloads.h"
#include "schedule/apply.h"
#include "space/all.h"
#include "target/all.h"
#include "target/target.h"
#include "task/task_text.h"

namespace lathe {
namespace {

Task convolution() {
  const auto workloads = parse_workloads(R"([{"name": "c", "op": "conv2d", "batch": 1, "in_channels": 24,
      "out_channels": 40, "height": 28, "width": 28, "kernel": 3, "stride": 1, "padding": 1, "dilation": 1, "groups": 1}])",
                                         "test");
  EXPECT_TRUE(workloads) << workloads.error().to_string();
  return make_task(workloads->front(), generic_target("x86-avx512"), false).value();
}

// Traces of the task by the bytes that their programs keep: the model's choices, and what lies beside them.
std::map<int64_t, Trace> traces_by_bytes(const Task& task) {
  const Space space = derive_space(task).value();
  Rng rng(1);
  std::map<int64_t, Trace> traces;
  for (Point point : space.preferred_points()) {
    for (int moved = 0; moved < 8; ++moved) {
      const Result<Trace> trace = space.trace(point);
      const Result<Program> program = trace ? apply_trace(task, *trace) : fail(ErrorKind::not_found, "");
      if (program) traces.emplace(weight_bytes(*program), *trace);
      const Domain& domain = space.sketches()[static_cast<size_t>(point.sketch)].domain;
      point.integers = random_neighbour(domain, point.integers, rng);
    }
  }
  return traces;
}

// Programs that differ in padding alone would take the places of those between the largest and the smallest.
TEST(SmallerTraces, AreSpreadOverWhatTheySave) {
  const Task task = convolution();
  const std::map<int64_t, Trace> traces = traces_by_bytes(task);
  ASSERT_GT(traces.size(), 6U);
  Result<RecordStore> records = RecordStore::open(":memory:");
  ASSERT_TRUE(records) << records.error().to_string();
  double seconds = 1;
  for (auto entry = traces.rbegin(); entry != traces.rend(); ++entry) {
    Record record;
    record.task = text_of(task);
    record.target = task.target.name;
    record.cores = cores_of(task.target);
    record.compiler_version = compiler_version();
    record.trace = to_string(entry->second);
    record.measurement = measurement_of({seconds += 1});
    ASSERT_TRUE(records->append(record));
  }
  const int64_t largest = traces.rbegin()->first;
  const auto smaller = smaller_traces(task, &*records, largest);
  ASSERT_TRUE(smaller) << smaller.error().to_string();
  ASSERT_GT(smaller->traces.size(), 3U);
  EXPECT_LE(smaller->traces.size(), 6U);
  EXPECT_GT(smaller->untuned_cycles, 0);
  int64_t before = largest;
  for (const SmallerTrace& trace : smaller->traces) {
    EXPECT_LE(trace.bytes, before - before / 8);
    EXPECT_TRUE(traces.contains(trace.bytes));
    before = trace.bytes;
  }
  EXPECT_LE(smaller->traces.back().bytes, traces.begin()->first * 8 / 7);
}

// Without records the model's choices come with what it estimates.
TEST(SmallerTraces, AreEstimatedWhereNothingIsRecorded) {
  const Task task = convolution();
  const auto smaller = smaller_traces(task, nullptr, traces_by_bytes(task).rbegin()->first);
  ASSERT_TRUE(smaller) << smaller.error().to_string();
  ASSERT_FALSE(smaller->traces.empty());
  for (const SmallerTrace& trace : smaller->traces) EXPECT_GE(trace.cycles, smaller->untuned_cycles);
}

}  // namespace
}  // namespace lathe
