// The space for devices of many threads: whatever is chosen, the program is legal there and computes the same
// whatever the order of its threads.
#include "space/lathe/gpu/derive_gpu.h"

#include <gmock/gmock.h>

#include "lower/programs.h"
#include "lower/threads/kernels.h"

namespace lathe::testing {
namespace {

using ::testing::HasSubstr;

Task gpu_task(const std::string& dag, const std::vector<std::string>& constants = {}) {
  return make_task("gpu", parse_dag(dag).value(), generic_target("opencl"), constants, true).value();
}

void expect_legal(const LoweredProgram& lowered, const GpuTarget& device) {
  for (const Kernel& kernel : kernels_of(lowered.program.main)) {
    EXPECT_LE(kernel.threads, device.work_group_size);
    EXPECT_LE(kernel.shared_bytes, device.local_bytes);
  }
}

struct GpuCase {
  std::string name;
  std::string dag;
  std::vector<std::string> constants = {};
};
void PrintTo(const GpuCase& tested, std::ostream* out) { *out << tested.name; }

class GpuSpace : public ::testing::TestWithParam<GpuCase> {};

TEST_P(GpuSpace, EveryPointComputesTheSame) {
  const Task task = gpu_task(GetParam().dag, GetParam().constants);
  const std::vector<HostTensor> expected = run(naive_program(task), "naive");
  const Result<Space> space = derive_gpu(task);
  ASSERT_TRUE(space) << space.error().to_string();
  ASSERT_FALSE(space->preferred_points().empty()) << "what is preferred is refused";
  Rng rng(5);
  std::vector<Point> points = space->preferred_points();
  for (int i = 0; i < 12; ++i) points.push_back({0, sample(space->sketches().front().domain, rng)});
  int legal = 0;
  for (const Point& point : points) {
    const Result<Trace> trace = space->trace(point);
    if (!trace) continue;
    ++legal;
    const Result<Program> program = apply_trace(task, *trace);
    ASSERT_TRUE(program) << program.error().to_string() << "\n" << to_string(*trace);
    EXPECT_LE(difference(expected, shuffled(*program, 1)), 1e-5) << to_string(*trace);
    const Result<LoweredProgram> lowered = lower(*program, task.target);
    ASSERT_TRUE(lowered) << lowered.error().to_string() << "\n" << to_string(*trace);
    EXPECT_LE(difference(expected, shuffled(lowered->program, 2)), 1e-5) << to_string(*trace);
    expect_legal(*lowered, task.target.gpu());
  }
  EXPECT_GE(legal, 2);
}

INSTANTIATE_TEST_SUITE_P(
    All, GpuSpace,
    ::testing::Values(
        GpuCase{"product", "C[i:20, j:21] = sum(k:19) A[i,k] * B[k,j]"},
        GpuCase{"product_of_transposes", "C[i:20, j:21] = sum(k:19) A[k,i] * B[j,k]", {"B"}},
        GpuCase{"batches", "C[b:3, i:9, j:8] = sum(k:7) A[b,i,k] * B[b,k,j]"},
        GpuCase{"a_square_of_itself", "C[i:10, j:10] = sum(k:7) A[i,k] * A[j,k]"},
        GpuCase{"epilogue",
                "P[i:20, j:12] = sum(k:9) A[i,k] * B[k,j]\nC[i:20, j:12] = max(P[i,j] + D[j], 0.0)"},
        GpuCase{"epilogue_turned", "P[i:20, j:12] = sum(k:9) A[i,k] * B[k,j]\nC[j:12, i:20] = P[i,j] + 1.0"},
        GpuCase{
            "convolution", "C[n:2, f:6, y:5, x:7] = sum(c:4, r:3, s:3) I[n,c,2*y+r,x+s] * W[f,c,r,s]", {"W"}},
        GpuCase{"padded",
                "P[c:3, y:8, x:8] = select(0 < y && y < 7 && 0 < x && x < 7, I[c,y-1,x-1], 0.0)\n"
                "C[f:4, y:6, x:6] = sum(c:3, r:3, s:3) P[c,y+r,x+s] * W[f,c,r,s]"},
        GpuCase{"depthwise", "C[c:5, y:6, x:7] = sum(r:3, s:3) I[c,y+r,x+s] * W[c,r,s]"},
        GpuCase{"pointwise", "C[i:13, j:11] = exp(A[i,j]) + B[j]"},
        GpuCase{"transposed", "C[i:13, j:11] = A[j,i] * 2.0"}, GpuCase{"sum", "S[i:13] = sum(j:40) A[i,j]"},
        GpuCase{"one_result", "S[] = max(i:9, j:40) A[i,j]"},
        GpuCase{"norm", "S[i:13] = sum(j:40) A[i,j] * A[i,j]\nC[i:13] = sqrt(S[i])"},
        GpuCase{"softmax",
                "M[i:7] = max(k:30) X[i,k]\nE[i:7, j:30] = exp(X[i,j] - M[i])\n"
                "S[i:7] = sum(k:30) E[i,k]\nY[i:7, j:30] = E[i,j] / S[i]"},
        GpuCase{"prepared", "V[k:9, j:12] = B[k,j] * 2.0\nC[i:20, j:12] = sum(k:9) A[i,k] * V[k,j]", {"B"}},
        GpuCase{"chosen_at_run_time", "input A[6, 8]\nC[i:6, j:8] = A[i64(B[i]) % 6, j] * 2.0"},
        GpuCase{
            "product_of_bytes",
            "input A[20, 19] u8\ninput B[19, 21] i8\nC[i:20, j:21] = sum(k:19) i32(A[i,k]) * i32(B[k,j])"}),
    [](const auto& tested) { return tested.param.name; });

TEST(DeriveGpu, ARequiredAlgorithmIsRefused) {
  Task task = gpu_task("C[f:4, y:6, x:6] = sum(c:3, r:3, s:3) I[c,y+r,x+s] * W[f,c,r,s]");
  task.algorithm = "winograd";
  const Result<Space> space = derive_gpu(task);
  ASSERT_FALSE(space);
  EXPECT_EQ(space.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(space.error().message, HasSubstr("winograd"));
}

}  // namespace
}  // namespace lathe::testing
