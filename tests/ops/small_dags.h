// Small Dags for the tests of the operator library: their text, and what they compute of given numbers.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "expr/print.h"
#include "loop/evaluate.h"
#include "ops/all.h"

namespace lathe::ops_testing {

// What the builder holds, as text, or why it is no Dag.
inline std::string text_of(const DagBuilder& builder) {
  const Result<Dag> dag = builder.build();
  return dag ? to_string(*dag) : dag.error().to_string();
}

// The first output for these inputs, row-major each.
inline std::vector<double> computed(const Result<Dag>& dag, const std::vector<std::vector<double>>& inputs) {
  EXPECT_TRUE(dag) << dag.error().to_string();
  if (!dag) return {};
  std::vector<HostTensor> tensors;
  for (size_t i = 0; i < dag->inputs.size(); ++i) {
    tensors.push_back(zeros_like(dag->inputs[i]));
    tensors.back().values = inputs.at(i);
  }
  const Result<std::vector<HostTensor>> outputs = evaluate(*dag, tensors);
  EXPECT_TRUE(outputs) << outputs.error().to_string();
  return outputs ? outputs->front().values : std::vector<double>();
}

// 1, 2 .. count.
inline std::vector<double> counted(size_t count) {
  std::vector<double> values;
  for (size_t i = 1; i <= count; ++i) values.push_back(static_cast<double>(i));
  return values;
}

// The operator of these parameters, JSON.
inline Result<Operator> operator_of(std::string_view op, std::string_view parameters) {
  return make_operator(op, nlohmann::json::parse(parameters));
}

// The sentence with which it is refused, or "made".
inline std::string refusal_of(std::string_view op, std::string_view parameters) {
  const Result<Operator> made = operator_of(op, parameters);
  return made ? "made" : made.error().to_string();
}

}  // namespace lathe::ops_testing
