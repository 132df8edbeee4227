#include "measure/time_bounds.h"

#include <algorithm>
#include <cmath>

#include "expr/loop_counts.h"
#include "expr/walk.h"

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

// To a constant exponent: a few products or a root, products in double, or as to any other.
double cost_of_power(double exponent) {
  constexpr double kProducts = 40;
  constexpr double kAnyPower = 500;
  if (exponent == 0.5 || exponent == -0.5) return kProducts;
  if (exponent != std::floor(exponent) || std::abs(exponent) > 16) return kAnyPower;
  return exponent >= 0 && exponent <= 3 ? 0 : kProducts;
}

double cost_of(const Unary& e) {
  switch (e.op) {
    case UnaryOp::exp: return 40;
    case UnaryOp::log:
    case UnaryOp::tanh:
    case UnaryOp::erf: return 60;
    case UnaryOp::sqrt: return 20;
    case UnaryOp::sin:
    case UnaryOp::cos: return 250;
    default: return 0;
  }
}

double cost_of(const Binary& e) {
  const bool is_of_integers = !is_float(e.a.type().dtype);
  const Literal* constant = e.b.as<Literal>();
  if (e.op == BinaryOp::pow) return constant != nullptr ? cost_of_power(constant->value) : 500;
  if (constant != nullptr) return 0;
  if (e.op == BinaryOp::div || e.op == BinaryOp::mod) return is_of_integers ? 250 : 15;
  return 0;
}

// How many multiply-adds of four bytes last as long as a compute, whose functions outweigh all else: each by
// what it takes over 4,096 elements in the first-level cache.
double multiply_adds_of(const Compute& compute) {
  double of_point = 1;
  for_each(compute.body, [&](const Expr& e) {
    if (const Unary* unary = e.as<Unary>()) of_point += cost_of(*unary);
    if (const Binary* binary = e.as<Binary>()) of_point += cost_of(*binary);
  });
  return points_of(compute) * of_point;
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
