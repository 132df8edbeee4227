// Traces that once computed something wrong in one of their forms, each cut down to what it takes.
#include <gtest/gtest.h>

#include "conformance/trace_checker.h"
#include "schedule/apply.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

constexpr SmallCase kMatmul = {"matmul", R"({"batch": 1, "m": 13, "n": 19, "k": 11})"};
constexpr SmallCase kRow = {"matmul", R"({"batch": 1, "m": 1, "n": 37, "k": 5})"};
constexpr SmallCase kColumn = {"matmul", R"({"batch": 1, "m": 23, "n": 1, "k": 16})"};
constexpr SmallCase kBatched = {"matmul", R"({"batch": 2, "m": 7, "n": 17, "k": 3})"};
constexpr SmallCase kConvolution = {
    "conv2d_bn_relu",
    R"({"batch": 1, "height": 7, "width": 5, "in_channels": 3, "out_channels": 7, "kernel": 3, "stride": 1, "padding": 1})"};
constexpr SmallCase kTransposed = {
    "conv2d_transpose",
    R"({"batch": 1, "height": 4, "width": 3, "in_channels": 5, "out_channels": 3, "kernel": 4, "stride": 2, "padding": 1})"};
constexpr SmallCase kConv1d = {
    "conv1d",
    R"({"batch": 1, "length": 13, "in_channels": 3, "out_channels": 5, "kernel": 3, "stride": 2, "padding": 1})"};
constexpr SmallCase kNorm = {"frobenius_norm", R"({"batch": 2, "m": 7, "n": 13})"};

constexpr SmallCase kDepthwise = {
    "depthwise_conv2d",
    R"({"batch": 1, "height": 7, "width": 11, "channels": 5, "kernel": 3, "stride": 1, "padding": 1})"};

constexpr SmallCase kRepeating = {"expression", R"({"text": "C[i:23] = sum(r:17) A[(i + r)%6] * B[r]"})"};

constexpr SmallCase kShift = {"shift_conv2d",
                              R"({"batch": 1, "height": 7, "width": 5, "channels": 11, "kernel": 3})"};

struct Mended {
  const char* name;
  SmallCase operation;
  const char* trace;
};

