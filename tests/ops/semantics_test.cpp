// The operators' naive programs against their formulas, written as plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "loop/interpret.h"
#include "ops/all.h"
#include "ops/pool.h"
#include "target/all.h"
#include "task/task.h"

namespace lathe {
namespace {

using Index = std::vector<int64_t>;

// Read access with zeros outside.
double at(const HostTensor& tensor, const Index& index) {
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d) {
    if (index[d] < 0 || index[d] >= tensor.shape[d]) return 0;
    offset = offset * tensor.shape[d] + index[d];
  }
  return tensor.values[static_cast<size_t>(offset)];
}

// Calls `visit` for every index of a shape, in row-major order.
template <class Visit>
void for_each_index(const Index& shape, const Visit& visit) {
  Index index(shape.size(), 0);
  const auto descend = [&](const auto& self, size_t d) -> void {
    if (d == shape.size()) return visit(index);
    for (index[d] = 0; index[d] < shape[d]; ++index[d]) self(self, d + 1);
  };
  descend(descend, 0);
}

template <class Term>
double sum_over(const Index& shape, const Term& term) {
  double total = 0;
  for_each_index(shape, [&](const Index& index) { total += term(index); });
  return total;
}

struct Sample {
  std::vector<HostTensor> inputs;
  HostTensor output;
};

Sample run(const Dag& dag, int64_t integer_limit = 4) {
  Result<Task> task = make_task("t", dag, generic_target("x86-avx2"));
  EXPECT_TRUE(task.has_value());
  Sample result;
  Rng rng(11);
  for (const Tensor& input : dag.inputs) result.inputs.push_back(random_like(input, rng, integer_limit));
  Result<Interpretation> interpretation = interpret(naive_program(*task), result.inputs);
  EXPECT_TRUE(interpretation.has_value()) << (interpretation ? "" : interpretation.error().to_string());
  if (interpretation) result.output = interpretation->outputs.at(0);
  return result;
}

Dag dag_of(std::string_view op, std::string_view parameters) {
  Result<Operator> result = make_operator(op, nlohmann::json::parse(parameters));
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().to_string());
  return result.value_or(Operator{}).dag;
}

template <class Formula>
void expect_formula(const Sample& run, const Index& shape, const Formula& formula) {
  ASSERT_EQ(run.output.shape, shape);
  for_each_index(shape, [&](const Index& index) {
    const double expected = formula(index);
    EXPECT_NEAR(at(run.output, index), expected, 1e-4 * std::max(1.0, std::abs(expected)));
  });
}

TEST(OperatorSemantics, Products) {
  const Sample mm = run(dag_of("matmul", R"({"batch": 2, "m": 3, "n": 4, "k": 5})"));
  expect_formula(mm, {2, 3, 4}, [&](const Index& o) {
    return sum_over({5}, [&](const Index& r) {
      return at(mm.inputs[0], {o[0], o[1], r[0]}) * at(mm.inputs[1], {o[0], r[0], o[2]});
    });
  });
  const Sample mv = run(dag_of("gemv", R"({"m": 3, "k": 5})"));
  expect_formula(mv, {3}, [&](const Index& o) {
    return sum_over({5},
                    [&](const Index& r) { return at(mv.inputs[0], {o[0], r[0]}) * at(mv.inputs[1], r); });
  });
  const Sample bil =
      run(dag_of("bilinear", R"({"batch": 2, "out_features": 3, "in1_features": 4, "in2_features": 5})"));
  expect_formula(bil, {2, 3}, [&](const Index& o) {
    return sum_over({4, 5}, [&](const Index& r) {
      return at(bil.inputs[0], {o[0], r[0]}) * at(bil.inputs[1], {o[1], r[0], r[1]}) *
             at(bil.inputs[2], {o[0], r[1]});
    });
  });
}

double conv_at(const Sample& run, const Index& o, int64_t groups, int64_t stride, int64_t padding,
               int64_t dilation) {
  const Index& weight = run.inputs[1].shape;
  const int64_t first = o[1] / (weight[0] / groups) * weight[1];
  return sum_over(Index(weight.begin() + 1, weight.end()), [&](const Index& r) {
    Index source = {o[0], first + r[0]};
    Index tap = {o[1], r[0]};
    for (size_t d = 1; d < r.size(); ++d) {
      source.push_back(o[d + 1] * stride + r[d] * dilation - padding);
      tap.push_back(r[d]);
    }
    return at(run.inputs[0], source) * at(run.inputs[1], tap);
  });
}

