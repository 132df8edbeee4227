// The space on every operator that Lathe is judged by: rules find a sketch for each, the model's own choices
// are legal, and whatever point is drawn gives a trace that applies and lowers.
#include "space/lathe/derive_lathe.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "expr/parse.h"
#include "folders.h"
#include "lower/lower.h"
#include "ops/all_workloads.h"
#include "schedule/apply.h"
#include "space/all.h"
#include "target/all.h"
#include "test_share.h"

namespace lathe::testing {
namespace {

Task task_of(const Workload& workload, const char* target, int cores) {
  Result<Task> task = make_task(workload, with_cores(generic_target(target), cores), true);
  EXPECT_TRUE(task) << task.error().to_string();
  return std::move(*task);
}

// Code that grows too large and tails that cannot be dropped are named reasons; a step that does not apply is
// a fault of the rules.
bool may_be_refused(const Error& error) {
  return error.message.starts_with("tail pad on ") || error.message.starts_with("the program has more than ");
}

void expect_applies(const Task& task, const Trace& trace, bool lowers, const std::string& where) {
  const Result<Program> program = apply_trace(task, trace);
  ASSERT_TRUE(program) << where << ": " << program.error().to_string();
  if (!lowers) return;
  const Result<LoweredProgram> lowered = lower(*program, task.target);
  if (!lowered) {
    EXPECT_TRUE(may_be_refused(lowered.error())) << where << ": " << lowered.error().to_string();
  }
}

TEST(LatheSpace, EveryOperatorHasLegalSketches) {
  ASSERT_GE(workloads().size(), 241u);
  for (size_t w = 0; w < workloads().size(); w += kSanitizedShare) {
    const Workload& workload = workloads()[w];
    const Task task = task_of(workload, w % 2 == 0 ? "x86-avx2" : "x86-avx512", w % 3 == 0 ? 2 : 1);
    const Result<Space> space = derive_space(task);
    ASSERT_TRUE(space) << workload.name << ": " << space.error().to_string();
    ASSERT_GE(space->sketches().size(), 1u) << workload.name;
    EXPECT_GE(space->size(), 1) << workload.name;
    const std::vector<Point> preferred = space->preferred_points();
    ASSERT_FALSE(preferred.empty()) << workload.name;
    for (const Point& point : preferred) {
      const std::string where =
          workload.name + " " + space->sketches()[static_cast<size_t>(point.sketch)].name;
      const Result<Trace> trace = space->trace(point);
      ASSERT_TRUE(trace) << where << ": " << trace.error().to_string();
      expect_applies(task, *trace, false, where);
    }
  }
}

TEST(LatheSpace, AChainOfManyProductsHasFewSketches) {
  std::string text = "P0[i:40, j:40] = sum(r:40) A[i,r] * A[r,j]\n";
  for (int i = 1; i < 40; ++i)
    text += fmt::format("P{0}[i:40, j:40] = sum(r:40) P{1}[i,r] * P{1}[r,j]\n", i, i - 1);
  const Task task = make_task("chain", parse_dag(text).value(), generic_target("x86-avx2")).value();
  EXPECT_LE(derive_space(task)->sketches().size(), 16 + 40 * 2);
}

TEST(LatheSpace, RandomPointsApplyAndLower) {
  int drawn = 0;
  for (size_t w = 0; w < workloads().size(); w += kSanitizedShare) {
    const Workload& workload = workloads()[w];
    const Task task = task_of(workload, w % 2 == 0 ? "x86-avx512" : "x86-avx2", 1);
    const Result<Space> space = derive_space(task);
    ASSERT_TRUE(space) << workload.name << ": " << space.error().to_string();
    Rng rng(w);
    for (int i = 0; i < 5; ++i) {
      const auto s = static_cast<size_t>(rng.below(space->sketches().size()));
      const Sketch& sketch = space->sketches()[s];
      const Point point{static_cast<int>(s), sample(sketch.domain, rng)};
      const Result<Trace> trace = space->trace(point);
      if (!trace) continue;
      ++drawn;
      expect_applies(task, *trace, i == 0, workload.name + " " + sketch.name + "\n" + to_string(*trace));
    }
  }
  EXPECT_GE(drawn, 600 / kSanitizedShare);
}

const Workload& workload_named(const std::string& name) {
  const auto found = std::ranges::find(workloads(), name, &Workload::name);
  EXPECT_NE(found, workloads().end()) << name;
  return *found;
}

std::string first_arm(const Space& space) {
  const std::string& name =
      space.sketches()[static_cast<size_t>(space.preferred_points().front().sketch)].name;
  return name.substr(0, name.find(' '));
}

TEST(LatheSpace, AlgorithmsAreSketchesWhoseTracesBeginWithARewrite) {
  const auto arms_of = [](const std::string& name) {
    const Task task = task_of(workload_named(name), "x86-avx512", 1);
    const Result<Space> space = derive_space(task);
    EXPECT_TRUE(space);
    std::vector<std::string> arms;
    for (const Point& point : space->preferred_points()) {
      const Result<Trace> trace = space->trace(point);
      EXPECT_TRUE(trace);
      const RewriteStep* step = std::get_if<RewriteStep>(&trace->front());
      const std::string arm = step == nullptr ? "direct" : to_string(*trace).substr(8, step->rule.size());
      const std::string& sketch = space->sketches()[static_cast<size_t>(point.sketch)].name;
      EXPECT_TRUE(sketch.starts_with(arm)) << sketch;
      arms.push_back(arm);
    }
    return arms;
  };
  const std::vector<std::string> dense = arms_of("resnet18.C6");
  EXPECT_GE(std::ranges::count(dense, "winograd"), 3);
  EXPECT_EQ(std::ranges::count(dense, "direct"), 1);
  // By themselves, and each a dense convolution for Winograd.
  EXPECT_GT(std::ranges::count(arms_of("T2D.0.b1"), "phases"), 1);
  EXPECT_GE(std::ranges::count(arms_of("flex.T2D.1"), "phases"), 1);
  // A window of one, and a stride: no algorithm applies.
  EXPECT_EQ(std::ranges::count(arms_of("resnet18.C3"), "winograd"), 0);
  EXPECT_EQ(std::ranges::count(arms_of("resnet18.C4"), "winograd"), 0);
}

TEST(LatheSpace, AnAlgorithmGoesFirstOnlyForAClearGain) {
  const auto first = [](const std::string& op) {
    const Result<std::vector<Workload>> loaded = parse_workloads(op, "space_test");
    EXPECT_TRUE(loaded);
    const Result<Space> space = derive_space(task_of(loaded->front(), "x86-avx512", 1));
    EXPECT_TRUE(space);
    return first_arm(*space);
  };
  EXPECT_EQ(first(R"([{"name":"c", "op":"conv2d", "batch":1, "height":56, "width":56, "in_channels":64,
      "out_channels":64, "kernel":3, "stride":1, "padding":1}])"),
            "winograd");
  // Without the groups as an axis of their own there is nothing but the two images to fill vectors with.
  EXPECT_EQ(first(R"([{"name":"c", "op":"conv2d", "batch":2, "height":14, "width":14, "in_channels":64,
      "out_channels":64, "kernel":3, "stride":2, "padding":1, "groups":4}])"),
            "divided_axis");
  // Hardly any sums for the transforms to save.
  EXPECT_EQ(first(R"([{"name":"c", "op":"conv2d", "batch":1, "height":56, "width":56, "in_channels":64,
      "out_channels":2, "kernel":3, "stride":1, "padding":1}])"),
            "direct");
}

