// A new operator, from its formula to tuned machine code that is compared with plain loops.
//
//   build/release/examples/02_new_operator build/release/bin/lathe-worker
#include <cmath>
#include <cstdio>
#include <vector>

#include "lathe/lathe.h"

namespace {

constexpr int kPoints = 70, kCentres = 30, kDepth = 17;

// The squared distance of every point to every centre.
constexpr const char* kSquaredDistances = "D[i:70, j:30] = sum(r:17) (P[i,r] - C[j,r]) * (P[i,r] - C[j,r])";

// Whole numbers, so that every order of summation gives the same result.
std::vector<float> whole_numbers(int count, int step) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(i * step % 11 - 5));
  return values;
}

int count_errors(const std::vector<float>& p, const std::vector<float>& c, const std::vector<float>& d) {
  int errors = 0;
  for (int i = 0; i < kPoints; ++i) {
    for (int j = 0; j < kCentres; ++j) {
      float expected = 0;
      for (int r = 0; r < kDepth; ++r) {
        const float difference = p[i * kDepth + r] - c[j * kDepth + r];
        expected += difference * difference;
      }
      if (d[i * kCentres + j] != expected) ++errors;
    }
  }
  return errors;
}

// The number of elements that are wrong.
lathe::Result<int> tune_and_check(const char* worker) {
  lathe::Formula formula;
  formula.text = kSquaredDistances;
  formula.name = "squared_distances";
  lathe::TargetChoice target;
  target.cores = 1;
  const lathe::Result<lathe::Computation> distances = lathe::make_operator(formula, target);
  if (!distances) return std::unexpected(distances.error());

  // Tuning measures in a worker process. Records in a file would let the next run go on.
  lathe::TuneChoice choice;
  choice.worker = worker;
  choice.records = ":memory:";
  choice.trials = 8;
  const lathe::Result<lathe::TuneResult> tuned = lathe::tune(*distances, choice);
  if (!tuned) return std::unexpected(tuned.error());
  std::printf("%d trials, best %.3f us\n", static_cast<int>(tuned->tasks[0].trials),
              tuned->tasks[0].seconds * 1e6);

  // The best program, compared with a reference already. lathe::compile gives one without any measurement.
  const lathe::Result<lathe::Artifact> program = lathe::Artifact::open(*tuned->compiled, "/tmp");
  if (!program) return std::unexpected(program.error());
  const std::vector<float> p = whole_numbers(kPoints * kDepth, 3), c = whole_numbers(kCentres * kDepth, 7);
  std::vector<float> d(kPoints * kCentres, NAN);
  const void* const inputs[] = {p.data(), c.data()};
  void* const outputs[] = {d.data()};
  const lathe::Status run = program->run(inputs, outputs);
  if (!run) return std::unexpected(run.error());
  return count_errors(p, c, d);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: 02_new_operator LATHE-WORKER\n");
    return 1;
  }
  const lathe::Result<int> errors = tune_and_check(arguments[1]);
  if (!errors) {
    std::fprintf(stderr, "%s\n", errors.error().to_string().c_str());
    return 1;
  }
  std::printf("%d of %d elements are wrong\n", *errors, kPoints * kCentres);
  return *errors == 0 ? 0 : 1;
}