TEST(OperatorSemantics, Convolutions) {
  const Sample one = run(dag_of("conv1d", R"({"batch": 2, "length": 7, "in_channels": 3, "out_channels": 2,
                                           "kernel": 3, "stride": 2, "padding": 1})"));
  expect_formula(one, {2, 2, 4}, [&](const Index& o) { return conv_at(one, o, 1, 2, 1, 1); });
  const Sample two = run(dag_of("conv2d", R"({"batch": 1, "height": 7, "width": 6, "in_channels": 4,
                        "out_channels": 6, "kernel": 3, "stride": 1, "padding": 2, "dilation": 2, "groups": 2})"));
  expect_formula(two, {1, 6, 7, 6}, [&](const Index& o) { return conv_at(two, o, 2, 1, 2, 2); });
  const Sample three =
      run(dag_of("conv3d", R"({"batch": 1, "depth": 4, "height": 5, "width": 3, "in_channels": 2,
                                             "out_channels": 2, "kernel": 2, "stride": 1, "padding": 0})"));
  expect_formula(three, {1, 2, 3, 4, 2}, [&](const Index& o) { return conv_at(three, o, 1, 1, 0, 1); });
  const Sample fused = run(dag_of("conv2d_bn_relu", R"({"batch": 1, "height": 5, "width": 5, "in_channels": 2,
                                 "out_channels": 3, "kernel": 3, "stride": 2, "padding": 1})"));
  expect_formula(fused, {1, 3, 3, 3}, [&](const Index& o) {
    const double value =
        conv_at(fused, o, 1, 2, 1, 1) * at(fused.inputs[2], {o[1]}) + at(fused.inputs[3], {o[1]});
    return std::max(value, 0.0);
  });
  const Sample depthwise =
      run(dag_of("depthwise_conv2d", R"({"batch": 1, "height": 5, "width": 6, "channels": 3,
                                     "kernel": 3, "stride": 2, "padding": 1, "multiplier": 2})"));
  expect_formula(depthwise, {1, 6, 3, 3}, [&](const Index& o) {
    return sum_over({3, 3}, [&](const Index& k) {
      return at(depthwise.inputs[0], {0, o[1] / 2, 2 * o[2] + k[0] - 1, 2 * o[3] + k[1] - 1}) *
             at(depthwise.inputs[1], {o[1] / 2, o[1] % 2, k[0], k[1]});
    });
  });
}

// The gradient's own formula: input points scatter, instead of the three computes' gathering.
double transposed_at(const Sample& run, const Index& o, int64_t stride, int64_t padding) {
  const Index& weight = run.inputs[1].shape;
  Index taps = {weight[0]};
  taps.insert(taps.end(), weight.begin() + 2, weight.end());
  return sum_over(taps, [&](const Index& r) {
    Index source = {o[0], r[0]};
    Index tap = {r[0], o[1]};
    for (size_t d = 1; d < r.size(); ++d) {
      const int64_t spread = o[d + 1] + padding - r[d];
      if (spread < 0 || spread % stride != 0) return 0.0;
      source.push_back(spread / stride);
      tap.push_back(r[d]);
    }
    return at(run.inputs[0], source) * at(run.inputs[1], tap);
  });
}

TEST(OperatorSemantics, TransposedConvolutions) {
  const Sample two = run(dag_of("conv2d_transpose", R"({"batch": 2, "height": 4, "width": 3, "in_channels": 2,
                                "out_channels": 3, "kernel": 4, "stride": 2, "padding": 1})"));
  expect_formula(two, {2, 3, 8, 6}, [&](const Index& o) { return transposed_at(two, o, 2, 1); });
  // More padding than the kernel covers cuts the result; stride 1 spreads nothing.
  const Sample cut = run(dag_of("conv1d_transpose", R"({"batch": 1, "length": 6, "in_channels": 2,
                                "out_channels": 2, "kernel": 1, "stride": 2, "padding": 1})"));
  expect_formula(cut, {1, 2, 9}, [&](const Index& o) { return transposed_at(cut, o, 2, 1); });
  const Sample three = run(dag_of("conv3d_transpose", R"({"batch": 1, "depth": 2, "height": 3, "width": 2,
                     "in_channels": 2, "out_channels": 2, "kernel": 3, "stride": 1, "padding": 1})"));
  expect_formula(three, {1, 2, 2, 3, 2}, [&](const Index& o) { return transposed_at(three, o, 1, 1); });
}

