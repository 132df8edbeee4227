#include "space/ansor/annotation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domain/choices.h"
#include "expr/parse.h"
#include "target/all.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;

Task annotated_task(const std::string& text, int cores) {
  return make_task("task", parse_dag(text).value(), with_cores(generic_target("x86-avx2"), cores)).value();
}

Domain domain_of(const Task& task, const Outline& outline) {
  Chooser declaring;
  annotate(task, outline, {}, declaring);
  return declaring.domain();
}

std::vector<std::string> questions_of(const Task& task, size_t outline) {
  std::vector<std::string> names;
  for (const Parameter& parameter : domain_of(task, outlines_of(task, {})[outline]).parameters)
    names.push_back(parameter.name);
  return names;
}

constexpr const char* kPadded =
    "P[x:18] = select(x < 17, I[x], 0.0)\nC[f:8, x:16] = sum(k:3) P[x + k] * W[f, k]";

TEST(Annotation, EachKindOfQuestionHasItsPrefix) {
  EXPECT_THAT(
      questions_of(annotated_task(kPadded, 2), 0),
      ElementsAre("tile.C.f", "tile.C.x", "tile.C.k", "unroll.C", "parallel.C", "at.P", "parallel.P"));
  // One core shares nothing.
  EXPECT_THAT(questions_of(annotated_task(kPadded, 1), 0),
              ElementsAre("tile.C.f", "tile.C.x", "tile.C.k", "unroll.C", "at.P"));
}

TEST(Annotation, SpatialAxesAreCutInFourAndReduceAxesInTwo) {
  const Task task = annotated_task(kPadded, 1);
  const Domain domain = domain_of(task, outlines_of(task, {})[0]);
  const auto& x = std::get<SplitParameter>(domain.parameters[1].kind);
  const auto& k = std::get<SplitParameter>(domain.parameters[2].kind);
  EXPECT_EQ(x.extent, 16);
  EXPECT_EQ(x.parts, 4);
  EXPECT_FALSE(x.imperfect);
  EXPECT_EQ(x.largest_innermost, 64);
  EXPECT_EQ(k.parts, 2);
  EXPECT_EQ(std::get<OrderedParameter>(domain.parameters[3].kind).values,
            (std::vector<int64_t>{0, 16, 64, 512}));
}

// The root, two axes in two levels, one reduce axis, and inline.
TEST(Annotation, APaddingIsAtTheRootInALoopOfItsReaderOrInline) {
  const Task task = annotated_task(kPadded, 1);
  const Outline outline = outlines_of(task, {})[0];
  const Domain domain = domain_of(task, outline);
  const auto& values = std::get<OrderedParameter>(domain.parameters.back().kind).values;
  EXPECT_THAT(values, ElementsAre(0, 1, 2, 3, 4, 5, 6));
  const auto answer = [&](int64_t place) {
    Chooser declaring;
    annotate(task, outline, {}, declaring);
    const auto integers = integers_of(domain, {{"at.P", {place}}}, declaring.preferred()).value();
    Chooser replaying(domain, integers);
    return annotate(task, outline, {}, replaying)[0];
  };
  EXPECT_EQ(answer(0).place, 0);
  EXPECT_EQ(answer(5).place, 5);
  EXPECT_FALSE(answer(5).is_inlined);
  EXPECT_EQ(answer(6).place, 0);
  EXPECT_TRUE(answer(6).is_inlined);
}

TEST(Annotation, AReductionInPartsHasOneSplitAndPlacesOfItsPartialResults) {
  const Task task = annotated_task("o[b:4] = sum(i:8, j:6) A[b, i, j]\ns[b:4] = sqrt(o[b])", 2);
  EXPECT_THAT(questions_of(task, 0), ElementsAre("parallel.s", "tile.o.i_j", "unroll.o", "at.o",
                                                 "unroll.o.rf", "at.o.rf", "parallel.o"));
  EXPECT_EQ(std::get<SplitParameter>(domain_of(task, outlines_of(task, {})[0]).parameters[1].kind).extent,
            48);
}

TEST(Annotation, WhatIsTakenAlongAsksNothing) {
  const Task task =
      annotated_task("C[i:8, j:8] = sum(r:8) A[i, r] * B[r, j]\nD[i:8, j:8] = max(C[i, j], 0.0)", 2);
  EXPECT_THAT(questions_of(task, 0),
              ElementsAre("tile.C.i", "tile.C.j", "tile.C.r", "unroll.C", "parallel.C"));
  EXPECT_THAT(questions_of(task, 2),
              ElementsAre("parallel.D", "tile.C.i", "tile.C.j", "tile.C.r", "unroll.C", "parallel.C"));
}

TEST(Annotation, PlacesEndInsideTheFirstReduceLoops) {
  const Task task = annotated_task(kPadded, 1);
  const Outline outline = outlines_of(task, {})[0];
  std::vector<std::pair<int, size_t>> places;
  for (const auto& [level, axis] : places_in(outline.dag.computes[1], outline.nodes[1], {1, 0, 2}))
    places.emplace_back(level, axis);
  using Place = std::pair<int, size_t>;
  EXPECT_THAT(places, ElementsAre(Place(kOuter, 1), Place(kOuter, 0), Place(kMiddle, 1), Place(kMiddle, 0),
                                  Place(kOuterReduce, 2)));
  EXPECT_EQ(count_places(outline.dag.computes[1], outline.nodes[1]), 5);
  EXPECT_EQ(count_places(outline.dag.computes[0], outline.nodes[0]), 1);
  EXPECT_EQ(count_places(outline.dag.computes[0], {.structure = Structure::along}), 0);
}

TEST(Annotation, TablesAndSumsOverThemStayWhole) {
  const Dag dag = parse_dag(
                      "input A[32, 2] f32\ntable T[3, 2] = {1.0, 0.0, -1.0, 0.0, 0.0, 1.0}\n"
                      "C[i:32, t:3] = sum(r:2) A[i, r] * T[t, r]")
                      .value();
  EXPECT_THAT(levels_of(dag.computes[0], 0, Structure::unrolled), ElementsAre(kOuter, kInner));
  EXPECT_THAT(levels_of(dag.computes[0], 1, Structure::unrolled), ElementsAre(kInnermost));
  EXPECT_THAT(levels_of(dag.computes[0], 2, Structure::unrolled), ElementsAre(kInnermost));
  EXPECT_THAT(levels_of(dag.computes[0], 2, Structure::whole), ElementsAre(kInnerReduce));
}

}  // namespace
}  // namespace lathe
