// Statements as LLVM functions, before any pass of LLVM: what an entry loads, how loops run, what a parallel
// loop's function gets.
#include "codegen/llvm/function_emitter.h"

#include <gmock/gmock.h>

#include "codegen/llvm/aarch64/processors.h"
#include "codegen/llvm/ir_function.h"
#include "codegen/llvm/x86/processors.h"
#include "codegen/lowered_builder.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

using llvm_backend::Processor;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Entry {
 public:
  explicit Entry(const LoweredProgram& lowered, const Processor& processor = llvm_backend::kAvx2) {
    const Target target = generic_target(processor.target);
    llvm_backend::emit_entry(module_, processor, target, lowered, lowered.program.main, "main");
    std::string faults;
    llvm::raw_string_ostream stream(faults);
    EXPECT_FALSE(llvm::verifyModule(module_, &stream)) << faults;
  }
  std::string text(const char* function = "main") { return instructions_of(*module_.getFunction(function)); }
  bool has(const char* function) const { return module_.getFunction(function) != nullptr; }
  const llvm::Function& function(const char* name) const { return *module_.getFunction(name); }

 private:
  llvm::LLVMContext context_;
  llvm::Module module_{"test", context_};
};

TEST(FunctionEmitter, AnEntryLoadsItsBuffersAndReturnsZero) {
  LoweredBuilder builder;
  builder.input("unused", 4);
  const Tensor out = builder.output("out", 4);
  builder.main(store(out, 2, Expr(1.0)));
  Entry entry(builder.lowered());
  EXPECT_EQ(entry.text(),
            "%4 = getelementptr i8, ptr %0, i64 8\n"
            "%out = load ptr, ptr %4, align 8\n"
            "%5 = getelementptr i8, ptr %out, i64 8\n"
            "store float 1.000000e+00, ptr %5, align 8\n"
            "ret i32 0\n");
  EXPECT_TRUE(entry.function("main").hasExternalLinkage());
  EXPECT_TRUE(entry.function("main").doesNotThrow());
}

// A loop that surely runs is entered without a test.
TEST(FunctionEmitter, LoopsOfAKnownExtentTestAtTheirEnd) {
  LoweredBuilder builder;
  const Tensor out = builder.output("out", 4);
  const Var i("i");
  builder.main(loop(i, 4, store(out, i, Expr(1.0))));
  EXPECT_EQ(Entry(builder.lowered()).text(),
            "%4 = getelementptr i8, ptr %0, i64 0\n"
            "%out = load ptr, ptr %4, align 8\n"
            "%5 = getelementptr i8, ptr %out, i64 16\n"
            "br label %loop\n"
            "\nloop:\n"
            "%i1 = phi ptr [ %out, %entry ], [ %6, %loop ]\n"
            "store float 1.000000e+00, ptr %i1, align 4\n"
            "%6 = getelementptr i8, ptr %i1, i64 4\n"
            "%7 = icmp ne ptr %6, %5\n"
            "br i1 %7, label %loop, label %after\n"
            "\nafter:\n"
            "ret i32 0\n");
}

TEST(FunctionEmitter, AnExtentIsTheLeastOfItsBounds) {
  LoweredBuilder builder;
  const Tensor out = builder.output("out", 64);
  const Var i("i"), j("j");
  const Stmt body = store(out, Affine(i) * 8 + Affine(j), Expr(1.0));
  const Stmt inner = make_stmt(For{j, {Affine(8), Affine(30) - Affine(i) * 8}, LoopKind::serial, body});
  builder.main(loop(i, 5, inner));
  const std::string text = Entry(builder.lowered()).text();
  EXPECT_THAT(text, HasSubstr("@llvm.smin.i64(i64 8, i64 "));
  EXPECT_THAT(text, HasSubstr("icmp slt i64 0, ")) << "the last of them is negative";
}

TEST(FunctionEmitter, ABranchHoldsWhereAllConditionsDo) {
  LoweredBuilder builder;
  const Tensor out = builder.output("out", 64);
  const Var i("i"), j("j");
  const Stmt body = store(out, Affine(i) * 8 + Affine(j), Expr(1.0));
  const std::vector<Conjunct> conditions = {{.value = Affine(i) + 2, .bound = 7},
                                            {.value = Affine(j), .bound = 3}};
  builder.main(loop(i, 8, loop(j, 8, make_stmt(If{conditions, body}))));
  EXPECT_THAT(Entry(builder.lowered()).text(),
              AllOf(HasSubstr("= icmp slt i64 %i, 5\n"), HasSubstr("= icmp slt i64 %j, 3\n"),
                    HasSubstr("label %then, label %after")));
}

