// What the machine code looks like: the shape of the hot loop, what it refers to, and that it is always the
// same.
#include "codegen/llvm/emit.h"

#include <gmock/gmock.h>

#include <ranges>
#include <sstream>
#include <thread>

#include "codegen/lowered_builder.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

EntrySymbols symbols() { return entry_symbols("test"); }

int count(const std::vector<std::string>& lines, const std::string& what) {
  return static_cast<int>(
      std::ranges::count_if(lines, [&](const std::string& line) { return line.contains(what); }));
}

// The lines of the first loop with that instruction: from the label that a jump goes back to, to that jump.
std::vector<std::string> loop_with(const std::string& assembly, const std::string& instruction) {
  std::vector<std::string> lines;
  std::istringstream stream(assembly);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  size_t hit = 0;
  while (hit < lines.size() && !lines[hit].contains(instruction)) ++hit;
  size_t begin = hit;
  while (begin > 0 && !lines[begin].starts_with(".L")) --begin;
  size_t end = hit;
  while (end < lines.size() && !lines[end].starts_with("\tj")) ++end;
  return {lines.begin() + static_cast<std::ptrdiff_t>(begin),
          lines.begin() + static_cast<std::ptrdiff_t>(end)};
}

std::string assembly(const LoweredProgram& lowered, const char* target) {
  const auto text = emit_assembly(lowered, generic_target(target), symbols());
  EXPECT_TRUE(text) << text.error().to_string();
  return text.value_or("");
}

SpillCount spills(const LoweredProgram& lowered, const char* target) {
  EmitStats stats;
  const auto object = emit_object(lowered, generic_target(target), symbols(), &stats);
  EXPECT_TRUE(object) << object.error().to_string();
  return stats.spills;
}

TEST(Emit, TheTileSixByTwoOfAvx2IsTwelveFmasSixBroadcastsTwoLoads) {
  const LoweredProgram lowered = gemm({.m = 48, .n = 64, .k = 32, .rows = 6, .vectors = 2, .lanes = 8});
  const std::vector<std::string> loop = loop_with(assembly(lowered, "x86-avx2"), "vfmadd");
  EXPECT_EQ(count(loop, "vfmadd"), 12);
  EXPECT_EQ(count(loop, "vbroadcastss\t"), 6);
  EXPECT_EQ(count(loop, "vmovaps\t") + count(loop, "vmovups\t"), 2);
  EXPECT_EQ(count(loop, "rsp"), 0);
  EXPECT_LE(loop.size(), 26u);  // what is left for the loop itself: label, comment, counters
  EXPECT_EQ(spills(lowered, "x86-avx2").stack_references, 0);
}

TEST(Emit, TheTileTwelveByTwoOfAvx512FitsItsRegisters) {
  const LoweredProgram lowered = gemm({.m = 48, .n = 64, .k = 32, .rows = 12, .vectors = 2, .lanes = 16});
  const std::vector<std::string> loop = loop_with(assembly(lowered, "x86-avx512"), "vfmadd");
  EXPECT_EQ(count(loop, "vfmadd"), 24);
  EXPECT_EQ(count(loop, "zmm"), count(loop, "vfmadd") + count(loop, "vbroadcastss\t") + count(loop, "vmov"));
  const SpillCount counted = spills(lowered, "x86-avx512");
  EXPECT_EQ(counted.stack_references, 0);
  EXPECT_EQ(counted.innermost_loops, 1);
}

TEST(Emit, SpillsOfATileThatDoesNotFitAreCounted) {
  const LoweredProgram lowered = gemm({.m = 48, .n = 64, .k = 32, .rows = 12, .vectors = 2, .lanes = 8});
  EXPECT_GT(spills(lowered, "x86-avx2").vector_references, 20);
}

// One block of 1,500 stores in a row, each read again by the next: the machine scheduler alone would take
// quadratic time for it.
TEST(Emit, LongBlocksKeepTheirOrder) {
  LoweredBuilder builder;
  const Tensor in = builder.input("in", 1600);
  const Tensor out = builder.output("out", 1600);
  std::vector<Stmt> stores;
  for (int64_t n = 0; n < 1500; ++n) stores.push_back(store(out, 1499 - n, load(in, {n})));
  builder.main(make_seq(stores));
  const std::string text = assembly(builder.lowered(), "x86-avx2");
  EXPECT_LT(text.find("(%rcx)"), text.size());
  size_t last = 0;
  for (int64_t n : {1499, 1498, 700, 1}) {
    const size_t at = text.find(", " + std::to_string(4 * n) + "(%");
    ASSERT_NE(at, std::string::npos) << n;
    EXPECT_GT(at, last);
    last = at;
  }
}

