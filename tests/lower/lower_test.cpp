// Every pass keeps what a program computes: schedules of several operators, all tails, pass by pass.
#include "lower/lower.h"

#include <fmt/format.h>

#include "lower/programs.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

struct Case {
  const char* name;
  const char* dag;
  std::string trace;
  std::vector<std::string> constants = {};
  double tolerance = 1e-5;
};

void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }

void expect_each_pass_keeps(const Task& task, const std::string& trace, double tolerance) {
  const Program program = scheduled(task, trace);
  const std::vector<HostTensor> expected = run(naive_program(task), "naive");
  LowerOptions options;
  options.verifies = true;
  options.after_pass = [&](std::string_view pass, const Program& result, double) -> Status {
    // Until drop_padding gives them room, local copies may reach beyond their shapes.
    if (pass == "decompose_reductions") return {};
    EXPECT_LE(difference(expected, run(result, std::string(pass))), tolerance) << pass << "\n" << trace;
    return {};
  };
  const Result<LoweredProgram> lowered = lower(program, task.target, options);
  EXPECT_TRUE(lowered.has_value()) << lowered.error().to_string() << "\n" << trace;
}

const char* const kMatmul = "C[i:29, j:37] = sum(r:23) A[i,r] * B[r,j]";
const char* const kTiles =
    "split C i [2 4]\n"
    "split C j [2 4]\n"
    "split C r [8]\n"
    "reorder C i.0 r.0 j.0 i.1 r.1 i.2 j.1 j.2\n"
    "unroll C i.2\nunroll C j.1\nvectorize C j.2\n";
const char* const kPacked =
    "cache_read C B B.pack at=prepare scope=workspace layout=[1/8][0][1%8]\n"
    "cache_read C A A.pack at=r.0 scope=thread layout=[0/4][1][0%4]\n"
    "cache_write C C.reg at=i.1 scope=registers\n";

class EachPass : public ::testing::TestWithParam<Case> {};

TEST_P(EachPass, KeepsTheResult) {
  const Case& test = GetParam();
  expect_each_pass_keeps(task_of(test.dag, test.constants), test.trace, test.tolerance);
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, EachPass,
    ::testing::Values(
        Case{"naive", kMatmul, ""},
        Case{"worked example",
             kMatmul,
             std::string(kTiles) + "parallel C i.0\ntail C i pad\ntail C j pad\ntail C r bound\n" + kPacked,
             {"B"}},
        Case{"copies peeled",
             kMatmul,
             std::string(kTiles) + "tail C i pad\ntail C j pad\ntail C r bound\n" + kPacked +
                 "tail C.reg.in i peel\ntail C.reg.in j mask\ntail C.reg.out i peel\ntail C.reg.out j mask\n",
             {"B"}},
        Case{"everything peeled",
             kMatmul,
             std::string(kTiles) + "parallel C i.0\ntail C i peel\ntail C j peel\ntail C r peel\n" + kPacked +
                 "tail C.reg.in i peel\ntail C.reg.in j peel\ntail C.reg.out i peel\ntail C.reg.out j peel\n",
             {"B"}},
        Case{"reduce axis padded", kMatmul,
             "split C i [4]\nsplit C j [8]\nsplit C r [8]\nreorder C i.0 j.0 r.0 r.1 i.1 j.1\n"
             "unroll C i.1\nvectorize C j.1\ntail C i pad\ntail C j pad\ntail C r pad\n"
             "cache_read C B B.pack at=root scope=workspace layout=[1/8][0/8][0%8][1%8]\n"
             "cache_read C A A.pack at=root scope=workspace layout=[0/4][1/8][1%8][0%4]\n"
             "cache_write C C.reg at=j.0 scope=registers\n"},
        Case{
            "fused parallel loop", kMatmul,
            "split C i [4]\nsplit C j [8]\nreorder C i.0 j.0 r i.1 j.1\nfuse C i.0 j.0\nparallel C i.0_j.0\n"
            "unroll C i.1\nvectorize C j.1\ntail C i peel\ntail C j peel\n"
            "cache_write C C.reg at=i.0_j.0 scope=registers\ntail C.reg.out i peel\ntail C.reg.out j peel\n"},
        Case{
            "convolution with borders",
            "P[c:3, h:9, w:12] = select(h >= 1 && h < 8 && w >= 1 && w < 11, X[c, h - 1, w - 1], 0)\n"
            "Y[o:5, h:7, w:10] = sum(c:3, p:3, q:3) P[c, h + p, w + q] * W[o, c, p, q]\n"
            "Z[o:5, h:7, w:10] = max(Y[o, h, w], 0)\n",
            "split Y o [4]\nsplit Y w [4]\nreorder Y h w.0 o.0 c p q w.1 o.1\nunroll Y w.1\nvectorize Y o.1\n"
            "tail Y o mask\ntail Y w peel\ncompute_at P Y h scope=thread\n"
            "reverse_compute_at Z Y w.0 scope=thread\n"},
        Case{"softmax",
             "M[i:5] = max(k:19) X[i, k]\nE[i:5, k:19] = exp(X[i, k] - M[i])\nS[i:5] = sum(k:19) E[i, k]\n"
             "Y[i:5, k:19] = E[i, k] / S[i]\n",
             "split E k [8]\nvectorize E k.1\ntail E k mask\nsplit Y k [8]\nvectorize Y k.1\ntail Y k guard\n"
             "parallel Y i\ncompute_at S Y i scope=thread\ncompute_at E Y i scope=thread\n"},
        Case{"overlapping tiles", "Y[i:29] = tanh(X[i]) + erf(X[i])\n",
             "split Y i [2 4]\nvectorize Y i.2\nunroll Y i.1\ntail Y i overlap\n"},
        Case{"depthwise, strided", "Y[c:6, h:5, w:7] = sum(p:3, q:3) X[c, 2*h + p, 2*w + q] * W[c, p, q]\n",
             "split Y w [4]\nsplit Y c [4]\nreorder Y c.0 h w.0 p q w.1 c.1\nunroll Y w.1\nunroll Y q\n"
             "vectorize Y c.1\ntail Y c peel\ntail Y w peel\ncache_write Y Y.reg at=w.0 scope=registers\n"
             "tail Y.reg.out c mask\ntail Y.reg.out w peel\n"}));