TEST(FunctionEmitter, ArenasLieInTheWorkspace) {
  LoweredBuilder builder;
  const Tensor out = builder.output("out", 4);
  builder.buffer("first", 20, Arena::workspace);
  const Tensor shared = builder.buffer("shared", 4, Arena::workspace);
  builder.buffer("other", 4, Arena::thread);
  const Tensor own = builder.buffer("own", 4, Arena::thread);
  const Stmt body = make_seq(
      {store(own, 0, Expr(1.0)), store(shared, 0, load(own, {0})), store(out, 0, load(shared, {0}))});
  builder.main(builder.scoped(shared, builder.scoped(own, body)));
  const std::string text = Entry(builder.lowered()).text();
  EXPECT_THAT(text, HasSubstr("getelementptr i8, ptr %2, i64 128\n")) << "behind the first one's 80 bytes";
  EXPECT_THAT(text, HasSubstr("getelementptr i8, ptr %4, i64 256\n"))
      << "behind the shared part, 192 bytes, and the other";
}

TEST(FunctionEmitter, RegistersHaveRoomForAWholeVectorBehindThem) {
  LoweredBuilder builder;
  const Tensor out = builder.output("out", 4);
  const Tensor tile = builder.buffer("tile", 6, Arena::registers);
  builder.main(builder.scoped(tile, make_seq({store(tile, 0, Expr(1.0)), store(out, 0, load(tile, {0}))})));
  EXPECT_THAT(Entry(builder.lowered()).text(), HasSubstr("alloca [88 x i8], align 64"));
}

// Its pieces get buffers, workspace and the variables around, in one array; without a pool all of it is one
// piece of thread 0.
TEST(FunctionEmitter, AParallelLoopIsAFunctionOfItsOwn) {
  LoweredBuilder builder;
  const Tensor out = builder.output("out", 64);
  const Var i("i"), p("p");
  const Stmt body = store(out, Affine(i) * 8 + Affine(p), Expr(1.0));
  builder.main(loop(i, 8, loop(p, 8, body, LoopKind::parallel)));
  Entry entry(builder.lowered());
  const std::string text = entry.text();
  EXPECT_THAT(text, HasSubstr("alloca [3 x i64]"));
  EXPECT_THAT(text, HasSubstr("call void @main.0(ptr %4, i64 0, i64 8, i32 0)\n"));
  EXPECT_THAT(text, HasSubstr("(ptr %3, ptr @main.0, ptr %4, i64 8)\n"));
  EXPECT_THAT(text, HasSubstr("icmp eq ptr %3, null\n"));
  EXPECT_TRUE(entry.function("main.0").hasInternalLinkage());
  EXPECT_TRUE(entry.function("main.0").hasFnAttribute(llvm::Attribute::NoInline));
  const std::string part = entry.text("main.0");
  EXPECT_THAT(part, HasSubstr("icmp slt i64 %1, %2\n")) << "a piece may be empty";
  EXPECT_THAT(part, HasSubstr("ret void\n"));
}

TEST(FunctionEmitter, EachParallelLoopHasANameOfItsOwn) {
  LoweredBuilder builder;
  const Tensor out = builder.output("out", 8);
  const Var p("p"), q("q");
  builder.main(make_seq({loop(p, 8, store(out, p, Expr(1.0)), LoopKind::parallel),
                         loop(q, 8, store(out, q, Expr(2.0)), LoopKind::parallel)}));
  const Entry entry(builder.lowered());
  EXPECT_TRUE(entry.has("main.0") && entry.has("main.1"));
  EXPECT_FALSE(entry.has("main.2"));
}

TEST(FunctionEmitter, StreamsAreFencedWhereTheProcessorAsksForIt) {
  LoweredBuilder builder;
  const Tensor out = builder.output("out", 64);
  const Var p("p");
  const Expr ones = broadcast(Expr(1.0), 8);
  builder.main(loop(p, 8, vector_store(out, Affine(p) * 8, ones), LoopKind::parallel));
  LoweredProgram lowered = builder.lowered();
  EXPECT_THAT(Entry(lowered).text("main.0"), Not(HasSubstr("sfence")));
  lowered.program.arguments[0].streams = true;
  Entry fenced(lowered);
  EXPECT_THAT(fenced.text("main.0"), HasSubstr("call void @llvm.x86.sse.sfence()\nret void\n"));
  EXPECT_THAT(fenced.text(), HasSubstr("call void @llvm.x86.sse.sfence()\nret i32 0\n"));
  EXPECT_THAT(Entry(lowered, llvm_backend::kNeon).text("main.0"), Not(HasSubstr("fence")));
}

}  // namespace
}  // namespace lathe::testing
