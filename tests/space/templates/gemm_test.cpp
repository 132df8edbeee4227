// The template of matrix products: what it asks, how its operands lie, its intrinsics, and that its programs
// are right.
#include "space/templates/gemm.h"

#include <gmock/gmock.h>

#include "space/templates/template_case.h"

namespace lathe::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kConstant = R"("op":"matmul", "batch":1, "m":32, "n":48, "k":64)";
constexpr const char* kBatch = R"("op":"matmul", "batch":2, "m":12, "n":16, "k":6)";

TEST(GemmTemplate, AsksForTheKnobsOfThePaper) {
  EXPECT_THAT(knobs_of(task_of_case({kConstant})),
              ElementsAre("C.split.i", "C.split.j", "C.split.r", "C.annotate.terms", "C.order",
                          "C.annotate.rows", "C.annotate.columns", "C.choice.pack.rows"));
  // What is no constant is packed in every call or not, unless its layout is open.
  EXPECT_THAT(knobs_of(task_of_case({kBatch})), Contains("C.choice.pack.columns"));
  EXPECT_THAT(knobs_of(task_of_case({kBatch, "x86-avx2", 1, true})), Not(Contains(HasSubstr("C.choice"))));
  // A vector has no rows.
  EXPECT_THAT(knobs_of(task_of_case({R"("op":"gemv", "m":32, "k":16)"})),
              ElementsAre("y.split.i", "y.split.r", "y.annotate.terms", "y.annotate.columns"));
}

// 32 in three parts of which the last is at most sixteen, 48 in three, 64 in two.
TEST(GemmTemplate, TilesHaveSixteenRowsAtMost) {
  const Space space = templates_of(task_of_case({kConstant}));
  Rng rng(1);
  const Domain& domain = space.sketches().front().domain;
  for (int draw = 0; draw < 200; ++draw)
    EXPECT_LE(choices_of(domain, sample(domain, rng)).at("C.split.i").back(), 16);
  EXPECT_EQ(space.size(), 20 * 45 * 7 * 2 * 4 * 2 * 3 * 2);
}

TEST(GemmTemplate, TheTileIsAMicroKernelOfPackedColumns) {
  EXPECT_EQ(text_with(task_of_case({kConstant}), {{"C.split.i", {2, 4}},
                                                  {"C.split.j", {3, 16}},
                                                  {"C.split.r", {8}},
                                                  {"C.annotate.rows", {1}},
                                                  {"C.annotate.columns", {2}}}),
            R"(cache_read C B B.pack at=prepare scope=workspace layout=[1/16][0][1%16]
split C r [8]
split C i [2 4]
split C j [3 2 8]
reorder C i.0 j.0 i.1 j.1 r.0 r.1 i.2 j.2 j.3
unroll C i.2
unroll C j.2
vectorize C j.3
cache_write C C.acc at=j.1 scope=registers
split C.acc.out j [8]
reorder C.acc.out i j.0 j.1
unroll C.acc.out i
unroll C.acc.out j.0
vectorize C.acc.out j.1
)");
}

// Rows in panels too: where their layout is open, or as a copy; what an earlier stage makes is not.
TEST(GemmTemplate, RowsComeInPanels) {
  const Choices answers = {{"C.split.i", {1, 4}}};
  EXPECT_THAT(text_with(task_of_case({kConstant, "x86-avx2", 1, true}), answers),
              HasSubstr("layout A [0/4][1][0%4]\n"));
  EXPECT_THAT(text_with(task_of_case({kConstant}), {{"C.split.i", {1, 4}}, {"C.choice.pack.rows", {1}}}),
              HasSubstr("cache_read C A A.pack at=root scope=workspace layout=[0/4][1][0%4]\n"));
  EXPECT_THAT(text_with(task_of_case({kConstant}), answers), Not(HasSubstr("A.pack")));
  EXPECT_THAT(
      text_with(task_of_formula("A[r:8, i:8] = exp(X[r,i])\nC[i:8, j:8] = sum(r:8) A[r,i] * B[r,j]", {"B"}),
                answers),
      HasSubstr("layout A [1][0]\n"));
}

TEST(GemmTemplate, RowsOrColumnsGoFirst) {
  const auto order = [](int64_t number) {
    const std::string text = text_with(task_of_case({kConstant}), {{"C.order", {number}}});
    const size_t begin = text.find("reorder C ") + 10;
    return text.substr(begin, 15);
  };
  EXPECT_EQ(order(0), "i.0 j.0 i.1 j.1");
  EXPECT_EQ(order(1), "j.0 i.0 i.1 j.1");
  EXPECT_EQ(order(2), "i.0 j.0 j.1 i.1");
  EXPECT_EQ(order(3), "j.0 i.0 j.1 i.1");
}

// Columns are those of what may be packed beforehand, wherever it stands.
TEST(GemmTemplate, ColumnsAreThoseOfTheConstant) {
  EXPECT_THAT(
      text_with(task_of_formula("C[i:8, j:16] = sum(r:8) A[r,i] * B[r,j]", {"A"}), {{"C.split.i", {1, 4}}}),
      HasSubstr("cache_read C A A.pack at=prepare scope=workspace layout=[1/4][0][1%4]\n"));
}

