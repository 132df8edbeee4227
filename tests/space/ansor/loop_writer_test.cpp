#include "space/ansor/loop_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kProduct = "C[i:64, j:64] = sum(r:64) A[i, r] * B[r, j]";

NodeLoops product_loops(std::vector<int64_t> i, std::vector<int64_t> j, std::vector<int64_t> r) {
  const std::vector<int> spatial = {kOuter, kMiddle, kInner, kInnermost};
  return cut("C",
             {{.name = "i", .extent = 64, .axis = 0, .levels = spatial, .factors = std::move(i)},
              {.name = "j", .extent = 64, .axis = 1, .levels = spatial, .factors = std::move(j)},
              {.name = "r",
               .extent = 64,
               .axis = 2,
               .reduces = true,
               .levels = {kOuterReduce, kInnerReduce},
               .factors = std::move(r)}},
             1, 8);
}

// With work of the product's stage, which `change` may alter.
template <class Change>
std::string written(const RuleCase& rule_case, NodeLoops loops, const Change& change) {
  LoopWork work{.stage = rule_case.stage(0), .reduces = true, .layout = Layout::row_major(2)};
  change(work);
  return rule_case.written([&](Writer& writer) { EXPECT_TRUE(write_node_loops(writer, loops, work)); });
}

TEST(LoopWriter, AWholeTileInVectorsIsCollectedInRegisters) {
  const std::string trace = written(RuleCase(kProduct), product_loops({4, 1, 4}, {1, 2, 16}, {16}),
                                    [](LoopWork& work) { work.unroll = 16; });
  EXPECT_EQ(trace,
            "split C i [4 4]\nsplit C j [2 16]\nsplit C r [16]\n"
            "reorder C i.0 j.0 i.1 r.0 j.1 r.1 i.2 j.2\n"
            "cache_write C C.acc at=j.1 scope=registers\n"
            "reorder C.acc.out i j\nunroll C.acc.out i\nvectorize C.acc.out j\n"
            "reorder C.acc.in i j\nunroll C.acc.in i\nvectorize C.acc.in j\n"
            "unroll C i.2\nvectorize C j.2\n");
}

TEST(LoopWriter, OneThatIsNotWrittenOutStaysInMemory) {
  EXPECT_THAT(written(RuleCase(kProduct), product_loops({4, 1, 4}, {1, 2, 16}, {16}), [](LoopWork&) {}),
              Not(HasSubstr("registers")));
}

// Sixteen rows of one vector and more are too many for sixteen registers.
TEST(LoopWriter, OneThatFitsNoRegistersStaysInMemory) {
  EXPECT_THAT(written(RuleCase(kProduct), product_loops({4, 1, 16}, {1, 2, 8}, {16}),
                      [](LoopWork& work) { work.unroll = 64; }),
              Not(HasSubstr("registers")));
}

// Of a tile that is written out with all that it sums.
TEST(LoopWriter, OneOfTooManyStatementsStaysInMemory) {
  const auto with_terms = [](int64_t terms) {
    return written(RuleCase(kProduct),
                   cut("C",
                       {{.name = "i", .extent = 64},
                        {.name = "r", .extent = terms, .axis = 2, .reduces = true, .levels = {kInnermost}}},
                       std::nullopt, 8),
                   [](LoopWork& work) { work.unrolls_innermost = true; });
  };
  EXPECT_THAT(with_terms(96), HasSubstr("registers"));
  EXPECT_THAT(with_terms(97), Not(HasSubstr("registers")));
}

TEST(LoopWriter, ResultsAreTakenAtTheEndOfTheirTile) {
  const auto with_level = [](int level) {
    return written(RuleCase(kProduct), product_loops({4, 2, 4}, {2, 1, 16}, {16}),
                   [&](LoopWork& work) { work.level = level; });
  };
  EXPECT_THAT(with_level(1), HasSubstr("cache_write C C.local at=j.0 scope=thread"));
  EXPECT_THAT(with_level(2), HasSubstr("cache_write C C.local at=j.1 scope=thread"));
}

// Nothing lies between the tile that is taken and the one in registers.
TEST(LoopWriter, ATileThatIsTakenMayBeTheOneInRegisters) {
  const std::string trace =
      written(RuleCase(kProduct), product_loops({4, 1, 4}, {2, 1, 16}, {16}), [](LoopWork& work) {
        work.level = 2;
        work.unroll = 16;
      });
  EXPECT_THAT(trace, HasSubstr("cache_write C C.local at=j.1 scope=registers"));
  EXPECT_THAT(trace, Not(HasSubstr("C.acc")));
}

TEST(LoopWriter, LoopsAreUnrolledFromInsideWithinTheStep) {
  const auto with_step = [](int64_t step) {
    return written(RuleCase(kProduct), product_loops({4, 1, 4}, {2, 1, 16}, {4}),
                   [&](LoopWork& work) { work.unroll = step; });
  };
  EXPECT_THAT(with_step(0), Not(HasSubstr("unroll")));
  EXPECT_THAT(with_step(15), Not(HasSubstr("unroll C r.1")));
  EXPECT_THAT(with_step(16), HasSubstr("unroll C r.1"));
  EXPECT_THAT(with_step(64), Not(HasSubstr("unroll C i.1")));
}

TEST(LoopWriter, LoopsThatHoldProducersAreNotWrittenOut) {
  const std::string trace =
      written(RuleCase(kProduct), product_loops({4, 1, 4}, {2, 1, 16}, {4}), [](LoopWork& work) {
        work.unroll = 512;
        work.held = {4};
      });
  EXPECT_THAT(trace, HasSubstr("unroll C r.1"));
  EXPECT_THAT(trace, Not(HasSubstr("unroll C r.0")));
}

TEST(LoopWriter, OuterLoopsAreSharedUntilThereAreEnoughPieces) {
  const auto with_pieces = [](int64_t pieces, std::vector<size_t> held = {}) {
    return written(RuleCase(kProduct, {}, 4), product_loops({4, 1, 1}, {4, 1, 8}, {64}), [&](LoopWork& work) {
      work.pieces = pieces;
      work.held = std::move(held);
    });
  };
  EXPECT_THAT(with_pieces(0), Not(HasSubstr("parallel")));
  EXPECT_THAT(with_pieces(1), HasSubstr("\nparallel C i.0\n"));
  EXPECT_THAT(with_pieces(4), HasSubstr("fuse C i.0 j.0\nparallel C i.0_j.0\n"));
  // All spatial loops outside of the sum, but not the one that holds a producer's with others.
  EXPECT_THAT(with_pieces(64), HasSubstr("fuse C i.0 j.0 i.1 j.1\n"));
  EXPECT_THAT(with_pieces(64, {1}), HasSubstr("fuse C i.0 j.0\n"));
}

TEST(LoopWriter, WhatBecomesTooLongIsAnError) {
  const RuleCase rule_case("C[i:512] = sum(r:9, s:4096) A[i, r] * B[r, s]");
  NodeLoops loops = cut("C",
                        {{.name = "i", .extent = 512},
                         {.name = "s", .extent = 4096, .axis = 2, .reduces = true, .levels = {kInnermost}},
                         {.name = "r", .extent = 9, .axis = 1, .reduces = true, .levels = {kInnermost}}},
                        std::nullopt, 8);
  Writer writer{rule_case.analysis()};
  const LoopWork work{.stage = rule_case.stage(0), .reduces = true, .unrolls_innermost = true};
  const Status status = write_node_loops(writer, loops, work);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("too long: the body of 'C' becomes 36864 statements"));
}

}  // namespace
}  // namespace lathe::testing
