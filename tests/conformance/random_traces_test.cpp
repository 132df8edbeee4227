// The property that everything rests on: whatever schedule is legal, the interpreter before lowering, the
// interpreter after lowering and the machine code compute what the naive program does. Traces come from the
// space (random points of odd little shapes) and from a generator that knows no rule of it.
#include "conformance/random_traces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "conformance/trace_checker.h"
#include "space/all.h"
#include "target/all.h"
#include "test_share.h"

namespace lathe::testing {
namespace {

// Seeds of each test, and how many of their traces must be of the kinds below, legal, not refused by
// lowering, and so compared: 2,000 of both where all are drawn.
constexpr uint64_t kSeeds = 1600 / kDrawnShare;
// One in so many goes through the C backend and the system's compiler too: in all tests together 300 where
// all are drawn.
constexpr int kCInterval = 12;
// Other seeds: --gtest_shuffle --gtest_random_seed=N.
uint64_t seed_of(uint64_t place) {
  if (!GTEST_FLAG_GET(shuffle)) return place;
  return place + 1'000'000 * static_cast<uint64_t>(::testing::UnitTest::GetInstance()->random_seed());
}
constexpr int kCompared = 1000 / kDrawnShare;
// Other seeds draw a few less now and then.
int least_compared() { return GTEST_FLAG_GET(shuffle) ? kCompared * 9 / 10 : kCompared; }

// What is to be covered: matrix products, convolutions with an epilogue, depthwise ones, softmax, transposed.
constexpr const char* kKinds[] = {"matmul", "conv2d_bn_relu", "depthwise_conv2d",
                                  "transpose_batch_matmul_softmax", "conv2d_transpose"};

bool is_of_kinds(const Reference& reference) {
  return std::ranges::find(kKinds, reference.task.name) != std::end(kKinds);
}

class RandomTraces : public ::testing::Test {
 protected:
  void check(const Reference& reference, const Trace& trace, uint64_t seed, Rng& rng) {
    const int before = checker_.counts.compared;
    const std::string wrong = checker_.check(reference, trace, rng);
    if (is_of_kinds(reference)) compared_ += checker_.counts.compared - before;
    for (const Step& step : trace) {
      ++taken_[step.index()];
      if (const TailStep* tail = std::get_if<TailStep>(&step)) ++tails_[static_cast<size_t>(tail->tail)];
      const std::string text = to_string(step);
      ++words_[text.substr(0, text.find(' '))];
    }
    if (wrong.empty()) return;
    ADD_FAILURE() << wrong << "\nseed " << seed << ": " << reference.task.name << " on "
                  << reference.task.target.name << ", " << cores_of(reference.task.target) << " cores\n"
                  << to_string(shrink(reference, trace, wrong.starts_with("C: ")));
  }

  // Points of every sketch of a case, on both targets, with one core and two; those of the arm `direct` where
  // it is wanted.
  void check_points(const SmallCase& small, bool direct, int draws) {
    for (int variant = 0; variant < 4; ++variant) {
      const Target target = generic_target(variant % 2 == 0 ? "x86-avx512" : "x86-avx2");
      const Reference reference = make_reference(small, with_cores(target, variant < 2 ? 1 : 2), true);
      const Result<Space> space = derive_space(reference.task);
      ASSERT_TRUE(space) << space.error().to_string();
      for (size_t s = 0; s < space->sketches().size(); ++s) {
        const Sketch& sketch = space->sketches()[s];
        if (!direct && sketch.name.starts_with("direct")) continue;
        Rng rng(s);
        for (int draw = 0; draw < draws; ++draw) {
          const Point point{static_cast<int>(s), draw == 0 ? sketch.preferred : sample(sketch.domain, rng)};
          const Result<Trace> trace = space->trace(point);
          EXPECT_TRUE(trace || draw > 0) << "the preferred point of " << sketch.name;
          if (trace) check(reference, *trace, s, rng);
        }
      }
    }
  }