// The tables of a transform have a row for every result along one axis; these have none, or several.
TEST(LatheSpace, SumsOverAnyTableHaveLegalSketches) {
  const std::string entries = "{1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0}";
  const std::vector<std::string> texts = {
      "input A[37, 8] f32\ntable T[8] = " + entries + "\nC[i:37] = sum(r:8) A[i, r] * T[r]",
      "input A[8, 37] f32\ntable T[8] = " + entries + "\nC[i:37] = sum(r:8) T[r] * A[r, i]",
      "input A[44] f32\ntable T[8] = " + entries + "\nC[i:37] = sum(r:8) T[r] * A[i + r]",
      "input A[37, 2] f32\ntable T[4, 2] = " + entries + "\nC[i:37, j:4] = sum(r:2) A[i, r] * T[j, r]",
      "input A[4, 2] f32\ntable T[4, 2] = " + entries + "\nC[j:4] = sum(r:2) A[j, r] * T[j, r]",
      "input A[37, 2] f32\ntable T[2, 2, 2] = " + entries +
          "\nC[i:2, j:2, k:37] = sum(r:2) A[k, r] * T[i, j, r]",
      "input A[37, 4] f32\ntable T[8] = " + entries + "\nC[i:4, j:37] = sum(r:4) T[i + r] * A[j, r]",
  };
  for (const std::string& text : texts) {
    const Task task = make_task("task", parse_dag(text).value(), generic_target("x86-avx2")).value();
    const Result<Space> space = derive_space(task);
    ASSERT_TRUE(space) << text << ": " << space.error().to_string();
    const std::vector<Point> preferred = space->preferred_points();
    ASSERT_FALSE(preferred.empty()) << text;
    for (const Point& point : preferred) {
      const Result<Trace> trace = space->trace(point);
      ASSERT_TRUE(trace) << text << ": " << trace.error().to_string();
      expect_applies(task, *trace, true, text);
    }
  }
}

