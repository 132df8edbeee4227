// Runs candidates in this process and gives each a time that follows from its code alone: what a tuner does
// with one seed can be foreseen. A test may spoil what a candidate computed before it is checked.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "evaluate/local_evaluator.h"
#include "measure/candidate_runner.h"
#include "runtime/launch.h"

namespace lathe::testing {

using Outputs = std::vector<std::span<std::byte>>;

class InProcessRunner : public CandidateRunner {
 public:
  std::function<void(const Module&, const MeasureInputs&, const Outputs&)> spoil;
  std::function<double(const Module&)> seconds = [](const Module& module) {
    return 1e-6 * static_cast<double>(1 + hash_text(module.object) % 1000);
  };
  int runs = 0;

  Result<Measurement> measure(const Module& module, const MeasureInputs& inputs) override {
    LATHE_TRY(const std::optional<MeasureFailure> failure, verify(module, inputs));
    if (failure) return failed_measurement(failure->kind, failure->message);
    return measurement_of({seconds(module)});
  }

  Result<std::optional<MeasureFailure>> verify(const Module& module, const MeasureInputs& inputs) override {
    ++runs;
    LATHE_TRY(Instance instance, Instance::create(module));
    Outputs outputs;
    for (size_t i = 0; i < module.buffers.size(); ++i) {
      const std::span<std::byte> buffer = instance.buffer(i);
      const BufferRole role = module.buffers[i].role;
      if (role == BufferRole::output) outputs.push_back(buffer);
      if (role == BufferRole::input || role == BufferRole::constant) inputs.buffers[i].write(buffer);
    }
    LATHE_TRY_STATUS(instance.prepare());
    LATHE_TRY_STATUS(instance.run());
    if (spoil) spoil(module, inputs, outputs);
    const Status checked = check(inputs, outputs);
    if (checked) return std::nullopt;
    return MeasureFailure{checked.error().kind, checked.error().to_string()};
  }

  static Status check(const MeasureInputs& inputs, const Outputs& outputs) {
    const std::vector<std::span<const std::byte>> bytes(outputs.begin(), outputs.end());
    return inputs.check(bytes);
  }
};

// The place in the buffer of an element that the sampled points leave out: with any number in it the outputs
// pass, with NaN they do not (so it is no padding). -1 where there is none.
inline int64_t place_that_sampling_misses(const MeasureInputs& inputs, const Outputs& outputs) {
  const std::span<std::byte> bytes = outputs.front();
  const auto passes_with = [&](size_t place, float value) {
    float kept = 0;
    std::memcpy(&kept, bytes.data() + place, sizeof kept);
    std::memcpy(bytes.data() + place, &value, sizeof value);
    const bool passes = InProcessRunner::check(inputs, outputs).has_value();
    std::memcpy(bytes.data() + place, &kept, sizeof kept);
    return passes;
  };
  for (size_t place = 0; place < bytes.size(); place += sizeof(float)) {
    if (passes_with(place, 100) && !passes_with(place, NAN)) return static_cast<int64_t>(place);
  }
  return -1;
}

// Puts a wrong number there.
inline void spoil_element(const Outputs& outputs, int64_t place) {
  const float wrong = 100;
  std::memcpy(outputs.front().data() + place, &wrong, sizeof wrong);
}

}  // namespace lathe::testing
