// The space `autotvm` on every operator: which have a template, how many points there are, how many of them
// may be tried, and that thinned spaces are as good.
#include "space/templates/derive_templates.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "domain/thin.h"
#include "ops/all_workloads.h"
#include "space/all.h"
#include "space/templates/template_case.h"
#include "test_share.h"

namespace lathe::testing {
namespace {

using ::testing::HasSubstr;

Task task_named(const std::string& name, const std::string& target = "x86-avx512") {
  const auto found = std::ranges::find(workloads(), name, &Workload::name);
  EXPECT_NE(found, workloads().end()) << name;
  return make_task(*found, generic_target(target), false).value();
}

constexpr int kDraws = 100;

// Of points that `draw` gives as integers of the sketch.
template <class Draw>
int legal_of(const Space& space, const Draw& draw) {
  int legal = 0;
  for (int i = 0; i < kDraws; ++i) legal += space.trace({0, draw()}) ? 1 : 0;
  return legal;
}

int legal_of(const Space& space) {
  Rng rng(7);
  return legal_of(space, [&] { return sample(space.sketches().front().domain, rng); });
}

bool has_template(const std::string& op) {
  constexpr std::array kNone{"capsule_conv2d",        "frobenius_norm", "transpose_batch_matmul_softmax",
                             "conv2d_winograd",       "bilinear",       "shift_conv2d",
                             "block_circulant_matrix"};
  return std::ranges::find(kNone, op) == kNone.end();
}

// Four of five points are legal, in the whole and of each case nearly so: hundred draws err by some.
TEST(TemplateSpace, EveryProductAndConvolutionHasATemplateOfMostlyLegalPoints) {
  int cases = 0;
  for (size_t w = 0; w < workloads().size(); w += kSanitizedShare) {
    const Workload& workload = workloads()[w];
    const Target target = generic_target(w % 2 == 0 ? "x86-avx512" : "x86-avx2");
    const Task task = make_task(workload, target, w % 3 == 0).value();
    const Result<Space> space = derive_space(task, "autotvm");
    if (!has_template(workload.op)) {
      ASSERT_FALSE(space) << workload.name;
      EXPECT_EQ(space.error().kind, ErrorKind::unsupported) << workload.name;
      continue;
    }
    ASSERT_TRUE(space) << workload.name << ": " << space.error().to_string();
    ++cases;
    EXPECT_EQ(space->sketches().size(), 1u);
    EXPECT_TRUE(space->preferred_points().empty());
    EXPECT_TRUE(space->trace({0, space->sketches().front().preferred})) << workload.name;
    EXPECT_GE(legal_of(*space), kDraws * 3 / 4) << workload.name;
  }
  EXPECT_GE(cases, 190 / kSanitizedShare);
}

TEST(TemplateSpace, SizesOfTheNetworkOfThePaper) {
  const std::pair<const char*, int64_t> sizes[] = {
      {"C1", 33600}, {"C2", 150528}, {"C3", 37632}, {"C4", 96768},  {"C5", 24192}, {"C6", 110592},
      {"C7", 55296}, {"C8", 13824},  {"C9", 62208}, {"C10", 17280}, {"C11", 4320}, {"C12", 19200}};
  for (const auto& [name, size] : sizes)
    EXPECT_EQ(templates_of(task_named(std::string("resnet18.") + name)).size(), size) << name;
}

// Small enough for every point to be measured.
TEST(TemplateSpace, ThinnedSpacesAreSpacesToo) {
  for (const char* name : {"resnet18.C2", "resnet18.C6", "resnet18.C9", "matmul.1024"}) {
    const Task task = task_named(name);
    const Space space = templates_of(task);
    const Sketch& sketch = space.sketches().front();
    const ThinnedDomain thinned = thin(sketch.domain, sketch.preferred, 16384);
    EXPECT_LE(thinned.domain.size(), 16384) << name;
    EXPECT_GE(thinned.domain.size(), 4096) << name;
    Rng rng(7);
    const int legal = legal_of(space, [&] {
      const Choices choices = choices_of(thinned.domain, sample(thinned.domain, rng));
      const auto integers = integers_of(sketch.domain, choices, sketch.preferred);
      EXPECT_TRUE(integers) << name;
      return *integers;
    });
    EXPECT_GE(legal, kDraws * 8 / 10) << name;
  }
}

TEST(TemplateSpace, WhatHasNoTemplateIsNamed) {
  const auto message = [](const Task& task) { return derive_templates(task).error().to_string(); };
  EXPECT_EQ(message(task_named("NRM.0.b1")),
            "the space 'autotvm' has no template for compute 'o.sum' of task 'NRM.0.b1': there are templates "
            "for matrix products and for convolutions, dense, grouped and depthwise");
  EXPECT_THAT(message(task_named("resnet18.C2.winograd")), HasSubstr("the required algorithm 'winograd'"));
  EXPECT_THAT(message(task_named("flex.SHO.0")), HasSubstr("compute 'O'"));
  Task device = task_named("resnet18.C2");
  for (const TargetRow& row : all_targets()) {
    device.target = row.generic();
    const Result<Space> space = derive_templates(device);
    if (std::holds_alternative<CpuTarget>(device.target.kind)) {
      EXPECT_TRUE(space) << row.name;
      continue;
    }
    EXPECT_EQ(space.error().kind, ErrorKind::unsupported);
    EXPECT_EQ(space.error().to_string(), "the space 'autotvm' has templates for processors, and target '" +
                                             device.target.name + "' is none");
  }
}

// Two products, what is computed once of constants, and what follows and stands between.
TEST(TemplateSpace, SeveralProductsHaveATemplateEach) {
  const Task task = task_of_formula(R"(V[r:16, j:24] = B[r,j] * 2.0
P[i:12, j:24] = sum(r:16) A[i,r] * V[r,j]
H[i:12, j:24] = max(P[i,j], 0.0)
Q[i:12, k:8] = sum(j:24) H[i,j] * D[j,k]
O[i:12, k:8] = Q[i,k] + exp(E[i,k]))",
                                    {"B", "D"});
  EXPECT_EQ(templates_of(task).sketches().front().name, "gemm P, gemm Q");
  EXPECT_THAT(text_with(task, {}), HasSubstr("prepare V\n"));
  expect_points_are_right(task, 12);
}

// Several readers of a result or of the data, other orders and shapes of what follows, chains, and sums of
// two products.
TEST(TemplateSpace, WhatStandsAroundProductsIsRight) {
  const char* product = "P[i:8, j:12] = sum(r:6) A[i,r] * B[r,j]\n";
  const char* window = "P[f:8, x:8] = sum(c:4, q:3) I[c, x + q] * W[f,c,q]\n";
  for (const std::string& text : {
           product + std::string("O[i:8, j:12] = P[i,j] + 1.0\nQ[i:8, j:12] = P[i,j] * 2.0"),
           product + std::string("O[k:96] = max(P[k/12, k%12], 0.0)"),
           product + std::string("T[j:12, i:8] = exp(P[i,j])\nO[j:12, k:4] = sum(i:8) T[j,i] * W[i,k]"),
           product + std::string("O[k:4, j:12] = sum(i:8) W[k,i] * P[i,j]"),
           window + std::string("H[f:8, x:8] = max(P[f,x] + B[f], 0.0)\n"
                                "O[g:6, x:6] = sum(f:8, q:3) H[f, x + q] * U[g,f,q]"),
           window + std::string("Q[f:8, x:8] = sum(c:4) J[c,x] * U[f,c]\nO[f:8, x:8] = P[f,x] + Q[f,x]"),
           window + std::string("Q[f:6, x:6] = sum(c:4, q:3) I[c, x + q] * B[f,c,q]"),
           window + std::string("O[x:8, f:8] = P[f,x] * 2.0"),
           window + std::string("O[f:8, x:4] = max(P[f, 2*x], P[f, 2*x + 1])"),
       }) {
    std::vector<std::string> constants;
    for (const char* name : {"B", "U", "W"}) {
      if (text.find(std::string(name) + "[") != std::string::npos) constants.emplace_back(name);
    }
    expect_points_are_right(task_of_formula(text, constants), 8);
  }
}

}  // namespace
}  // namespace lathe::testing