TEST(LatheSpace, ARequiredAlgorithmLeavesItsSketchesAlone) {
  Task task = task_of(workload_named("resnet18.C12.winograd"), "x86-avx512", 1);
  ASSERT_EQ(task.algorithm, "winograd");
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space) << space.error().to_string();
  EXPECT_GE(space->sketches().size(), 2u);
  ASSERT_FALSE(space->preferred_points().empty());
  for (const Sketch& sketch : space->sketches())
    EXPECT_TRUE(sketch.name.starts_with("winograd ")) << sketch.name;
  EXPECT_EQ(to_string(space->naive()), "rewrite winograd O m=2\n");
  EXPECT_TRUE(apply_trace(task, space->naive()));
  const Result<Program> direct = apply_trace(task, {});
  ASSERT_FALSE(direct);
  EXPECT_EQ(
      direct.error().to_string(),
      "the task is to be computed by the algorithm 'winograd', and no step of the trace rewrites by it");
  task.algorithm.clear();
  EXPECT_TRUE(derive_space(task)->naive().empty());
}

TEST(LatheSpace, ARequiredAlgorithmThatAppliesToNothingIsAnError) {
  const auto error_of = [](const std::string& name, const std::string& algorithm) {
    Task task = task_of(workload_named(name), "x86-avx2", 1);
    task.algorithm = algorithm;
    const Result<Space> space = derive_space(task);
    EXPECT_FALSE(space) << name;
    EXPECT_EQ(space.error().kind, ErrorKind::unsupported);
    return space.error().message;
  };
  const std::string begin = "the task is to be computed by the algorithm ";
  const std::string strided =
      begin +
      "'winograd': winograd does not apply to 'O': it is no sum of products under windows that "
      "slide by single steps";
  EXPECT_EQ(error_of("resnet18.C4", "winograd"), strided);
  EXPECT_EQ(error_of("resnet18.C4", "direct"), begin + "'direct': there is no rewrite rule 'direct'");
}

// What lies between the transforms and the product is as large as the group, not as the image.
TEST(LatheSpace, GroupsKeepWhatLiesBetweenTransformsSmall) {
  const Task task = task_of(workload_named("resnet18.C2"), "x86-avx512", 1);
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space);
  const auto arena_bytes = [&](size_t sketch, bool largest) {
    const Sketch& chosen = space->sketches()[sketch];
    Point point{static_cast<int>(sketch), chosen.preferred};
    const Parameter& group = chosen.domain.parameters.front();
    EXPECT_TRUE(group.name.ends_with(".group"));
    const size_t sizes = std::get<OrderedParameter>(group.kind).values.size();
    point.integers.front() = largest ? static_cast<int64_t>(sizes) - 1 : 0;
    const Result<Trace> trace = space->trace(point);
    EXPECT_TRUE(trace);
    const Result<Program> program = apply_trace(task, *trace);
    EXPECT_TRUE(program) << program.error().to_string();
    const Result<LoweredProgram> lowered = lower(*program, task.target);
    EXPECT_TRUE(lowered) << lowered.error().to_string();
    return lowered->memory.shared_bytes + lowered->memory.thread_bytes;
  };
  const auto sketch = static_cast<size_t>(space->preferred_points().front().sketch);
  EXPECT_LT(arena_bytes(sketch, false), arena_bytes(sketch, true) / 2);
}

