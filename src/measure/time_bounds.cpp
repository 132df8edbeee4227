#include "measure/time_bounds.h"

#include <algorithm>
#include <cmath>

#include "expr/function_costs.h"
#include "expr/loop_counts.h"

namespace lathe {
namespace {

constexpr double kClock = 4e9;
constexpr double kVectorsPerCycle = 2;
constexpr double kBytesPerSecond = 20e9;
// Of a limit, whatever the task.
constexpr double kLeastLimit = 10;
// How many times as long as at the fastest a program takes that is bad, or naive: scalars from memory.
constexpr double kBad = 20;
constexpr double kNaive = 400;

// The reference reaches a sixteenth of the peak in double, or, where it is evaluated, this.
constexpr double kShareOfPeak = 1.0 / 16;
constexpr double kEvaluatedPerSecond = 2e7;
constexpr double kPointsWorthCompiling = 1 << 20;
constexpr double kCompileSeconds = 0.08;
// To draw one element, and to convert, copy and compare it.
constexpr double kDrawingSeconds = 30e-9;
constexpr double kComparingSeconds = 80e-9;

double multiply_adds_per_second(const Task& task, int element_bytes) {
  return kClock * kVectorsPerCycle * lanes_of(task.target, element_bytes);
}

double multiply_adds_of(const Compute& compute) {
  return points_of(compute) * multiply_adds_of_point(compute.body);
}

double elements_of(const Dag& dag) {
  double elements = 0;
  for (const auto* tensors : {&dag.inputs, &dag.outputs}) {
    for (const Tensor& tensor : *tensors) elements += static_cast<double>(tensor.elements());
  }
  return elements;
}

}  // namespace

double fastest_seconds(const Task& task) {
  double multiply_adds = 0;
  for (const Compute& compute : task.dag.computes) multiply_adds += multiply_adds_of(compute);
  return std::max(multiply_adds / (multiply_adds_per_second(task, 4) * cores_of(task.target)),
                  static_cast<double>(bytes_of(task.dag)) / kBytesPerSecond);
}

double candidate_limit_seconds(const Task& task) { return kLeastLimit + kBad * fastest_seconds(task); }

double program_limit_seconds(const Task& task) {
  return kLeastLimit + kNaive * cores_of(task.target) * fastest_seconds(task);
}

double full_check_seconds(const Task& task) {
  const double compiled = multiply_adds_per_second(task, 8) * kShareOfPeak;
  double seconds = 0;
  for (const Compute& compute : task.dag.computes) {
    const double points = points_of(compute);
    const bool is_compiled = points >= kPointsWorthCompiling && is_float(compute.output->dtype);
    seconds +=
        is_compiled ? kCompileSeconds + multiply_adds_of(compute) / compiled : points / kEvaluatedPerSecond;
  }
  return seconds + elements_of(task.dag) * kComparingSeconds + fastest_seconds(task);
}

double drawing_seconds(const Dag& dag) { return elements_of(dag) * kDrawingSeconds; }

}  // namespace lathe
