// How many points a second a search scores on one core: drafted, by their choices alone, and verified, from a
// point to what the default model says of its program. usage: scoring_rate [WORKLOADS [CASE]], of the bench's
// operators resnet18.C6 by default.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "cost/all.h"
#include "cost/draft.h"
#include "measure/timing.h"
#include "ops/workloads.h"
#include "search/sampler.h"
#include "target/detect.h"
#include "tune/candidates.h"

namespace {

using namespace lathe;  // NOLINT(google-build-using-namespace): a program of one file

constexpr int kLearned = 128;  // as many as a search has measured
constexpr int kVerified = 2000;
constexpr int kDrafted = 50000;
constexpr int kTurns = 5;

// The most points a second of several turns.
template <class Score>
double rate(const std::vector<Point>& points, Score score) {
  double best = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    const double begin = monotonic_seconds();
    score(points);
    best = std::max(best, static_cast<double>(points.size()) / (monotonic_seconds() - begin));
  }
  return best;
}

void print_rates(const Workload& workload, const Target& target) {
  const auto task = std::make_shared<const Task>(make_task(workload, with_cores(target, 1), true).value());
  Candidates candidates = Candidates::create(task).value();
  const SearchSpace space = candidates.search_space();
  Sampler sampler(space, Rng(1));
  const std::vector<Point> learned = sampler.peek(kLearned);
  CostSamples samples;
  std::vector<double> seconds;
  Rng noise(2);
  for (const Point& point : learned) {
    seconds.push_back(1 + noise.uniform());
    samples.features.add(*candidates.features(point));
    samples.seconds.push_back(seconds.back());
    samples.tasks.push_back(0);
  }
  const std::unique_ptr<CostModel> model = make_cost_model("gbt").value();
  LATHE_CHECK(model->fit(samples).has_value());
  DraftModel draft(space.sketches);
  draft.fit(learned, seconds);
  const double drafted = rate(sampler.guess(kDrafted), [&](const auto& points) { draft.predict(points); });
  double verified = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    // Points that nothing is known of yet.
    const std::vector<Point> fresh = sampler.guess(kVerified);
    const double begin = monotonic_seconds();
    candidates.predict(fresh, *model);
    verified = std::max(verified, kVerified / (monotonic_seconds() - begin));
    candidates.end_round();
  }
  fmt::print("{}: {:.0f} points a second drafted, {:.0f} verified\n", workload.name, drafted, verified);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "workloads/operators.json";
  const std::string name = argc > 2 ? argv[2] : "resnet18.C6";
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const auto workloads = parse_workloads(text.str(), path);
  const auto target = detect_target();
  if (!workloads || !target) {
    fmt::print(stderr, "scoring_rate: {}\n", (workloads ? target.error() : workloads.error()).to_string());
    return 1;
  }
  for (const Workload& workload : *workloads)
    if (workload.name == name) print_rates(workload, *target);
  return 0;
}