Task task_of_text(const std::string& text) {
  Dag dag = parse_dag(text).value();
  return make_task("task", dag, generic_target("x86-avx2"), {}, true).value();
}

void expect_preferred_points_apply(const Task& task) {
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space) << space.error().to_string();
  for (const Point& point : space->preferred_points()) {
    const Result<Trace> trace = space->trace(point);
    ASSERT_TRUE(trace) << trace.error().to_string();
    expect_applies(task, *trace, true, to_string(*trace));
  }
}

TEST(LatheSpace, ProductsOfTheSameOperandPackItEach) {
  expect_preferred_points_apply(
      task_of_text("t[i:16, j:16] = sum(r:16) A[i, r] * B[r, j]\n"
                   "u[i:16, j:16] = sum(r:16) t[i, r] * B[r, j]\n"
                   "v[i:16, j:16] = sum(r:16) u[i, r] * B[r, j]"));
}

// The vectors of a window that slides run along the image's rows, whether or not something is multiplied.
TEST(LatheSpace, WindowsFillVectorsAlongTheRowsOfAnImage) {
  for (const char* text : {"o[y:20, x:20] = sum(k:3, l:3) A[y + k, x + l] * W[k, l]",
                           "o[n:4, y:20, x:20] = sum(k:3, l:3) A[n, y + k, x + l] * W[k, l]",
                           "o[y:20, x:20] = max(k:3, l:3) A[y + k, x + l]",
                           "o[c:16, y:20, x:20] = sum(k:3, l:3) A[c, y + k, x + l] * W[c, k, l]"}) {
    SCOPED_TRACE(text);
    const Task task = make_task("task", parse_dag(text).value(), generic_target("x86-avx2")).value();
    const Result<Space> space = derive_space(task);
    ASSERT_TRUE(space) << space.error().to_string();
    EXPECT_THAT(to_string(space->trace(space->preferred_points()[0]).value()),
                ::testing::HasSubstr("vectorize o x.2"));
    expect_preferred_points_apply(task);
  }
}

// Constants computed of constants are prepared before what reads them.
TEST(LatheSpace, ConstantsMayBeComputedOfEachOther) {
  const auto task_of_constants = [](const std::string& text) {
    return make_task("task", parse_dag(text).value(), generic_target("x86-avx2"), {"W"}, true).value();
  };
  expect_preferred_points_apply(
      task_of_constants("A[f:4, q:3] = sum(k:3) W[f, k] * W[q, k]\n"
                        "B[f:4, q:3] = sum(k:3) A[f, k] * W[q, k]\n"
                        "O[f:4, x:6] = sum(q:3) X[x + q] * B[f, q]"));
  expect_preferred_points_apply(task_of_constants("O[f:4, x:6] = sum(q:3) W[x + q] * W[f + q]"));
  // What reads the first stage waits for the last one.
  expect_preferred_points_apply(
      task_of_constants("M[b:2] = max(j:5) S[b, j]\nD[b:2] = sum(j:5) W[b, j]\n"
                        "P[b:2, j:5] = exp(S[b, j] - M[b]) / D[b]"));
}

// Sixty doublings: inlined into each other they would be an expression of 2^60 nodes.
TEST(LatheSpace, InlinedExpressionsStaySmall) {
  std::string text = "a0[i:8] = A[i] + A[i]\n";
  for (int i = 0; i < 60; ++i) text += fmt::format("a{}[i:8] = a{}[i] + a{}[i]\n", i + 1, i, i);
  expect_preferred_points_apply(task_of_text(text));
}

// What is read at one place only, or under a condition that is never met, follows nobody's loops.
TEST(LatheSpace, ReadsOfOnePlaceOrOfNoneHaveLegalSketches) {
  for (const char* text : {
           "M[i:8] = max(j:16) A[i, j]\nO[] = M[7]",
           "H[t:17, d:64] = sum(k:3) X[t, d, k]\nO[d:64] = tanh(H[0, d])",
           "C[a:40, b:64] = sum(c:64) A[a, c] * B[c, b]\nD[a:40] = C[a, 63]",
           "C[b:2] = min(c:7) A[b, c]\nD[b:2, e:5] = select(b + 2 < 2, C[b + 2], A[b, e])",
           "C[a:1, b:5] = sum(k:3) A[b, k] * B[k, a]\nD[a:1, b:5] = select(a >= 1, C[a - 1, b], 0.0)",
           "C[a:1, b:64] = sum(k:64) A[a, k] * B[k, b]\nD[b:64] = C[0, b] + 1.0",
       }) {
    expect_preferred_points_apply(task_of_text(text));
  }
}