constexpr Mended kComputes[] = {
    {"AProducerAtPlacesThatATensorNames", kShift, "compute_at I.pad O c scope=thread\n"},
    {"ACopyOfPlacesThatATensorNames", kShift, "cache_read O I.pad c0 at=c scope=thread\n"},
    {"AnOuterLoopIsSplitAgain", kColumn, "split C r [2 2]\nsplit C r.1 [2 3]\n"},
    {"ACopyIsSplitTwice", kBatched, "cache_read C A c0 at=r scope=thread\nsplit c0 b [3]\nsplit c0 d0 [4]\n"},
    {"APartHasNothingToReduce", kMatmul, "split C r [8 9]\nrfactor C r.1\n"},
    {"PartsOfAReductionNextToAFusedLoop", kConvolution, "fuse O.conv x c\nrfactor O.conv ky\n"},
    {"ACopyOutOfWhatIsWrittenWithGaps", kMatmul,
     "split C j [4 4]\nreorder C j.2 j.1 r\ncache_write C w0 at=j.2 scope=thread\n"},
    {"ACopyOutOfATileOfATile", kColumn,
     "split C i [10 7]\nsplit C i.2 [3]\ncache_write C w0 at=r scope=thread\n"},
    {"ACopyOutOfAPartOfAFusedLoop", kBatched,
     "fuse C i j\nsplit C i_j [4 16]\nsplit C i_j.0 [1 3]\ncache_write C w1 at=i_j.0.2 scope=thread\n"},
    {"ACopyOutUnderAConditionOfItsOwn", kColumn,
     "cache_read C A c0 at=i scope=thread\nsplit c0 d0 [2 2]\ncache_write c0 w1 at=d0.1 scope=thread\n"},
    {"ACopyOutOfACopyInsideAnImperfectReduction", kRow,
     "cache_write C w1 at=r scope=thread\nsplit C r [16]\ncache_write w1.out w3 at=i scope=thread\n"},
    {"TwoCopiesOutOfOneReduction", kConv1d,
     "cache_write O w1 at=c scope=thread\ncache_write O w2 at=kx scope=thread\n"},
    {"ACopyOutOfAPartUnderAConditionOfItsSum", kMatmul,
     "split C r [5 8]\nsplit C r.2 [4]\nreorder C r.1 i j r.0 r.2.0\nrfactor C r.2.0\n"
     "cache_write C.rf w1 at=i scope=thread\n"},
    {"ACopyOutOfAPaddedCopy", kNorm,
     "cache_read o.sum A c0 at=root scope=thread layout=[0][1][2/5][2%5]\ncache_write c0 w1 at=d1 "
     "scope=thread\n"},
    {"AConsumerOfATileOfATile", kConvolution,
     "vectorize O.conv f\ncache_write O.conv w0 at=x scope=thread\nsplit w0.out f [2 1]\nsplit w0.out f.0 "
     "[2]\n"
     "reverse_compute_at O w0.out f.0.1 scope=thread\n"},
    {"AConsumerInAnImperfectReduction", kNorm,
     "split o.sum i [2]\nreverse_compute_at o o.sum i.1 scope=thread\n"},
    {"ACopyOutThatBeginsBeforeItsTensor", kTransposed,
     "rewrite phases O\ncache_read O.P W c1 at=yt scope=workspace\ncache_write c1 w3 at=d1 "
     "scope=registers\n"},
    {"AnOverlappingTileThatIsCut", kBatched,
     "cache_write C w0 at=b scope=thread\nsplit C b [16 1]\nsplit C b.2 [2]\ntail C b overlap\n"},
    {"AnOverlappingTileUnderAConditionOnItsNumber", kColumn,
     "split C i [11 1]\nsplit C i.0 [16 1]\nprefetch C A j distance=4 at=j\ntail C i overlap\n"},
    {"AnOverlappingTileWithGaps", kTransposed, "tail O x overlap\nsplit O x [4]\nreorder O kx x.1 x.0 ky\n"},
    {"AnOverlappingTileWhoseIndexRepeats", kRepeating, "split C i [12]\ntail C i overlap\n"},
    {"PaddingOfATileOfATile", kConvolution,
     "split O.conv y [5]\nsplit O.conv y.1 [2]\ntail O.conv y pad\nreorder O.conv c y.0 y.1.0 y.1.1\n"},
    {"RegistersOutsideOfAParallelLoop", kBatched, "cache_read C A c0 at=b scope=registers\nparallel C i\n"},
    {"ARegisterCopyReadBeforeItsBeginning", kDepthwise,
     "inline I.pad\ncache_write O w0 at=x scope=workspace\nvectorize O x\nsplit O y [8 4]\n"
     "cache_read O I c2 at=y.1 scope=registers\nsplit w0.out y.0 [8]\n"},
    {"ASumUnderAConditionOnALoopAround", kNorm,
     "compute_at o.sum o b scope=registers\nsplit o.sum b [2 16]\nfuse o.sum b.2 i j\n"},
    {"ACopyOutUnderAConditionOnTheLoopsAround", kConvolution,
     "split O.conv ky [1]\nsplit O.conv c [2]\nfuse O.conv c.1 ky.0\n"
     "cache_write O.conv w4 at=c.1_ky.0 scope=thread\n"},
    {"ACopyOutOfPartsOfAnImperfectSum", kMatmul,
     "split C r [12 1]\ncache_write C w0 at=r.1 scope=registers\n"},
    {"APrefetchInAnOverlappingTile", kConv1d,
     "cache_write I.pad w0 at=i scope=thread\nprefetch w0.out w0 j distance=2 at=k\n"
     "split w0.out k [11 4]\ntail w0.out k overlap\n"},
    {"PaddingBeforeTheBeginningOfACopy", kTransposed,
     "split I.expand.pad x [2 10]\ncache_read I.expand.pad I.expand c0 at=x.0 scope=registers\n"
     "split c0 x.0 [2 2]\ntail c0 d3 pad\n"},
    {"MaskedLanesOfATileLieInTheNextOne", kMatmul,
     "cache_read C B c0 at=root scope=workspace layout=[0][1/8][1%8]\nsplit C j [10]\nsplit C j.1 [4]\n"
     "reorder C r j.0 j.1.0 j.1.1\nvectorize C j.1.1\ncache_write C w0 at=i scope=registers\n"},
};

