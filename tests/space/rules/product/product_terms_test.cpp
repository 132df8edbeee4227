// Long sums of which a cache block adds up some terms at a time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "expr/parse.h"
#include "rewrite/same_result.h"
#include "space/all.h"
#include "space/rules/product/product.h"
#include "space/rules/rule_case.h"
#include "space/rules/vectors.h"

namespace lathe::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

RuleCase matmul(int m, int n, int k, int cores = 1) {
  const std::string text = fmt::format("C[i:{0}, j:{1}] = sum(r:{2}) A[i,r] * B[r,j]", m, n, k);
  RuleCase result(text, {"B"}, with_cores(generic_target("x86-avx512"), cores));
  result.task().target.cpu().l2.bytes = 1 << 20;
  return result;
}

ProductDecision decided(const RuleCase& c, const Choices& answers = {}) {
  return c.decided(answers, [&](Decider& decider) { return decide_product(decider, c.stage(0), {1, 0}); });
}

TEST(ProductTerms, OnlyASumOfSeveralPartsIsAsked) {
  const auto asked = [](const RuleCase& c) {
    return c.asked([&](Decider& decider) { return decide_product(decider, c.stage(0), {1, 0}); });
  };
  EXPECT_THAT(asked(matmul(96, 64, 255)), Not(Contains("C.terms")));
  EXPECT_THAT(asked(matmul(96, 64, 257)), Not(Contains("C.terms"))) << "no equal parts";
  EXPECT_THAT(asked(matmul(96, 64, 256)), Contains("C.terms"));
}

// All of B, of which no near cache holds much, comes once for 42 rows that are read whole.
TEST(ProductTerms, RowsThatLeaveRoomForFewAreReadInParts) {
  EXPECT_EQ(decided(matmul(256, 768, 3072)).sizes.terms, 384);
  EXPECT_EQ(decided(matmul(32, 768, 3072)).sizes.terms, 3072) << "all rows stay near";
  EXPECT_EQ(decided(matmul(256, 3072, 768)).sizes.terms, 768) << "results would move more than panels";
  EXPECT_EQ(decided(matmul(256, 16, 3072)).sizes.terms, 3072) << "a single panel";
}

TEST(ProductTerms, PartsLieBetweenBlocksAndTiles) {
  const ProductDecision decision = decided(matmul(256, 768, 3072));
  EXPECT_THAT(names_of(decision.outer), ElementsAre("i.0", "j.0", "r.0", "j.1", "i.1"));
  EXPECT_EQ(decision.outer[0].second * decision.outer[1].second, 1) << "everything is one block";
  EXPECT_EQ(decision.outer[2].second, 8);
  EXPECT_TRUE(decision.reduce[0].outermost_is_out);
  EXPECT_THAT(decision.reduce[0].factors, ElementsAre(384));
}

TEST(ProductTerms, EveryCoreHasABlock) {
  for (const int n : {768, 1000, 96}) {
    const RuleCase c = matmul(256, n, 3072, 2);
    const ProductDecision decision = decided(c, {{"C.terms", {384}}});
    EXPECT_GE(decision.outer[0].second * decision.outer[1].second, 2) << n;
    EXPECT_FALSE(decision.shared.shared.empty()) << n;
    EXPECT_THAT(decision.shared.names, Contains("r.0")) << n;
  }
}

// 67 panels of 24 columns have no blocks of several that are all as large.
TEST(ProductTerms, PanelsThatNothingDividesLieInOneBlock) {
  const Dag dag = parse_dag("C[i:512, j:1608] = sum(r:8192) A[i,r] * B[r,j]").value();
  Task task = make_task("t", dag, generic_target("x86-avx2"), {"B"}, true).value();
  task.algorithm = kExactSpecials;  // directly
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space) << space.error().to_string();
  for (size_t sketch = 0; sketch < space->sketches().size(); ++sketch) {
    const Result<Trace> trace = space->trace({static_cast<int>(sketch), space->sketches()[sketch].preferred});
    EXPECT_TRUE(trace) << trace.error().to_string();
  }
  EXPECT_THAT(to_string(space->trace(space->preferred_points().front()).value()),
              HasSubstr("split C j [67 3 8]\n"));
}