TEST(LatheSpace, AReductionRunsInTheLanesAlsoWhereTheyDoNotDivideIt) {
  const Task task = task_of_text("o[i:3] = sum(r:501) A[i, r]");
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space) << space.error().to_string();
  EXPECT_THAT(to_string(space->trace(space->preferred_points()[0]).value()),
              ::testing::HasSubstr("rfactor o r.1"));
  expect_preferred_points_apply(task);
}

TEST(LatheSpace, AReductionThatFillsNoVectorsHasNoChoiceOfLanes) {
  const Result<Space> space = derive_space(task_of_text("o[i:1] = sum(r:15) A[r]"));
  ASSERT_TRUE(space) << space.error().to_string();
  EXPECT_EQ(space->size(), 1);
}

// Three channels would leave most of each vector empty: the pixels of a row fill them. Channels go on doing
// so where they can.
TEST(LatheSpace, VectorsSlideAlongRowsWhereChannelsAreFew) {
  const auto first = [](int channels) {
    const Result<std::vector<Workload>> loaded = parse_workloads(
        fmt::format(R"([{{"name":"c", "op":"conv2d_transpose", "batch":1, "height":32, "width":32,
            "in_channels":64, "out_channels":{}, "kernel":4, "stride":2, "padding":1}}])",
                    channels),
        "space_test");
    EXPECT_TRUE(loaded);
    const Task task = task_of(loaded->front(), "x86-avx512", 1);
    const Result<Space> space = derive_space(task);
    EXPECT_TRUE(space);
    expect_preferred_points_apply(task);
    return space->sketches()[static_cast<size_t>(space->preferred_points().front().sketch)].name;
  };
  EXPECT_EQ(first(3), "phases O.P vector=xt rows=f");
  EXPECT_THAT(first(64), ::testing::HasSubstr(" vector=f rows="));
}

std::string preferred_trace(const Task& task) {
  const Result<Space> space = derive_space(task);
  EXPECT_TRUE(space) << space.error().to_string();
  return to_string(space->trace(space->preferred_points()[0]).value());
}

// Channels of one vector, so that neighbouring pixels are neighbours; what a window slides over is loaded
// once for all results of a tile; borders are tiles of their own.
TEST(LatheSpace, WindowsOverVectorsShareWhatTheyLoad) {
  const Task task = task_of(workload_named("DEP.0.b1"), "x86-avx2", 1);
  const std::string trace = preferred_trace(task);
  for (const char* step : {"layout O [0][1/8][2][3][1%8]", "layout I [0][1/8][2][3][1%8]", "split O x [14 8]",
                           "ky x.2 kx f.2 f.3", "unroll O kx", "inline I.pad"})
    EXPECT_THAT(trace, ::testing::HasSubstr(step));
  expect_preferred_points_apply(task);
}

// The channels of a group are digits of an index: they, too, lie side by side, in blocks.
TEST(LatheSpace, ChannelsOfAGroupLieInnermost) {
  const std::string trace = preferred_trace(task_of(workload_named("GRP.0.b1"), "x86-avx2", 1));
  for (const char* step : {"layout I [0][1/16][2][3][1%16]", "layout O [0][1/16][2][3][1%16]", "ky kx c x.2",
                           "reorder O.D n fq y.0 x.0 fr.0"})
    EXPECT_THAT(trace, ::testing::HasSubstr(step));
}

