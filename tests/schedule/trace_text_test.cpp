// The text form of traces: every step reads back, and errors name the place.
#include <gtest/gtest.h>

#include <set>

#include "schedule/trace.h"

namespace lathe {
namespace {

// One line for each form of each step, as the printer writes it.
constexpr const char* kAllSteps = R"(rewrite winograd O key=2 m=4
rewrite phases O.P
split C i [2 8]
fuse C i.0 j
reorder C j i r
serial C i
unroll C i
vectorize C j
parallel C i
bind C i block
bind C j thread
inline T
compute_at T C i.0 scope=registers
compute_at T C i.0 scope=shared
reverse_compute_at D C j scope=thread
prepare T
cache_read C B B.pack at=prepare scope=workspace layout=[1/16][0][1%16]
cache_read C A a at=i.0 scope=thread
cache_read C A a at=root scope=workspace type=i16
cache_read C A a at=root scope=workspace layout=[1][0] type=i16
cache_write C C.reg at=j scope=registers
rfactor C r.1
layout T [0][1/4%4][1/16][1%4+2]
tail C i guard
tail C i bound
tail C i peel
tail C i mask
tail C i overlap
tail C i pad
prefetch C B j distance=2
prefetch C B j distance=-1 at=r
skip_zeros C
stream C
tensorize C r.1 intrinsic=dot4_u8_i8
)";

TEST(TraceText, EveryStepReadsBack) {
  const Result<Trace> trace = parse_trace(kAllSteps);
  ASSERT_TRUE(trace.has_value()) << trace.error().to_string();
  EXPECT_EQ(to_string(*trace), kAllSteps);
  EXPECT_EQ(parse_trace(to_string(*trace)).value(), *trace);
  std::set<size_t> kinds;
  for (const Step& step : *trace) kinds.insert(step.index());
  EXPECT_EQ(kinds.size(), std::variant_size_v<Step>) << "a step has no line above";
}

// Every field arrives where it belongs.
TEST(TraceText, Fields) {
  const Trace trace = parse_trace(
                          "rewrite winograd O m=4 n=-2\n"
                          "compute_at T C i scope=registers\n"
                          "reverse_compute_at D C j scope=thread\n"
                          "prefetch C B j distance=3 at=r\n"
                          "bind C i thread\n"
                          "cache_write C c at=j scope=shared\n")
                          .value();
  const auto& rewrite = std::get<RewriteStep>(trace[0]);
  EXPECT_EQ(rewrite.rule, "winograd");
  EXPECT_EQ(rewrite.stage, "O");
  EXPECT_EQ(rewrite.parameters.at("m"), 4);
  EXPECT_EQ(rewrite.parameters.at("n"), -2);
  const auto& at = std::get<ComputeAtStep>(trace[1]);
  EXPECT_EQ(at.block + "," + at.consumer + "," + at.loop, "T,C,i");
  EXPECT_EQ(at.scope, Scope::registers);
  const auto& reverse = std::get<ReverseComputeAtStep>(trace[2]);
  EXPECT_EQ(reverse.block + "," + reverse.producer + "," + reverse.loop, "D,C,j");
  EXPECT_EQ(reverse.scope, Scope::thread);
  const auto& fetch = std::get<PrefetchStep>(trace[3]);
  EXPECT_EQ(fetch.block + "," + fetch.tensor + "," + fetch.loop + "," + fetch.at, "C,B,j,r");
  EXPECT_EQ(fetch.distance, 3);
  EXPECT_EQ(trace[4], Step(AnnotateStep{"C", "i", LoopKind::thread}));
  EXPECT_EQ(trace[5], Step(CacheWriteStep{"C", "c", "j", Scope::shared}));
}

// Options that are given as what they are by themselves are left out.
TEST(TraceText, DefaultsAreNotWritten) {
  EXPECT_EQ(to_string(Step(PrefetchStep{"C", "B", "j"})), "prefetch C B j distance=1");
  EXPECT_EQ(to_string(Step(CacheReadStep{"C", "B", "b", "root", Scope::thread, {}})),
            "cache_read C B b at=root scope=thread");
  EXPECT_EQ(to_string(Step(RewriteStep{"phases", "O", {}})), "rewrite phases O");
}

// Comments, blanks, empty lines and semicolons; a step that ends with names ends with its line.
TEST(TraceText, Blanks) {
  const Result<Trace> trace = parse_trace(R"(
# the tile
  split   C i [ 4 2 ]; reorder C i.0 j i.1  # and its order

fuse C i.0	j; inline T inline U
)");
  ASSERT_TRUE(trace.has_value()) << trace.error().to_string();
  EXPECT_EQ(to_string(*trace), "split C i [4 2]\nreorder C i.0 j i.1\nfuse C i.0 j\ninline T\ninline U\n");
  EXPECT_TRUE(parse_trace("").value().empty());
  EXPECT_TRUE(parse_trace(" # nothing\n").value().empty());
}

// Keywords of what may follow are told from the options of the step before.
TEST(TraceText, OptionsThatLookLikeSteps) {
  const std::string text =
      "cache_read C B b at=root scope=workspace\nlayout b [1][0]\nrewrite phases O\nsplit C i [2]\n";
  const Result<Trace> trace = parse_trace(text);
  ASSERT_TRUE(trace.has_value()) << trace.error().to_string();
  EXPECT_EQ(to_string(*trace), text);
}

void expect_error(const std::string& text, const std::string& message) {
  const Result<Trace> trace = parse_trace(text, "steps");
  ASSERT_FALSE(trace.has_value()) << text;
  EXPECT_EQ(trace.error().kind, ErrorKind::parse) << text;
  EXPECT_EQ(trace.error().to_string(), message) << text;
}

TEST(TraceText, Errors) {
  expect_error("splat C i [2]", "steps:1:1: 'splat' is no schedule step");
  expect_error("split C i [2]\n\n  tail C i soft", "steps:3:16: 'soft' is no tail policy");
  expect_error("compute_at T C i scope=heap", "steps:1:28: 'heap' is no scope");
  expect_error("compute_at T C i", "steps:1:17: expected 'scope'");
  expect_error("cache_write C c scope=thread", "steps:1:17: expected 'at'");
  expect_error("split C i", "steps:1:10: expected '['");
  expect_error("split C i [2 x]", "steps:1:14: expected an integer");
  expect_error("split C i [2", "steps:1:13: expected an integer");
  expect_error("prefetch C B j distance=", "steps:1:25: expected an integer");
  expect_error("prefetch C B j distance=2 at r", "steps:1:30: expected '='");
  expect_error("bind C i lane", "steps:1:14: 'lane' is no part of a device");
  expect_error("rewrite winograd O m=", "steps:1:22: expected an integer");
  expect_error("layout T [0", "steps:1:12: expected ']'");
  expect_error("split C i [99999999999999999999]", "steps:1:12: the integer does not fit 64 bits");
  expect_error("reorder C i [", "steps:1:13: expected a name");
}

// Equal traces have equal hashes however they were written; another factor, or order, is another trace.
TEST(TraceText, Hashes) {
  const auto hash = [](const char* text) { return hash_of(parse_trace(text).value()); };
  EXPECT_EQ(hash("split C i [4]; inline T"), hash("split  C i [ 4 ]\n\ninline T # done"));
  EXPECT_NE(hash("split C i [4]"), hash("split C i [5]"));
  EXPECT_NE(hash("split C i [4]; inline T"), hash("inline T; split C i [4]"));
  EXPECT_NE(hash("cache_read C B b at=root scope=thread"), hash("cache_read C B b at=root scope=workspace"));
}

}  // namespace
}  // namespace lathe