TEST(Emit, MaskedStoresAreOneInstruction) {
  const LoweredProgram lowered = gemm({.m = 6, .n = 61, .k = 4, .rows = 6, .vectors = 2, .lanes = 8});
  EXPECT_THAT(assembly(lowered, "x86-avx2"), HasSubstr("vmaskmovps"));
}

// With the fence that keeps another thread from reading what was there before, in the loop's function too.
TEST(Emit, AnOutputThatStreamsIsWrittenPastTheCachesInAlignedVectors) {
  LoweredProgram lowered =
      gemm({.m = 6, .n = 64, .k = 4, .rows = 6, .vectors = 2, .lanes = 8, .parallel = true});
  EXPECT_THAT(assembly(lowered, "x86-avx2"), Not(AnyOf(HasSubstr("vmovntps"), HasSubstr("sfence"))));
  for (Argument& argument : lowered.program.arguments) argument.streams = argument.is_output;
  const std::string text = assembly(lowered, "x86-avx2");
  EXPECT_THAT(text, HasSubstr("vmovntps"));
  EXPECT_GE(std::ranges::distance(std::views::split(text, std::string_view("sfence"))), 3);
  LoweredProgram odd = gemm({.m = 6, .n = 61, .k = 4, .rows = 6, .vectors = 2, .lanes = 8});
  for (Argument& argument : odd.program.arguments) argument.streams = argument.is_output;
  EXPECT_THAT(assembly(odd, "x86-avx2"), Not(HasSubstr("vmovntps"))) << "its rows are not aligned";
}

TEST(Emit, TheSameProgramGivesTheSameBytesOnAnyThread) {
  const auto object = [] {
    const GemmShape shape{.m = 50, .n = 70, .k = 9, .rows = 4, .vectors = 3, .lanes = 8, .parallel = true};
    return emit_object(gemm(shape), generic_target("x86-avx2"), symbols()).value_or("");
  };
  const std::string expected = object();
  ASSERT_FALSE(expected.empty());
  std::vector<std::string> objects(4);
  std::vector<std::thread> threads;
  for (std::string& slot : objects) threads.emplace_back([&slot, &object] { slot = object(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& other : objects) EXPECT_EQ(other, expected);
}

TEST(Emit, IrKeepsNamesAndFunctions) {
  const GemmShape shape{.m = 12, .n = 32, .k = 9, .rows = 6, .vectors = 2, .lanes = 8, .parallel = true};
  const auto text = emit_llvm_ir(gemm(shape), generic_target("x86-avx2"), symbols());
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("define i32 @test_kernel("));
  EXPECT_THAT(*text, HasSubstr("define internal void @test_kernel.0("));
  EXPECT_THAT(*text, HasSubstr("call nsz <8 x float> @llvm.fma.v8f32"));
  EXPECT_THAT(*text, HasSubstr("%panel"));
  EXPECT_THAT(*text, Not(HasSubstr("x i8], align 64")));
}

// Loop strength reduction is not run: loops must come with pointers that they advance, and without counters
// that nothing else needs.
TEST(Emit, LoopsAdvancePointers) {
  const GemmShape shape{.m = 12, .n = 32, .k = 9, .rows = 6, .vectors = 2, .lanes = 8};
  const auto text = emit_llvm_ir(gemm(shape), generic_target("x86-avx2"), symbols());
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("phi ptr"));
  EXPECT_THAT(*text, Not(HasSubstr("phi i64")));
  EXPECT_THAT(*text, Not(HasSubstr(" mul ")));
}

TEST(Emit, RefusesWhatLoweringLeftUndone) {
  LoweredBuilder builder;
  const Tensor out = builder.output("out", 8);
  const Var i("i");
  builder.main(loop(i, 8, store(out, i, Expr(1.0)), LoopKind::vectorized));
  const auto object = emit_object(builder.lowered(), generic_target("x86-avx2"), symbols());
  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().message, "loop 'i' reached code generation: unroll_loops expands it");
}

}  // namespace
}  // namespace lathe::testing
