#include "codegen/llvm/machine.h"

#include <gmock/gmock.h>

#include "codegen/llvm/ir_function.h"
#include "codegen/llvm/x86/processors.h"

namespace lathe::testing {
namespace {

using llvm_backend::emit_machine_code;
using llvm_backend::forgo_optimization;
using llvm_backend::kAvx2;
using llvm_backend::longest_block;
using llvm_backend::make_machine;
using llvm_backend::Output;
using llvm_backend::Processor;
using llvm_backend::run_passes;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A function whose module is told of the machine.
struct Emitting {
  explicit Emitting(IrFunction& f) : machine(make_machine(kAvx2, {}).value()) {
    f.module.setTargetTriple(machine->getTargetTriple());
    f.module.setDataLayout(machine->createDataLayout());
  }
  std::unique_ptr<llvm::TargetMachine> machine;
};

TEST(LlvmMachine, ATargetThatLlvmDoesNotHaveIsASentence) {
  Processor unknown = kAvx2;
  unknown.target = "pdp-11";
  unknown.triple = "pdp11-dec-unknown";
  const auto machine = make_machine(unknown, {});
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(machine.error().message, StartsWith("target 'pdp-11' has no LLVM backend: "));
}

TEST(LlvmMachine, ExtensionsThatTheProcessorDoesNotNameAreLeftOut) {
  const auto plain = make_machine(kAvx2, {});
  const auto other = make_machine(kAvx2, {"neon_dotprod"});
  const auto vnni = make_machine(kAvx2, {"avx_vnni"});
  ASSERT_TRUE(plain && other && vnni);
  EXPECT_EQ((*plain)->getTargetFeatureString(), "+avx2,+fma");
  EXPECT_EQ((*other)->getTargetFeatureString(), "+avx2,+fma");
  EXPECT_EQ((*vnni)->getTargetFeatureString(), "+avx2,+fma,+avxvnni");
}

// The least options that let a product and a sum be one operation where the program says so, and nothing
// more.
TEST(LlvmMachine, SumsAreNotReordered) {
  const auto machine = make_machine(kAvx2, {});
  ASSERT_TRUE(machine);
  EXPECT_EQ((*machine)->Options.AllowFPOpFusion, llvm::FPOpFusion::Standard);
  EXPECT_EQ((*machine)->getRelocationModel(), llvm::Reloc::PIC_);
}

TEST(LlvmMachine, PassesTakeSlotsCommonPartsAndEmptyBlocksAway) {
  IrFunction f({{DType::i32, 1}, {DType::i32, 1}}, 1);
  Emitting emitting(f);
  llvm::Value* slot = f.builder.CreateAlloca(f.builder.getInt32Ty());
  f.builder.CreateStore(f.builder.CreateMul(f.value(0), f.value(1)), slot);
  llvm::BasicBlock* next = llvm::BasicBlock::Create(f.context, "next", f.function);
  f.builder.CreateBr(next);
  f.builder.SetInsertPoint(next);
  llvm::Value* again = f.builder.CreateMul(f.value(0), f.value(1));
  llvm::Value* loaded = f.builder.CreateLoad(f.builder.getInt32Ty(), slot);
  f.builder.CreateStore(f.builder.CreateXor(loaded, f.builder.CreateAdd(again, f.value(0))), f.pointer(0));
  f.builder.CreateRetVoid();
  run_passes(f.module, *emitting.machine, kAvx2);
  EXPECT_EQ(f.text(),
            "%0 = mul i32 %a, %b\n"
            "%1 = add i32 %0, %a\n"
            "%2 = xor i32 %0, %1\n"
            "store i32 %2, ptr %p0, align 4\n"
            "ret void\n");
}

TEST(LlvmMachine, PassesEndWithWhatTheProcessorMends) {
  static int mended = 0;
  mended = 0;
  Processor counting = kAvx2;
  counting.mend = [](llvm::Module&) { ++mended; };
  IrFunction f;
  Emitting emitting(f);
  f.builder.CreateRetVoid();
  run_passes(f.module, *emitting.machine, counting);
  EXPECT_EQ(mended, 1);
  counting.mend = nullptr;
  run_passes(f.module, *emitting.machine, counting);
  EXPECT_EQ(mended, 1);
}

TEST(LlvmMachine, AnObjectOrItsText) {
  for (const Output output : {Output::object, Output::assembly}) {
    IrFunction f({{DType::i32, 1}}, 1);
    Emitting emitting(f);
    f.builder.CreateStore(f.value(0), f.pointer(0));
    f.builder.CreateRetVoid();
    SpillCount spills;
    const auto code = emit_machine_code(f.module, *emitting.machine, output, true, spills);
    ASSERT_TRUE(code) << code.error().to_string();
    if (output == Output::object) {
      EXPECT_THAT(*code, StartsWith("\177ELF"));
    } else {
      EXPECT_THAT(*code, HasSubstr("movl\t%esi, (%rdi)"));
    }
    EXPECT_EQ(spills.innermost_loops, 0);
  }
}

// The roots and sums of a sum of six roots of squares, each added before the next one is taken: r and s, in
// the order of the machine code.
std::string roots_and_sums(bool reorders) {
  IrFunction f({}, 1);
  Emitting emitting(f);
  llvm::Type* type = llvm_backend::value_type(f.context, {DType::f32, 8});
  llvm::Value* sum = llvm::Constant::getNullValue(type);
  for (int i = 0; i < 6; ++i) {
    llvm::Value* at = f.builder.CreateConstGEP1_64(f.builder.getInt8Ty(), f.pointer(0), 32U * i);
    llvm::Value* value = f.builder.CreateAlignedLoad(type, at, llvm::Align(32));
    llvm::Value* square = f.builder.CreateFMul(value, value);
    sum = f.builder.CreateFAdd(sum, f.builder.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, square));
  }
  f.builder.CreateAlignedStore(sum, f.pointer(0), llvm::Align(32));
  f.builder.CreateRetVoid();
  SpillCount spills;
  const std::string text =
      emit_machine_code(f.module, *emitting.machine, Output::assembly, reorders, spills).value();
  std::string order;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 8, "vsqrtps\t") == 0) order += 'r';
    if (text.compare(i, 7, "vaddps\t") == 0) order += 's';
  }
  return order;
}