TEST(Lower, AllTailsOnAllAxes) {
  const Task task = task_of("C[i:13, j:21] = sum(r:11) A[i,r] * B[r,j]");
  const std::vector<std::string> spatial = {"guard", "bound", "peel", "mask", "overlap"};
  const std::vector<std::string> reduce = {"guard", "bound", "peel"};
  for (const std::string& i : spatial) {
    for (const std::string& j : spatial) {
      for (const std::string& r : reduce) {
        const std::string tails = fmt::format("tail C i {}\ntail C j {}\ntail C r {}\n", i, j, r);
        expect_each_pass_keeps(task,
                               "split C i [2 3]\nsplit C j [8]\nsplit C r [4]\n"
                               "reorder C i.0 j.0 i.1 r.0 r.1 i.2 j.1\nunroll C i.2\nvectorize C j.1\n" +
                                   tails,
                               1e-5);
        expect_each_pass_keeps(
            task,
            "split C i [4]\nsplit C j [2 4]\nsplit C r [4]\n"
            "reorder C i.0 r.0 j.0 r.1 j.1 i.1 j.2\nunroll C j.1\nparallel C i.0\nvectorize C j.2\n" +
                tails,
            1e-5);
      }
    }
  }
}

TEST(Lower, StopsAfterAPassByName) {
  const Program program = naive_program(task_of(kMatmul));
  LowerOptions options;
  options.stop_after = "lower_blocks";
  std::vector<std::string> seen;
  options.after_pass = [&](std::string_view pass, const Program&, double seconds) -> Status {
    EXPECT_GE(seconds, 0);
    seen.emplace_back(pass);
    return {};
  };
  ASSERT_TRUE(lower(program, generic_target("x86-avx2"), options).has_value());
  EXPECT_EQ(seen, (std::vector<std::string>{"decompose_reductions", "drop_padding", "lower_blocks"}));
}

TEST(Lower, RefusesAnUnknownPass) {
  LowerOptions options;
  options.stop_after = "polish";
  const Result<LoweredProgram> lowered =
      lower(naive_program(task_of(kMatmul)), generic_target("x86-avx2"), options);
  ASSERT_FALSE(lowered.has_value());
  EXPECT_EQ(lowered.error().kind, ErrorKind::invalid_argument);
  EXPECT_TRUE(
      lowered.error().message.starts_with("there is no pass 'polish'; the passes are decompose_reductions"));
}

TEST(Lower, GivesOnTheErrorOfTheObserver) {
  LowerOptions options;
  options.after_pass = [](std::string_view pass, const Program&, double) -> Status {
    return fail(ErrorKind::invalid_program, "after " + std::string(pass));
  };
  const Result<LoweredProgram> lowered =
      lower(naive_program(task_of(kMatmul)), generic_target("x86-avx2"), options);
  ASSERT_FALSE(lowered.has_value());
  EXPECT_EQ(lowered.error().message, "after decompose_reductions");
}

}  // namespace
}  // namespace lathe::testing