  // Random points of the cases' spaces.
  void draw_points(const std::vector<Reference>& references, uint64_t seeds) {
    std::vector<Space> spaces;
    for (const Reference& reference : references) {
      Result<Space> space = derive_space(reference.task);
      ASSERT_TRUE(space) << space.error().to_string();
      spaces.push_back(std::move(*space));
    }
    for (uint64_t place = 0; place < seeds; ++place) {
      const uint64_t seed = seed_of(place);
      Rng rng(seed);
      const Space& space = spaces[seed % spaces.size()];
      Point point{static_cast<int>(rng.below(space.sketches().size())), {}};
      const Sketch& sketch = space.sketches()[static_cast<size_t>(point.sketch)];
      point.integers = rng.chance(0.1) ? sketch.preferred : sample(sketch.domain, rng);
      const Result<Trace> trace = space.trace(point);
      if (trace) check(references[seed % references.size()], *trace, seed, rng);
    }
  }

  // Random steps, from 4 to 30 proposals a trace.
  void draw_steps(const std::vector<Reference>& references, uint64_t seeds, uint64_t first = 0) {
    for (uint64_t place = first; place < first + seeds; ++place) {
      const uint64_t seed = seed_of(place);
      Rng rng(seed);
      const Reference& reference = references[seed % references.size()];
      const RandomTrace random = random_trace(reference.task, static_cast<int>(rng.between(4, 30)), rng);
      ASSERT_EQ(random.fault, "") << reference.task.name << "\n" << to_string(random.trace);
      proposed_ += random.proposed;
      check(reference, random.trace, seed, rng);
      rewritten_ += random.trace.size() > 4 && std::holds_alternative<RewriteStep>(random.trace.front());
    }
  }

  void print(const char* what) const {
    const TraceCounts& counts = checker_.counts;
    std::printf(
        "%s: %d legal traces of %d steps, %d compared (%d as machine code too, %d as C; %d of the named "
        "kinds)",
        what, counts.traces, counts.steps, counts.compared, counts.machine, counts.c, compared_);
    for (const auto& [reason, count] : counts.refused) {
      std::printf(", %d refused by lowering with '%s..'", count, reason.c_str());
    }
    std::printf("\nsteps:");
    for (const auto& [word, count] : words_) std::printf(" %s %d", word.c_str(), count);
    std::printf("\n");
  }