// What is asked is the same however wide a tile the model prefers; any answer makes blocks of one size.
TEST(ProductTerms, BlocksOfPanelsDoNotDependOnTheirWidth) {
  const RuleCase c = matmul(256, 1608, 3072);
  const auto blocks = [&](int alternative) {
    Chooser chooser(alternative);
    Decider decider = c.decider(chooser);
    const int64_t vectors = decide_product(decider, c.stage(0), {1, 0}).sizes.vectors;
    const std::vector<Parameter>& asked = chooser.domain().parameters;
    const auto panels = std::ranges::find(asked, "C.panels", &Parameter::name);
    return std::pair(std::get<OrderedParameter>(panels->kind).values, vectors);
  };
  EXPECT_EQ(blocks(0).first, blocks(1).first);
  EXPECT_NE(blocks(0).second, blocks(1).second);
  for (const int64_t block : blocks(0).first) {
    const TileSizes sizes = decided(c, {{"C.panels", {block}}}).sizes;
    EXPECT_EQ(ceil_div(1608, 16 * sizes.vectors) % sizes.panels, 0) << block;
    EXPECT_LE(sizes.panels, block);
  }
}

TEST(ProductTerms, ResultsComeAndGoWithEachPart) {
  const RuleCase c = matmul(256, 768, 3072);
  const ProductDecision decision = decided(c);
  EXPECT_THAT(c.written([&](Writer& writer) { write_product(writer, decision); }),
              AllOf(HasSubstr("split C r [384]\nreorder C i.0 j.0 r.0 j.1 i.1 r.1 i.2 j.2 j.3\n"),
                    HasSubstr("split C.acc.in j [16]\n"), HasSubstr("split C.acc.out j [16]\n")));
}

// One panel at a time over all pixels would bring the image, which stays nowhere near, for each of 64 panels.
TEST(ProductTerms, LinesOfPlainPixelsAreTakenInBlocks) {
  const auto conv = [](int kernel, int size) {
    const std::string text =
        fmt::format("O[f:1024, y:{0}, x:{0}] = sum(c:512, a:{1}, b:{1}) I[c, y + a, x + b] * W[f, c, a, b]",
                    size, kernel);
    RuleCase result(text, {"W"}, generic_target("x86-avx512"));
    result.task().target.cpu().l2.bytes = 1 << 20;
    return result;
  };
  const auto decided_of = [](const RuleCase& c) {
    return c.decided({}, [&](Decider& decider) { return decide_product(decider, c.stage(0), {0, 2}); });
  };
  const ProductDecision large = decided_of(conv(1, 28));
  EXPECT_GT(large.sizes.others, 1);
  EXPECT_EQ(large.outer.front().first, "y.0");
  EXPECT_EQ(decided_of(conv(1, 7)).sizes.others, 1) << "the image stays near";
  EXPECT_EQ(decided_of(conv(3, 28)).sizes.others, 1) << "neighbours read the same";
}

// An epilogue is computed when all parts have been added up, of a whole block.
class CutSums : public ::testing::TestWithParam<int> {};

TEST_P(CutSums, ComputeTheSame) {
  const int cores = GetParam();
  Rng rng(11);
  for (const char* text :
       {"C[i:21, j:44] = sum(r:192) A[i,r] * B[r,j]",
        "C[i:21, j:44] = sum(r:128) A[i,r] * B[r,j]\nD[i:21, j:44] = max(C[i,j] + b[j] + R[i,j], 0.0)",
        "C[f:20, y:6, x:7] = sum(c:128) I[c,y,x] * B[f,c]\nD[f:20, y:6, x:7] = max(C[f,y,x], 0.0)",
        "C[n:2, i:9, j:20] = sum(r:192) A[n,i,r] * B[n,r,j]\nD[n:2, j:20, i:9] = exp(C[n,i,j])",
        "C[i:21, j:44] = sum(r:128, s:2) A[i,r,s] * B[r,s,j]"}) {
    SCOPED_TRACE(text);
    const Target target = with_cores(generic_target("x86-avx2"), cores);
    const Task task = make_task("task", parse_dag(text).value(), target, {"B"}, true).value();
    const Result<Space> space = derive_space(task);
    ASSERT_TRUE(space) << space.error().to_string();
    int cut = 0;
    for (size_t sketch = 0; sketch < space->sketches().size(); ++sketch) {
      const Domain& domain = space->sketches()[sketch].domain;
      for (int i = 0; i < 8; ++i) {
        const Result<Trace> trace = space->trace({static_cast<int>(sketch), sample(domain, rng)});
        if (!trace) continue;
        cut += to_string(*trace).find(".acc.in") != std::string::npos ? 1 : 0;
        expect_same(task, *trace);
      }
    }
    EXPECT_GT(cut, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Cores, CutSums, ::testing::Values(1, 2));

}  // namespace
}  // namespace lathe::testing