TEST(OperatorSemantics, AttentionScores) {
  const Sample tbs = run(
      dag_of("transpose_batch_matmul_softmax", R"({"batch": 2, "sequence": 3, "heads": 2, "head_dim": 4})"));
  const auto score = [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    return sum_over({4}, [&](const Index& d) {
      return at(tbs.inputs[0], {b, i, h, d[0]}) * at(tbs.inputs[1], {b, j, h, d[0]});
    });
  };
  expect_formula(tbs, {2, 2, 3, 3}, [&](const Index& o) {
    const double total =
        sum_over({3}, [&](const Index& j) { return std::exp(score(o[0], o[1], o[2], j[0])); });
    return std::exp(score(o[0], o[1], o[2], o[3])) / total;
  });
}

TEST(OperatorSemantics, OperatorsOfTheirOwn) {
  const Sample norm = run(dag_of("frobenius_norm", R"({"batch": 2, "m": 3, "n": 4})"));
  expect_formula(norm, {2}, [&](const Index& o) {
    return std::sqrt(sum_over({3, 4}, [&](const Index& r) {
      return at(norm.inputs[0], {o[0], r[0], r[1]}) * at(norm.inputs[0], {o[0], r[0], r[1]});
    }));
  });
  const Sample circulant = run(dag_of("block_circulant_matrix", R"({"rows": 9, "cols": 10, "block": 4})"));
  expect_formula(circulant, {9, 10}, [&](const Index& o) {
    if (o[0] >= 8 || o[1] >= 8) return 0.0;
    const int64_t j = (o[1] % 4 + 4 - o[0] % 4) % 4;
    return sum_over({4}, [&](const Index& k) {
      return at(circulant.inputs[0], {o[0] / 4 * 4 + k[0], o[1] / 4 * 4 + (j + k[0]) % 4}) / 4;
    });
  });
  const Sample shift =
      run(dag_of("shift_conv2d",
                 R"({"batch": 2, "height": 5, "width": 4, "channels": 6, "kernel": 3, "dilation": 2})"),
          9);
  expect_formula(shift, {2, 5, 4, 6}, [&](const Index& o) {
    const auto s = static_cast<int64_t>(at(shift.inputs[1], {o[3]}));
    return at(shift.inputs[0], {o[0], o[1] + s / 3 * 2 - 2, o[2] + s % 3 * 2 - 2, o[3]});
  });
  const Sample capsule =
      run(dag_of("capsule_conv2d", R"({"batch": 1, "height": 4, "width": 3, "in_channels": 2,
                     "out_channels": 2, "kernel": 3, "stride": 2, "padding": 1, "capsule": 2})"));
  expect_formula(capsule, {1, 2, 2, 2, 2, 2}, [&](const Index& o) {
    return sum_over({3, 3, 2, 2}, [&](const Index& r) {
      return at(capsule.inputs[0], {0, o[1] * 2 + r[0] - 1, o[2] * 2 + r[1] - 1, r[2], o[4], r[3]}) *
             at(capsule.inputs[1], {r[0], r[1], r[2], o[3], r[3], o[5]});
    });
  });
}

TEST(OperatorSemantics, Poolings) {
  DagBuilder largest;
  max_pool(largest, "P", largest.input("X", {1, 2, 5, 5}), {3, 3}, uniform_window(2, 2, 1));
  const Sample pooled = run(largest.build().value());
  expect_formula(pooled, {1, 2, 3, 3}, [&](const Index& o) {
    double value = -INFINITY;
    for_each_index({3, 3}, [&](const Index& k) {
      const int64_t y = 2 * o[2] + k[0] - 1;
      const int64_t x = 2 * o[3] + k[1] - 1;
      if (y >= 0 && y < 5 && x >= 0 && x < 5) value = std::max(value, at(pooled.inputs[0], {0, o[1], y, x}));
    });
    return value;
  });
  DagBuilder mean;
  global_average_pool(mean, "P", mean.input("X", {1, 2, 3, 5}));
  const Sample average = run(mean.build().value());
  expect_formula(average, {1, 2, 1, 1}, [&](const Index& o) {
    return sum_over({3, 5},
                    [&](const Index& k) { return at(average.inputs[0], {0, o[1], k[0], k[1]}) / 15; });
  });
}

}  // namespace
}  // namespace lathe