Task integers(const std::string& terms, const std::string& left = "u8", const std::string& right = "i8") {
  const Target target = with_extensions(generic_target("x86-avx512"), {"avx512_vnni", "avx512_bf16"});
  return task_of_formula("input A[16, " + terms + "] " + left + "\ninput B[" + terms + ", 32] " + right +
                             "\nC[i:16, j:32] = sum(r:" + terms + ") i32(A[i, r]) * i32(B[r, j])",
                         {"B"}, target);
}

// The fourth kind of the columns' loop: the intrinsic takes four terms of each of sixteen columns.
TEST(GemmTemplate, AnIntrinsicAddsUpGroupsOfTerms) {
  const Choices answers = {{"C.split.i", {1, 4}},
                           {"C.split.j", {1, 16}},
                           {"C.split.r", {2}},
                           {"C.annotate.rows", {1}},
                           {"C.annotate.columns", {3}}};
  EXPECT_THAT(text_with(integers("24"), answers),
              AllOf(HasSubstr("layout=[1/16][0/4][1%16][0%4]\nsplit C r [2 4]\n"),
                    HasSubstr("r.0 r.1 i.2 j.2 j.3 r.2\n"),
                    HasSubstr("vectorize C j.3\ntensorize C r.2 intrinsic=dot4_u8_i8\n")));
  EXPECT_GT(expect_points_are_right(integers("24"), 24), 16);
}

// Of rows whose terms do not lie together a copy is made, and bf16 comes in pairs.
TEST(GemmTemplate, AnIntrinsicTakesRowsFromACopyWhereTheyLieApart) {
  const Target target = with_extensions(generic_target("x86-avx512"), {"avx512_vnni", "avx512_bf16"});
  const Task task = task_of_formula(
      "input A[24, 16] bf16\ninput B[24, 32] bf16\nC[i:16, j:32] = sum(r:24) f32(A[r, i]) * f32(B[r, j])",
      {"B"}, target);
  EXPECT_THAT(text_with(task, {{"C.split.j", {1, 16}}, {"C.annotate.columns", {3}}}),
              AllOf(HasSubstr("cache_read C A A.pack at=root scope=workspace layout=[1][0]\n"),
                    HasSubstr("tensorize C r.2 intrinsic=dot2_bf16\n")));
  EXPECT_GT(expect_points_are_right(task, 24), 16);
}

TEST(GemmTemplate, AnIntrinsicHasVectorsOfItsOwn) {
  const Result<Trace> narrow =
      trace_with(integers("24"), {{"C.split.j", {1, 2}}, {"C.annotate.columns", {3}}});
  ASSERT_FALSE(narrow);
  EXPECT_EQ(narrow.error().message,
            "the target has no instruction for intrinsic 'dot4_u8_i8' in vectors of 2 lanes, as tiles of 2 "
            "columns of 'C' have");
}

// Groups that do not divide the sum, elements of other types, and targets without the instruction have none.
TEST(GemmTemplate, AnIntrinsicIsOfferedWhereItFits) {
  const auto kinds = [](const Task& task) {
    const Space space = templates_of(task);
    for (const Parameter& parameter : space.sketches().front().domain.parameters) {
      if (parameter.name == "C.annotate.columns") return std::get<CategoricalParameter>(parameter.kind).count;
    }
    return int64_t{0};
  };
  EXPECT_EQ(kinds(integers("24")), 4);
  EXPECT_EQ(kinds(integers("22")), 3);
  EXPECT_EQ(kinds(integers("24", "u8", "u8")), 3);
  EXPECT_EQ(kinds(task_of_case({kConstant, "x86-avx512"})), 3);
  Task plain = integers("24");
  plain.target = generic_target("x86-avx2");
  EXPECT_EQ(kinds(plain), 3);
}

TEST(GemmTemplate, ProgramsAreRight) {
  for (const char* workload :
       {kBatch, R"("op":"matmul", "batch":1, "m":12, "n":24, "k":16)",
        R"("op":"matmul", "batch":1, "m":1, "n":37, "k":5)",
        R"("op":"matmul", "batch":1, "m":30, "n":28, "k":12)", R"("op":"gemv", "m":36, "k":20)"})
    expect_case_is_right(workload, 10);
  // A matrix times itself, a constant one too.
  expect_points_are_right(task_of_formula("C[i:8, j:12] = sum(r:6) A[i,r] * A[j,r]"), 10);
  expect_points_are_right(task_of_formula("C[i:8, j:12] = sum(r:6) A[r,i] * A[r,j]", {"A"}), 10);
  // Rows in several axes, and an element-wise consumer with its axes in another order.
  expect_points_are_right(
      task_of_formula(
          "C[b:3, i:8, j:16] = sum(r:6) A[b,i,r] * B[r,j]\nO[j:16, b:3, i:8] = max(C[b,i,j], 0.0)", {"B"}),
      10);
}

}  // namespace
}  // namespace lathe::testing
