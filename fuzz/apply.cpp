// Steps on small tasks: the first byte chooses the task, the rest is a trace. What it gives is verified and
// lowered; a refusal is illegal_schedule or a parse error, and nothing else.
#include "schedule/apply.h"

#include <array>

#include "expr/parse.h"
#include "loop/verify.h"
#include "lower/lower.h"
#include "round_trip.h"
#include "target/all.h"

namespace {

using namespace lathe;

constexpr std::array kFormulas = {
    "C[i:13, j:19] = sum(r:11) A[i, r] * B[r, j]",
    "P[c:3, y:9, x:7] = select(1 <= y && y < 8 && 1 <= x && x < 6, I[c, y - 1, x - 1], 0.0) "
    "S[f:5, y:7, x:5] = sum(c:3, ky:3, kx:3) P[c, y + ky, x + kx] * W[f, c, ky, kx] "
    "O[f:5, y:7, x:5] = max(S[f, y, x] + D[f], 0.0)",
    "M[b:3] = max(x:17) A[b, x] E[b:3, x:17] = exp(A[b, x] - M[b]) S[b:3] = sum(x:17) E[b, x] "
    "O[b:3, x:17] = E[b, x] / S[b]",
    "O[f:12, y:5] = sum(c:3) X[f/4, c, y] * W[f, c]",
    "C[i:23] = A[i%6] + 1.0",
};

Task task_of(size_t number) {
  Result<Dag> dag = parse_dag(kFormulas[number % kFormulas.size()]);
  LATHE_CHECK(dag.has_value());
  Result<Task> task = make_task("fuzz", std::move(*dag), with_cores(generic_target("x86-avx2"), 2), {}, true);
  LATHE_CHECK(task.has_value());
  return std::move(*task);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Task task = task_of(data[0]);
  const Result<Trace> trace = parse_trace(fuzz::as_text(data + 1, size - 1));
  if (!trace) return 0;
  const Result<Program> program = apply_trace(task, *trace);
  if (!program) {
    LATHE_CHECK(program.error().kind == ErrorKind::illegal_schedule);
    return 0;
  }
  LATHE_CHECK(verify(*program).has_value());
  const Result<LoweredProgram> lowered = lower(*program, task.target);
  LATHE_CHECK(lowered || !lowered.error().message.empty());
  return 0;
}