// Vectors go on where three channels end, if no condition is about channels and all of them are read.
TEST(LatheSpace, ShortAxesAreCopiedAlongWithTheNext) {
  const auto trace = [](const std::string& source) {
    return preferred_trace(task_of_text("P[y:12, x:12, c:3] = select(1 <= y && y < 11 && 1 <= x && x < 11, " +
                                        source + ", 0.0)"));
  };
  EXPECT_THAT(trace("A[y - 1, x - 1, c]"), ::testing::HasSubstr("fuse P x c\nsplit P x_c [1 8]\n"));
  EXPECT_THAT(trace("A[y - 1, x - 1, 2*c]"), ::testing::Not(::testing::HasSubstr("fuse")));
  EXPECT_THAT(trace("A[y - 1, x - 1, c + 1]"), ::testing::Not(::testing::HasSubstr("fuse")));
  expect_preferred_points_apply(task_of_text(
      "P[y:12, x:12, c:3] = select(1 <= y && y < 11 && 1 <= x && x < 11, A[y - 1, x - 1, c], 0.0)"));
}

// What pads is made where it is read, unless borders were many, or not cut off: it would be asked about in
// every iteration.
TEST(LatheSpace, PaddingHasNoPassOfItsOwn) {
  const auto trace = [](int kernel) {
    const Result<std::vector<Workload>> loaded = parse_workloads(
        fmt::format(R"([{{"name":"c", "op":"conv2d", "batch":1, "height":56, "width":56, "in_channels":64,
            "out_channels":64, "kernel":{}, "stride":2, "padding":{}}}])",
                    kernel, kernel / 2),
        "space_test");
    return preferred_trace(task_of(loaded->front(), "x86-avx2", 1));
  };
  EXPECT_THAT(trace(7), ::testing::HasSubstr("inline I.pad"));
  EXPECT_THAT(trace(19), ::testing::Not(::testing::HasSubstr("inline I.pad")));
}

// What comes from memory is fetched ahead; panels that the second-level cache does not hold two of drive each
// other out.
TEST(LatheSpace, PanelsAreFetchedAheadWhereThereIsRoom) {
  EXPECT_THAT(preferred_trace(task_of(workload_named("resnet18.C10"), "x86-avx2", 1)),
              ::testing::HasSubstr("prefetch O W.pack f.0"));
  const Dag dag = parse_dag("C[i:4, j:32] = sum(r:32768) A[i, r] * B[r, j]").value();
  const Task wide = make_task("wide", dag, generic_target("x86-avx2"), {"B"}).value();
  EXPECT_THAT(preferred_trace(wide), ::testing::AllOf(::testing::HasSubstr("B.pack"),
                                                      ::testing::Not(::testing::HasSubstr("prefetch"))));
}

// One sum of a million squares would lose what is small beside it.
TEST(LatheSpace, LongSumsAreCutInParts) {
  const std::string text = "o[i:16] = sum(r:1000, s:1000) A[i, r, s] * A[i, r, s]";
  const Result<Space> space = derive_space(task_of_text(text));
  ASSERT_TRUE(space) << space.error().to_string();
  const std::vector<Step> trace = space->trace(space->preferred_points()[0]).value();
  EXPECT_THAT(to_string(trace), ::testing::HasSubstr("split o r [1]\nrfactor o r.0"));
}

// Parts of the last axis would leave the lanes nothing.
TEST(LatheSpace, LongSumsOverShortAxesAreCutInFrontOfTheLanes) {
  const Task task = task_of_text("o[i:2] = sum(a:12, b:12, c:12, d:12, e:12, f:13) A[i, a, b, c, d, e, f]");
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space) << space.error().to_string();
  EXPECT_THAT(to_string(space->trace(space->preferred_points()[0]).value()),
              ::testing::HasSubstr("rfactor o a.0"));
  expect_preferred_points_apply(task);
}

TEST(LatheSpace, OnePointGivesOneTrace) {
  const Task task = task_of(workloads()[0], "x86-avx2", 1);
  const Result<Space> first = derive_space(task);
  const Result<Space> second = derive_space(task);
  ASSERT_TRUE(first && second);
  ASSERT_EQ(first->preferred_points(), second->preferred_points());
  for (const Point& point : first->preferred_points())
    EXPECT_EQ(to_string(*first->trace(point)), to_string(*second->trace(point)));
}

TEST(LatheSpace, PointOutsideOfTheDomainIsAnError) {
  const Task task = task_of(workloads()[0], "x86-avx2", 1);
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space);
  Point point = space->preferred_points().front();
  point.integers.push_back(1);
  EXPECT_FALSE(space->trace(point));
  EXPECT_FALSE(space->trace(point));
}

}  // namespace
}  // namespace lathe::testing