  TraceChecker checker_{kCInterval};
  int compared_ = 0;   // of kKinds
  int proposed_ = 0;   // random steps, the refused ones included
  int rewritten_ = 0;  // random steps after an algorithm
  std::array<int, std::variant_size_v<Step>> taken_{};
  std::array<int, 6> tails_{};
  std::map<std::string, int> words_;
};

TEST_F(RandomTraces, PointsOfTheSpaceComputeWhatTheNaiveProgramDoes) {
  draw_points(references(small_cases()), kSeeds);
  print("points of the space");
  EXPECT_GE(checker_.counts.traces, static_cast<int>(kSeeds) * 8 / 10) << "most points are legal";
  EXPECT_GE(compared_, least_compared());
}

// Algorithms have more stages than any direct program: every point drawn begins with a rewrite.
TEST_F(RandomTraces, PointsOfAlgorithmsComputeWhatTheNaiveProgramDoes) {
  constexpr SmallCase kWindows[] = {
      {"conv2d",
       R"({"batch": 1, "height": 13, "width": 9, "in_channels": 17, "out_channels": 33, "kernel": 3, "stride": 1, "padding": 1})"},
      {"conv2d_bn_relu",
       R"({"batch": 3, "height": 8, "width": 12, "in_channels": 5, "out_channels": 16, "kernel": 3, "stride": 1, "padding": 1})"},
      {"conv2d_transpose",
       R"({"batch": 2, "height": 5, "width": 7, "in_channels": 6, "out_channels": 19, "kernel": 4, "stride": 2, "padding": 1})"},
      {"conv2d",
       R"({"batch": 2, "height": 7, "width": 6, "in_channels": 10, "out_channels": 38, "kernel": 3, "stride": 1, "padding": 1, "groups": 2})"},
      {"conv2d_bn_relu",
       R"({"batch": 1, "height": 9, "width": 5, "in_channels": 6, "out_channels": 48, "kernel": 1, "stride": 2, "padding": 0, "groups": 3})"},
      {"depthwise_conv2d",
       R"({"batch": 1, "height": 9, "width": 7, "channels": 19, "multiplier": 3, "kernel": 3, "stride": 2, "padding": 1})"},
      // Vectors that slide along the rows.
      {"conv2d_transpose",
       R"({"batch": 1, "height": 5, "width": 19, "in_channels": 6, "out_channels": 3, "kernel": 4, "stride": 2, "padding": 1})"},
  };
  constexpr int kDraws = std::max(1, 5 / kDrawnShare);
  for (const SmallCase& small : kWindows) check_points(small, false, kDraws);
  print("points of algorithms");
  EXPECT_GE(checker_.counts.traces, 16 * kDraws);
}

// Formulas that no operator of the library has.
TEST_F(RandomTraces, PointsOfExpressionsComputeWhatTheNaiveProgramDoes) {
  constexpr SmallCase kExpressions[] = {
      {"expression",
       R"j({"text": "S[i:19] = sum(r:23) A[i, r] T[r:23] = sum(i:19) A[i, r] O[i:19, r:23] = A[i, r] - S[i] * T[r]"})j"},
      {"expression",
       R"j({"text": "M[b:7, c:5] = max(a:9) X[a, b, c] N[b:7, c:5] = min(a:9) X[a, b, c] Y[a:9, b:7, c:5] = (X[a, b, c] - N[b, c]) / (M[b, c] - N[b, c] + 0.1)"})j"},
      {"expression",
       R"j({"text": "P[i:13, j:17] = sum(r:5) A[i, r] * B[r, j] Q[i:13, j:17] = sum(r:7) C[i, r] * D[r, j] O[i:13, j:17] = max(P[i, j] + Q[i, j], 0.0)"})j"},
      {"expression", R"j({"text": "O[f:36, y:7] = sum(c:3) X[f%12, c, y] * W[f, c]"})j"},
      {"expression",
       R"j({"text": "P[q:4, r:5, y:9] = sum(c:6) A[q, c, y] * B[q, r, c] C[f:20, y:9] = max(P[f/5, f%5, y] + E[f], 0.0)"})j"},
      // Consumers that go through what they read backwards, in strides, along a diagonal.
      {"expression",
       R"j({"text": "B[i:16, j:24] = sum(r:8) A[i, r] * C[r, j] O[i:16, j:24] = B[15-i, j] + D[j]"})j"},
      {"expression",
       R"j({"text": "B[i:33, j:24] = sum(r:8) A[i, r] * C[r, j] O[i:16, j:24] = B[2*i, j] + D[j]"})j"},
      {"expression",
       R"j({"text": "B[i:19, j:24] = sum(r:8) A[i, r] * C[r, j] O[i:16, k:4, j:24] = B[i+k, j] + D[j]"})j"},
      {"expression", R"j({"text": "B[i:20, j:20] = sum(r:8) A[i, r] * C[r, j] O[i:20] = B[i, i] + D[i]"})j"},
      {"expression", R"j({"text": "S[i:20] = sum(r:70) A[i, r] O[i:20] = S[19-i] + D[i]"})j"},
      {"expression",
       R"j({"text": "T[a:4, b:10, j:30] = sum(r:9) A[a, r] * B[b, r, j] O[j:30] = max(T[j/10, j/3, j], 0.0)"})j"},
      // Few results beside each other, many along a window.
      {"expression",
       R"j({"text": "O[f:3, y:7, x:37] = sum(c:5, k:3) I[c, y + k, x + 2*k] * W[f, c, k]", "constants": ["W"]})j"},
      // A product of three, of which one is an argument: it has no room for more rows.
      {"expression",
       R"j({"text": "E[i:9, j:9] = exp(A[i, j]) T[i:9] = sum(j:9) E[i, j] O[i:9, d:5] = sum(j:9) E[i, j] / T[i] * V[j, d]"})j"},
      // Constants that are read along a diagonal, by one index modulo more than it reaches.
      {"expression",
       R"j({"text": "input A[17, 20] T[k:17] = sum(r:4) A[k, k + r] * B[r]", "constants": ["A"]})j"},
      {"expression",
       R"j({"text": "input B[17, 17] T[i:3, k:17] = sum(r:4) A[i, r] * B[k, k]", "constants": ["B"]})j"},
      {"expression", R"j({"text": "input A[2, 9] C[i:2, j:9] = sum(r:5) A[i % 3, j] * B[r, j]"})j"},
      // Integers, and indices that are computed.
      {"expression",
       R"j({"text": "input X[5, 7] K[i:19] = i32(4.0 * abs(B[i])) Y[i:19, j:7] = X[K[i], j] * Z[j]"})j"},
      {"expression",
       R"j({"text": "input A[19, 37] i8 input B[37, 23] i8 P[i:19, j:23] = sum(r:37) i32(A[i, r]) * i32(B[r, j]) O[i:19, j:23] = f32(P[i, j]) * 0.05"})j"},
      {"expression",
       R"j({"text": "input A[7, 41] i32 M[i:7] = max(r:41) -A[i, r] N[i:7] = min(r:41) A[i, r] O[i:7] = f32(M[i]) + f32(N[i])"})j"},
  };
  constexpr int kDraws = std::max(1, 5 / kDrawnShare);
  for (const SmallCase& small : kExpressions) check_points(small, true, kDraws);
  print("points of expressions");
  EXPECT_GE(checker_.counts.compared, 20 * kDraws);
  EXPECT_THAT(checker_.counts.refused, ::testing::IsEmpty());
}

// Reductions that are cut in parts: along the lanes, along an axis, where parts, lanes and rows do not
// divide.
TEST_F(RandomTraces, PointsOfLongReductionsComputeWhatTheNaiveProgramDoes) {
  constexpr SmallCase kLong[] = {
      {"expression", R"j({"text": "O[i:2] = sum(r:70001) A[i, r]"})j"},
      {"expression", R"j({"text": "O[i:1] = sum(r:8209) A[r] * B[r]"})j"},
      {"expression", R"j({"text": "O[i:5] = sum(r:4099) A[i, r] * B[r]"})j"},
      {"expression", R"j({"text": "O[i:3, j:5] = max(a:1031, b:11) X[a, b, i, j]"})j"},
      {"expression", R"j({"text": "S[i:1] = sum(a:3, b:30011) X[a, b] * X[a, b] O[i:1] = sqrt(S[i])"})j"},
      {"expression",
       R"j({"text": "S[b:17] = sum(i:89, j:97) A[b, i, j] * A[b, i, j] O[b:17] = sqrt(S[b])"})j"},
      {"expression", R"j({"text": "input A[70001] i32 O[i:1] = max(r:70001) -A[r] - 7"})j"},
  };
  constexpr int kDraws = std::max(1, 3 / kDrawnShare);
  for (const SmallCase& small : kLong) check_points(small, true, kDraws);
  print("points of long reductions");
  EXPECT_GE(checker_.counts.compared, 20 * kDraws);
  EXPECT_THAT(checker_.counts.refused, ::testing::IsEmpty());
}

TEST_F(RandomTraces, EveryOtherOperatorComputesWhatTheNaiveProgramDoes) {
  const std::vector<Reference> others = references(other_small_cases());
  constexpr uint64_t kEach = kSeeds / 2;
  draw_points(others, kEach);
  draw_steps(others, kEach);
  print("every other operator");
  EXPECT_GE(checker_.counts.compared, static_cast<int>(2 * kEach) * 8 / 10);
}

// Shares of the seeds, so that they can run side by side: each large enough to have every kind of step.
constexpr uint64_t kStepShares = kDrawnShare > 1 ? 1 : 4;
class RandomSteps : public RandomTraces, public ::testing::WithParamInterface<uint64_t> {};

TEST_P(RandomSteps, ComputeWhatTheNaiveProgramDoes) {
  constexpr uint64_t kEach = kSeeds / kStepShares;
  draw_steps(references(small_cases()), kEach, GetParam() * kEach);
  print("random steps");
  std::printf("%d steps were proposed\n", proposed_);
  EXPECT_GE(checker_.counts.steps * 2, proposed_) << "most proposed steps are legal";
  constexpr int kShares = static_cast<int>(kStepShares);
  if (kSanitizedShare > 1) {  // enough of any kind, too few to ask for so many of the named ones
    EXPECT_GE(checker_.counts.compared, kCompared / kShares);
    return;
  }
  EXPECT_GE(compared_, least_compared() / kShares);
  // The last kind, tensorize, wants the formula of an intrinsic: conformance/intrinsics_test.cpp has those.
  EXPECT_THAT(std::span(taken_).first(taken_.size() - 1), ::testing::Each(::testing::Gt(1)))
      << "every kind of step, by its place in Step";
  EXPECT_THAT(tails_, ::testing::Each(::testing::Gt(1))) << "every policy, by its place in Tail";
  EXPECT_GT(rewritten_, 10) << "traces of some length that begin with an algorithm";
}

INSTANTIATE_TEST_SUITE_P(Shares, RandomSteps, ::testing::Range(uint64_t{0}, kStepShares));

}  // namespace
}  // namespace lathe::testing
