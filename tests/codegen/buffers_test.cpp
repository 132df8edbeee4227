#include "codegen/buffers.h"

#include <gmock/gmock.h>

#include "base/check.h"
#include "codegen/lowered_builder.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> names_of(const std::vector<BufferUse>& uses) {
  std::vector<std::string> names;
  for (const BufferUse& use : uses) names.push_back(use.tensor->name);
  return names;
}

class Buffers : public ::testing::Test {
 protected:
  std::vector<BufferUse> uses(const Stmt& stmt) { return buffers_used(builder.lowered(), stmt); }
  std::vector<std::string> used(const Stmt& stmt) { return names_of(uses(stmt)); }

  LoweredBuilder builder;
  Tensor a = builder.input("a", 8), b = builder.input("b", 8), c = builder.output("c", 8);
  Tensor packed = builder.prepared("packed", 8);
  Var i{"i"};
};

TEST_F(Buffers, AreThoseThatAreAccessedInOrder) {
  EXPECT_THAT(used(store(c, 0, load(b, {0}) + load(a, {0}))), ElementsAre("c", "b", "a"));
  EXPECT_THAT(used(make_seq({store(c, 0, load(a, {0})), store(c, 1, load(b, {1}) + load(a, {2}))})),
              ElementsAre("c", "a", "b"));
  EXPECT_THAT(used(store(c, 0, Expr(1.0))), ElementsAre("c"));
}

// Each is asked for where it hides: masks, indices, extents, conditions, prefetches.
TEST_F(Buffers, HideInEveryPartOfAStatement) {
  const Affine chosen = opaque(cast({DType::i64, 1}, load(a, {0})));
  EXPECT_THAT(used(store(c, chosen, Expr(1.0))), ElementsAre("c", "a"));
  EXPECT_THAT(used(store(c, 0, load(b, {floor_div(chosen, 2) + 1}))), ElementsAre("c", "b", "a"));
  EXPECT_THAT(
      used(vector_store(c, 0, broadcast(Expr(1.0), 4), 1, vector_load(b, 0, 4) < broadcast(Expr(1.0), 4))),
      ElementsAre("c", "b"));
  EXPECT_THAT(used(loop(i, chosen, store(c, i, Expr(1.0)))), ElementsAre("a", "c"));
  EXPECT_THAT(used(make_stmt(If{{{.value = chosen, .bound = 3}}, store(c, 0, Expr(1.0))})),
              ElementsAre("a", "c"));
  EXPECT_THAT(used(make_stmt(Prefetch{b, {chosen}})), ElementsAre("b", "a"));
}

TEST_F(Buffers, ArgumentsAreNumberedAndPreparedOnesFollow) {
  const auto found = uses(make_seq({store(c, 0, load(packed, {0}) + load(b, {0}))}));
  ASSERT_EQ(found.size(), 3U);
  for (const BufferUse& use : found) EXPECT_EQ(use.storage, Storage::argument);
  EXPECT_EQ(found[0].argument, 2);
  EXPECT_EQ(found[1].argument, 3) << "behind the three arguments";
  EXPECT_EQ(found[2].argument, 1);
}

TEST_F(Buffers, WhatStreamsIsSaidOfTheArgument) {
  LoweredProgram lowered = builder.lowered();
  lowered.program.arguments[2].streams = true;
  const auto found = buffers_used(lowered, store(c, 0, load(a, {0})));
  EXPECT_TRUE(found[0].streams);
  EXPECT_FALSE(found[1].streams);
}

TEST_F(Buffers, ArenasHaveTheirPlace) {
  builder.buffer("before", 20, Arena::workspace);
  const Tensor shared = builder.buffer("shared", 5, Arena::workspace);
  const Tensor own = builder.buffer("own", 6, Arena::thread);
  const Tensor tile = builder.buffer("tile", 7, Arena::registers);
  const Tensor table = Tensor::literal("table", {2}, {1, 2});
  const auto found = uses(
      make_seq({store(shared, 0, Expr(1.0)), store(own, 0, Expr(1.0)), store(tile, 0, load(table, {0}))}));
  ASSERT_THAT(names_of(found), ElementsAre("shared", "own", "tile", "table"));
  EXPECT_EQ(found[0].storage, Storage::workspace);
  EXPECT_EQ(found[0].offset, 128);
  EXPECT_EQ(found[0].bytes, 20);
  EXPECT_EQ(found[1].storage, Storage::thread);
  EXPECT_EQ(found[1].offset, 0);
  EXPECT_EQ(found[2].storage, Storage::registers);
  EXPECT_EQ(found[2].bytes, 28);
  EXPECT_EQ(found[3].storage, Storage::literal);
}

TEST_F(Buffers, ATensorWithoutAPlaceIsOurMistake) {
  EXPECT_THROW(uses(store(Tensor("stray", {4}), 0, Expr(1.0))), InternalError);
}

struct Overlap {
  Storage storage;
  int64_t offset, bytes;
};

bool overlap(const Overlap& a, const Overlap& b) {
  const auto use = [](const Overlap& place) {
    BufferUse made;
    made.storage = place.storage;
    made.offset = place.offset;
    made.bytes = place.bytes;
    return made;
  };
  EXPECT_EQ(may_overlap(use(a), use(b)), may_overlap(use(b), use(a)));
  return may_overlap(use(a), use(b));
}

TEST(BuffersOverlap, WhereBytesOfOneArenaDo) {
  EXPECT_TRUE(overlap({Storage::workspace, 0, 65}, {Storage::workspace, 64, 8}));
  EXPECT_TRUE(overlap({Storage::thread, 0, 256}, {Storage::thread, 64, 8}));
  EXPECT_FALSE(overlap({Storage::workspace, 0, 64}, {Storage::workspace, 64, 8}));
  EXPECT_FALSE(overlap({Storage::workspace, 0, 64}, {Storage::thread, 0, 64}));
  EXPECT_FALSE(overlap({Storage::argument, 0, 64}, {Storage::argument, 0, 64}))
      << "callers give distinct ones";
  EXPECT_FALSE(overlap({Storage::registers, 0, 64}, {Storage::registers, 0, 64}));
}

}  // namespace
}  // namespace lathe::testing
