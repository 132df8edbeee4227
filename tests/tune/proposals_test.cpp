// What a search proposes with one seed, on ten cases of all kinds: a change to spaces, domains or strategies
// that is to alter no proposal alters no hash here.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/hash.h"
#include "folders.h"
#include "ops/workloads.h"
#include "search/all.h"
#include "target/all.h"
#include "tune/candidates.h"

namespace lathe {
namespace {

struct Case {
  const char* name;  // in workloads/operators.json
  const char* target;
  int cores;
  uint64_t proposals;  // hash of sketches and integers, in the order in which they were proposed
};

void PrintTo(const Case& c, std::ostream* stream) { *stream << c.name; }

// Stands for a measurement, and for a model that is never wrong: it follows from the trace alone.
double seconds_of(Candidates& scored, const Point& point) {
  return 1e-6 * static_cast<double>(1 + scored.identity(point) % 1000);
}

uint64_t hash_of_proposals(const Task& task) {
  constexpr int kBatches = 5;
  constexpr int kBatch = 8;
  Candidates scored = Candidates::create(std::make_shared<const Task>(task)).value();
  const auto strategy =
      make_strategy("evolutionary:population=32,generations=2", scored.search_space(), 7).value();
  Predictor predictor;
  predictor.full = [&](std::span<const Point> points) {
    Prediction costs;
    for (const Point& point : points) costs.mean.push_back(seconds_of(scored, point));
    costs.stddev.assign(points.size(), 0);
    return costs;
  };
  Hasher hasher;
  for (int i = 0; i < kBatches; ++i) {
    std::vector<Trial> batch;
    for (const Point& point : strategy->propose(kBatch, i == 0 ? Predictor() : predictor).points) {
      hasher.add(scored.space().sketches()[static_cast<size_t>(point.sketch)].name);
      for (const int64_t integer : point.integers) hasher.add(integer);
      batch.push_back({point, seconds_of(scored, point)});
    }
    strategy->observe(batch);
  }
  return hasher.finish();
}

class Proposals : public ::testing::TestWithParam<Case> {};

TEST_P(Proposals, AreThoseOfTheSeed) {
  const Case& c = GetParam();
  const auto workloads = load_workloads(LATHE_SOURCE_DIR "/workloads/operators.json").value();
  const auto workload = std::ranges::find(workloads, c.name, &Workload::name);
  ASSERT_NE(workload, workloads.end());
  const Task task = make_task(*workload, with_cores(generic_target(c.target), c.cores), true).value();
  EXPECT_EQ(hash_of_proposals(task), c.proposals);
}

INSTANTIATE_TEST_SUITE_P(Tune, Proposals,
                         ::testing::Values(Case{"matmul.1024", "x86-avx2", 1, 12081958123613704335u},
                                           Case{"resnet18.C6", "x86-avx512", 1, 11751230945132830661u},
                                           Case{"resnet18.C2.winograd", "x86-avx2", 2, 17147600262578145901u},
                                           Case{"DEP.0.b1", "x86-avx512", 1, 17075747692533526349u},
                                           Case{"TBS.0.b1", "x86-avx2", 1, 14848193165341255873u},
                                           Case{"NRM.0.b1", "x86-avx2", 2, 18335062823438780864u},
                                           Case{"flex.GMV.512", "x86-avx512", 1, 620045335223514461u},
                                           Case{"T2D.0.b1", "x86-avx2", 1, 16900702479913237347u},
                                           Case{"flex.SHO.0", "x86-avx512", 2, 15969038783609633225u},
                                           Case{"ConvLayer.1.b1", "x86-avx2", 1, 12986331121763118528u}));

}  // namespace
}  // namespace lathe