class MendedTraces : public ::testing::TestWithParam<Mended> {};

TEST_P(MendedTraces, ComputeWhatTheNaiveProgramDoes) {
  const Result<Trace> trace = parse_trace(GetParam().trace);
  ASSERT_TRUE(trace) << trace.error().to_string();
  for (const char* target : {"x86-avx2", "x86-avx512"}) {
    const Reference reference =
        make_reference(GetParam().operation, with_cores(generic_target(target), 2), false);
    TraceChecker checker;
    Rng rng(1);
    EXPECT_EQ(checker.check(reference, *trace, rng), "");
    EXPECT_EQ(checker.counts.compared, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(All, MendedTraces, ::testing::ValuesIn(kComputes),
                         [](const auto& mended) { return std::string(mended.param.name); });

// What is illegal says so, at the step that makes it so.
std::string refusal(const SmallCase& operation, const char* text) {
  const Reference reference = make_reference(operation, generic_target("x86-avx2"), false);
  const Result<Trace> trace = parse_trace(text);
  if (!trace) return trace.error().to_string();
  const Result<Program> program = apply_trace(reference.task, *trace);
  if (!program) return program.error().message;
  Rng rng(1);
  TraceChecker checker;
  std::string wrong = checker.check(reference, *trace, rng);
  if (!wrong.empty() || checker.counts.refused.empty()) return wrong;
  return checker.counts.refused.begin()->first;
}

TEST(MendedTraces, RefusalsNameTheReason) {
  EXPECT_EQ(refusal(kConvolution, "split I.pad n [2]\ntail I.pad n pad\n"), "tail pad on ");
  EXPECT_EQ(refusal(kConv1d,
                    "inline I.pad\nsplit O n [2]\ncache_read O I c3 at=n.1 scope=thread\ntail c3 d2 pad\n"),
            "tail pad on ");
  EXPECT_EQ(refusal(kMatmul, "rfactor C r\nrfactor C r\n"), "there is a 'C.rf' already");
  EXPECT_EQ(refusal(kColumn,
                    "cache_read C A c0 at=root scope=thread layout=[1][0/8][0%8]\nlayout c0 [0][1/4][1%4]\n"),
            "block 'c0' writes index 23 of dimension 0 of 'c0', the layout has room for 23");
  EXPECT_EQ(
      refusal(kMatmul,
              "cache_write C w0 at=r scope=thread\ncache_write w0.in w1 at=i scope=thread\ninline w0.in\n"),
      "block 'w0.in' is a part of a reduction");
  EXPECT_EQ(refusal(kMatmul, "cache_write C w0 at=r scope=thread\ncompute_at w0.in w0.out j scope=thread\n"),
            "block 'C' writes 'w0' as block 'w0.in' does");
  EXPECT_EQ(refusal(kConvolution,
                    "split O x [2 4]\nreorder O c x.0 y x.2 n x.1\ncache_write O w1 at=x.2 scope=registers\n"
                    "cache_read w1.out w1 c2 at=x.2 scope=thread\n"
                    "reverse_compute_at w1.out c2 d2 scope=registers\n"),
            "block 'w1.out' leaves gaps in 'O' in an iteration of loop 'x.2'");
  EXPECT_EQ(refusal(kNorm, "reverse_compute_at o o.sum j scope=thread\nsplit o j [11]\nreorder o j.1 j.0\n"),
            "block 'o' would no longer wait for the last iteration of loop 'j.0'");
  EXPECT_EQ(refusal(kNorm,
                    "reverse_compute_at o o.sum j scope=registers\nfuse o.sum i j\nsplit o i_j [6]\n"
                    "reorder o.sum i_j.1 i_j.0\n"),
            "block 'o' would no longer wait for the last iteration of loop 'i_j.0'");
  EXPECT_EQ(refusal(kBatched,
                    "fuse C i j r\nsplit C i_j_r [4]\nsplit C i_j_r.0 [11 3]\nsplit C i_j_r.0.1 [10]\n"
                    "reorder C i_j_r.1 i_j_r.0.1.1\n"),
            "the reduction of block 'C' would not begin at its first element");
}

}  // namespace
}  // namespace lathe::testing
