// A new operator, from its formula to tuned machine code that is compared with plain loops.
//
//   build/release/examples/02_new_operator build/release/bin/lathe-worker
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "compile/compile.h"
#include "evaluate/local_evaluator.h"
#include "expr/dag.h"
#include "measure/measurer.h"
#include "records/record_store.h"
#include "runtime/launch.h"
#include "target/detect.h"
#include "task/task.h"
#include "tune/choose_trace.h"
#include "tune/tune.h"

using namespace lathe;

namespace {

constexpr int kPoints = 70, kCentres = 30, kDepth = 17;

// The squared distance of every point to every centre.
Result<Dag> squared_distances() {
  DagBuilder builder;
  const Tensor p = builder.input("P", {kPoints, kDepth}), c = builder.input("C", {kCentres, kDepth});
  const Axis i = spatial("i", kPoints), j = spatial("j", kCentres), r = reduce("r", kDepth);
  const Expr difference = p(i, r) - c(j, r);
  builder.compute("D", {i, j}, sum({r}, difference * difference));
  return builder.build();
}

// Whole numbers, so that every order of summation gives the same result.
std::vector<float> whole_numbers(int count, int step) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(i * step % 11 - 5));
  return values;
}

int count_errors(const std::vector<float>& p, const std::vector<float>& c, const std::vector<float>& d) {
  int errors = 0;
  for (int i = 0; i < kPoints; ++i) {
    for (int j = 0; j < kCentres; ++j) {
      float expected = 0;
      for (int r = 0; r < kDepth; ++r) {
        const float difference = p[i * kDepth + r] - c[j * kDepth + r];
        expected += difference * difference;
      }
      if (d[i * kCentres + j] != expected) ++errors;
    }
  }
  return errors;
}

Result<int> tune_and_check(const char* worker) {
  LATHE_TRY(Dag dag, squared_distances());
  LATHE_TRY(const Target target, detect_target());
  LATHE_TRY(const Task task, make_task("squared_distances", std::move(dag), with_cores(target, 1)));

  // Tuning measures in a worker process. Records in a file would let the next run go on.
  MeasureOptions measuring;
  measuring.worker_path = worker;
  LATHE_TRY(Measurer measurer, Measurer::start(measuring));
  LocalEvaluator evaluator(measurer);
  LATHE_TRY(RecordStore records, RecordStore::open(":memory:"));
  LATHE_TRY(const auto results, tune_cases({task}, {}, {.trials = 8}, evaluator, records, {}));
  std::printf("%d trials, best %.3f us\n", static_cast<int>(results[0].progress.trials),
              results[0].progress.best_seconds * 1e6);

  // The best recorded program; with nullptr in place of the records: trial 0, which needs no measurement.
  LATHE_TRY(const ChosenTrace chosen, choose_trace(task, &records));
  LATHE_TRY(const Trace trace, chosen.trace);
  LATHE_TRY(const Module module, compile(chosen.task, trace));
  LATHE_TRY(Instance program, Instance::create(module));
  const std::vector<float> p = whole_numbers(kPoints * kDepth, 3), c = whole_numbers(kCentres * kDepth, 7);
  std::vector<float> d(kPoints * kCentres, NAN);
  // The arguments' places: the inputs in their order, then the outputs.
  std::memcpy(program.buffer(0).data(), p.data(), p.size() * sizeof(float));
  std::memcpy(program.buffer(1).data(), c.data(), c.size() * sizeof(float));
  LATHE_TRY_STATUS(program.prepare());
  LATHE_TRY_STATUS(program.run());
  std::memcpy(d.data(), program.buffer(2).data(), d.size() * sizeof(float));
  return count_errors(p, c, d);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: 02_new_operator LATHE-WORKER\n");
    return 1;
  }
  const Result<int> errors = tune_and_check(arguments[1]);
  if (!errors) {
    std::fprintf(stderr, "%s\n", errors.error().to_string().c_str());
    return 1;
  }
  std::printf("%d of %d elements are wrong\n", *errors, kPoints * kCentres);
  return *errors == 0 ? 0 : 1;
}
