// The fast reference gives what the evaluator gives, whichever way a compute takes.
#include "check/reference.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "loop/evaluate.h"
#include "lower/programs.h"
#include "target/detect.h"
#include "tune/in_process_runner.h"

namespace lathe::testing {
namespace {

// Compares every element and returns how many computes ran as machine code.
int compare_with_evaluator(const std::string& text) {
  const Task task = task_of(text);
  Rng rng(5);
  std::vector<HostTensor> inputs;
  for (const Tensor& input : task.dag.inputs) inputs.push_back(random_like(input, rng));
  const Result<std::vector<HostTensor>> expected = evaluate(task.dag, inputs);
  EXPECT_TRUE(expected) << expected.error().to_string();
  InProcessRunner runner;
  std::vector<StoredTensor> stored;
  for (const HostTensor& input : inputs) stored.push_back(store(input));
  const Result<std::vector<HostTensor>> found =
      compute_reference(task.dag, stored, detect_target().value(), runner);
  EXPECT_TRUE(found) << found.error().to_string();
  EXPECT_EQ(found->front().dtype, expected->front().dtype);
  EXPECT_LE(difference(*expected, *found), 1e-12) << text;
  return runner.runs;
}

TEST(ComputeReference, RunsLargeComputesAsMachineCode) {
  EXPECT_EQ(compare_with_evaluator("C[i:131, j:75] = sum(r:113) A[i, r] * B[r, j]"), 1);
  EXPECT_EQ(compare_with_evaluator("C[i:131, j:75] = sum(r:113) A[i, r] * B[j, r]"), 1);
  EXPECT_EQ(
      compare_with_evaluator("C[n:1, f:18, y:29, x:29] = sum(c:9, v:3, u:3) I[n, c, y * 2 + v, x * 2 + u] "
                             "* W[f, c, v, u]"),
      1);
}

TEST(ComputeReference, TakesTheEvaluatorForTheRest) {
  EXPECT_EQ(compare_with_evaluator("C[i:13, j:7] = sum(r:11) A[i, r] * B[r, j]"), 0);
  // The bits of an f32 are no double's.
  EXPECT_EQ(compare_with_evaluator("S[i:37] = sum(r:30001) bit_cast(f32, bit_cast(u32, A[i, r]))"), 0);
  EXPECT_EQ(compare_with_evaluator("S[i:37] = sum(r:30001) exp(A[i, r])"), 1);
}

TEST(ComputeReference, RunsIntegersAsMachineCode) {
  for (const char* types : {"u8 i8", "i8 i8", "u16 i16", "i32 i32"}) {
    const std::string a(types, std::string_view(types).find(' '));
    const std::string b(types + a.size() + 1);
    const std::string inputs = fmt::format("input A[131, 113] {}\ninput B[113, 75] {}\n", a, b);
    EXPECT_EQ(compare_with_evaluator(inputs + "C[i:131, j:75] = sum(r:113) i32(A[i, r]) * i32(B[r, j])"), 1)
        << types;
  }
}

TEST(ComputeReference, RunsOneComputeAfterAnother) {
  EXPECT_EQ(compare_with_evaluator("M[i:131, j:75] = sum(r:113) A[i, r] * B[r, j]\n"
                                   "C[i:131, j:75] = tanh(M[i, j]) * 2.0 + D[j]"),
            1);
}

TEST(InDouble, WidensWhatIsComputedOfSingleFloats) {
  const std::optional<Dag> wide = in_double(task_of("C[i:4] = sum(r:3) A[i, r] * 2.0").dag);
  ASSERT_TRUE(wide.has_value());
  EXPECT_EQ(wide->inputs.front()->dtype, DType::f32);
  EXPECT_EQ(wide->outputs.front()->dtype, DType::f64);
  Dag half;
  half.inputs = {Tensor("A", {4}, DType::f16)};
  EXPECT_FALSE(in_double(half).has_value());
}

}  // namespace
}  // namespace lathe::testing