TEST(LlvmMachine, WithoutReorderingInstructionsStayWhereTheProgramHasThem) {
  EXPECT_EQ(roots_and_sums(false), "rsrsrsrsrsrs");
}

// What may be reordered is: roots take long, and the next one begins before the last is added.
TEST(LlvmMachine, WithReorderingSlowInstructionsBeginEarlier) {
  EXPECT_THAT(roots_and_sums(true), HasSubstr("rr"));
}

// In pieces of 2,000 instructions, in their order; what is shorter than two pieces stays whole.
TEST(LlvmMachine, LongBlocksAreCutWhereOptimisationIsForgone) {
  IrFunction f({{DType::i32, 1}}, 1);
  Emitting emitting(f);
  llvm::Value* value = f.value(0);
  for (int i = 0; i < 9000; ++i) value = f.builder.CreateXor(value, f.builder.CreateAdd(value, f.value(0)));
  f.builder.CreateStore(value, f.pointer(0));
  f.builder.CreateRetVoid();
  forgo_optimization(f.module, *emitting.machine);
  EXPECT_EQ(emitting.machine->getOptLevel(), llvm::CodeGenOptLevel::None);
  EXPECT_EQ(f.function->size(), 9U);
  EXPECT_LE(longest_block(f.module), 4001U);
  EXPECT_EQ(f.faults(), "");
  SpillCount spills;
  EXPECT_TRUE(emit_machine_code(f.module, *emitting.machine, Output::object, true, spills));
}

TEST(LlvmMachine, TheLongestBlockIsOfAnyFunction) {
  IrFunction f({{DType::i32, 1}}, 1);
  EXPECT_EQ(longest_block(f.module), 0U);
  f.builder.CreateStore(f.value(0), f.pointer(0));
  f.builder.CreateStore(f.value(0), f.pointer(0));
  llvm::BasicBlock* next = llvm::BasicBlock::Create(f.context, "next", f.function);
  f.builder.CreateBr(next);
  f.builder.SetInsertPoint(next);
  f.builder.CreateRetVoid();
  EXPECT_EQ(longest_block(f.module), 3U);
}

// The index emitter advances pointers; LLVM's own way of doing so is left out.
TEST(LlvmMachine, LoopsKeepTheirCounters) {
  IrFunction f({{DType::i64, 1}}, 1);
  Emitting emitting(f);
  llvm::BasicBlock* entry = f.builder.GetInsertBlock();
  llvm::BasicBlock* body = llvm::BasicBlock::Create(f.context, "body", f.function);
  llvm::BasicBlock* end = llvm::BasicBlock::Create(f.context, "end", f.function);
  f.builder.CreateBr(body);
  f.builder.SetInsertPoint(body);
  llvm::PHINode* i = f.builder.CreatePHI(f.builder.getInt64Ty(), 2);
  i->addIncoming(f.builder.getInt64(0), entry);
  llvm::Value* element = f.builder.CreateGEP(f.builder.getInt8Ty(), f.pointer(0),
                                             f.builder.CreateMul(i, f.builder.getInt64(12)));
  f.builder.CreateStore(f.builder.getInt32(7), element);
  llvm::Value* next = f.builder.CreateAdd(i, f.builder.getInt64(1));
  i->addIncoming(next, body);
  f.builder.CreateCondBr(f.builder.CreateICmpSLT(next, f.value(0)), body, end);
  f.builder.SetInsertPoint(end);
  f.builder.CreateRetVoid();
  SpillCount spills;
  const auto code = emit_machine_code(f.module, *emitting.machine, Output::assembly, true, spills);
  ASSERT_TRUE(code);
  EXPECT_THAT(*code, HasSubstr("(%rdi,%"));         // an index, as the program has it
  EXPECT_THAT(*code, Not(HasSubstr("addq\t$12")));  // what loop strength reduction would make of it
  EXPECT_EQ(spills.innermost_loops, 1);
}

}  // namespace
}  // namespace lathe::testing
