#include "trial_seconds.h"

#include <algorithm>
#include <cstring>
#include <ranges>

#include "base/rng.h"
#include "compile/compile.h"
#include "measure/statistics.h"
#include "measure/timing.h"
#include "runtime/launch.h"

namespace lathe {
namespace {

// Small positive numbers: nothing that is computed of them becomes slow to compute with. Other types stay 0,
// which leads no index outside.
void fill(Instance& instance, const Task& task) {
  Rng rng(1);
  for (size_t i = 0; i < task.arguments.size(); ++i) {
    if (task.arguments[i].is_output || task.arguments[i].tensor->dtype != DType::f32) continue;
    const std::span<std::byte> bytes = instance.buffer(i);
    for (size_t at = 0; at + sizeof(float) <= bytes.size(); at += sizeof(float)) {
      const auto value = static_cast<float>(0.5 + 0.5 * rng.uniform());
      std::memcpy(bytes.data() + at, &value, sizeof value);
    }
  }
}

Result<Instance> instance_of(const Task& task, const Trace& trace) {
  LATHE_TRY(const Module module, compile(task, trace));
  LATHE_TRY(Instance instance, Instance::create(module));
  fill(instance, task);
  LATHE_TRY_STATUS(instance.prepare());
  LATHE_TRY_STATUS(instance.run());
  return instance;
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

}  // namespace

Result<std::vector<double>> trial_seconds(const Task& task, const std::vector<Trace>& traces, int rounds) {
  std::vector<Instance> instances;
  for (const Trace& trace : traces) {
    LATHE_TRY(Instance instance, instance_of(task, trace));
    instances.push_back(std::move(instance));
  }
  constexpr TimingOptions kTiming{.sample_seconds = 2e-3, .min_samples = 3, .max_samples = 3};
  std::vector<std::vector<double>> seconds(traces.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < instances.size(); ++i) {
      const auto run = [&] { static_cast<void>(instances[i].run()); };
      const double estimate = warm_up(run, kTiming);
      seconds[i].push_back(robust_centre(take_samples(run, estimate, kTiming)));
    }
  }
  std::vector<double> medians;
  for (std::vector<double>& of_one : seconds) medians.push_back(median(std::move(of_one)));
  return medians;
}

}  // namespace lathe
