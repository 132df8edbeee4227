// A fixture that runs a hand-written program on every backend.
#pragma once

#include <gtest/gtest.h>

#include "codegen/lowered_builder.h"
#include "codegen/machine.h"

namespace lathe::testing {

inline std::vector<double> counted(int64_t count, double first = 0) {
  std::vector<double> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<double>(i);
  return values;
}

// Small whole numbers: sums and products of them are exact in f32.
inline std::vector<double> scattered(int64_t count, int64_t factor) {
  std::vector<double> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>((static_cast<int64_t>(i) * factor + 3) % 17 - 8);
  }
  return values;
}

// Runs give the values of the first output.
class BackendTest : public ::testing::TestWithParam<Backend> {
 protected:
  std::vector<double> result(const LoweredProgram& lowered, const std::vector<std::vector<double>>& inputs,
                             int pool_threads = 0) {
    std::vector<HostTensor> tensors;
    for (const Argument& argument : lowered.program.arguments) {
      if (!argument.is_output)
        tensors.push_back({argument.tensor->dtype, argument.tensor->shape, inputs[tensors.size()]});
    }
    const auto outputs = run_machine(lowered, GetParam(), tensors, pool_threads);
    EXPECT_TRUE(outputs) << outputs.error().to_string();
    return outputs ? outputs->at(0).values : std::vector<double>();
  }
  // out[i] = value(i) for i below the output's size, by a scalar loop.
  std::vector<double> map(LoweredBuilder& builder, const Tensor& out, const Var& i, const Expr& value,
                          const std::vector<std::vector<double>>& inputs) {
    builder.main(loop(i, out.elements(), store(out, i, value)));
    return result(builder.lowered(), inputs);
  }
};

inline const auto kAllBackends = ::testing::Values(Backend::llvm, Backend::c);
inline std::string backend_name(const ::testing::TestParamInfo<Backend>& info) {
  return to_string(info.param);
}

}  // namespace lathe::testing
