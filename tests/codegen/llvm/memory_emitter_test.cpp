// Loads and stores of every shape: what is read and written, how it is aligned, and what lanes that are off
// may touch.
#include "codegen/llvm/memory_emitter.h"

#include <gmock/gmock.h>

#include "base/check.h"
#include "codegen/llvm/ir_function.h"
#include "codegen/lowered_builder.h"

namespace lathe::testing {
namespace {

using llvm_backend::BufferSet;
using llvm_backend::Guard;
using llvm_backend::IndexEmitter;
using llvm_backend::MemoryEmitter;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Type kIndex{DType::i64, 1};
constexpr Type kBit{DType::boolean, 1};

// A function of buffers (p0, p1 ..), an index i (its value a), and of what a test stores or masks by (b, c
// ..).
class Access {
 public:
  explicit Access(std::vector<BufferUse> uses, const std::vector<Type>& values = {})
      : f(with_index(values), static_cast<int>(uses.size())),
        indices(f.builder, [](const Expr&, const Guard&) -> llvm::Value* { return nullptr; }),
        buffers(f.module, uses),
        memory(f.builder, buffers, indices) {
    for (size_t n = 0; n < uses.size(); ++n) memory.set_base(uses[n].tensor, f.pointer(static_cast<int>(n)));
    indices.open_level();
    indices.define(i, f.value(0), {0, 99});
  }

  llvm::Value* load(const Expr& e, llvm::Value* mask = nullptr, const Guard& guard = {}) {
    return memory.load(*e.as<Load>(), e.type(), mask, guard);
  }
  void store(const Tensor& tensor, const Affine& offset, Type type, int64_t stride,
             llvm::Value* mask = nullptr) {
    memory.store({tensor, {offset}, {}, stride, {}}, type, f.value(1), mask);
  }
  std::string text() {
    indices.close_level();
    f.builder.CreateRetVoid();
    EXPECT_EQ(f.faults(), "");
    const std::string all = f.text();
    return all.substr(0, all.size() - std::string("ret void\n").size());
  }

  Var i{"i"};
  IrFunction f;
  IndexEmitter indices;
  BufferSet buffers;
  MemoryEmitter memory;

 private:
  static std::vector<Type> with_index(std::vector<Type> values) {
    values.insert(values.begin(), kIndex);
    return values;
  }
};

BufferUse argument(const Tensor& tensor, bool streams = false) {
  return {.tensor = tensor, .argument = 0, .streams = streams};
}
BufferUse registers(const Tensor& tensor) {
  return {
      .tensor = tensor, .storage = Storage::registers, .bytes = tensor.elements() * bytes_of(tensor->dtype)};
}

const Tensor kFloats("floats", {400});
const Tensor kBytes("bytes", {400}, DType::i8);
const Tensor kBooleans("booleans", {400}, DType::boolean);

TEST(MemoryEmitter, AScalarIsReadAtItsOffset) {
  Access a({argument(kFloats)});
  a.load(lathe::load(kFloats, {Affine(a.i) + 3}));
  EXPECT_EQ(a.text(),
            "%0 = mul nsw i64 %a, 4\n"
            "%1 = getelementptr i8, ptr %p0, i64 %0\n"
            "%2 = getelementptr i8, ptr %1, i64 12\n"
            "%3 = load float, ptr %2, align 4\n");
}

struct Alignment {
  const Tensor& tensor;
  int64_t factor, constant;
  int lanes;
  uint64_t bytes;
};

// What the coefficients and the constant prove, and no more than the buffer's own start.
TEST(MemoryEmitter, AlignmentFollowsFromTheOffset) {
  for (const Alignment& c :
       {Alignment{kFloats, 8, 0, 8, 32}, Alignment{kFloats, 8, 4, 8, 16}, Alignment{kFloats, 6, 0, 8, 8},
        Alignment{kFloats, 1, 0, 8, 4}, Alignment{kFloats, 64, 0, 8, 64}, Alignment{kFloats, 0, 0, 1, 64},
        Alignment{kBytes, 3, 0, 16, 1}, Alignment{kBytes, 16, 2, 16, 2}}) {
    Access a({argument(c.tensor)});
    llvm::Value* loaded = a.load(vector_load(c.tensor, Affine(a.i) * c.factor + c.constant, c.lanes));
    EXPECT_EQ(llvm::cast<llvm::LoadInst>(loaded)->getAlign().value(), c.bytes)
        << c.factor << " " << c.constant;
    a.text();
  }
}

TEST(MemoryEmitter, BooleansAreBytesInMemory) {
  Access a({argument(kBooleans)}, {{DType::boolean, 8}});
  a.load(vector_load(kBooleans, 0, 8));
  a.store(kBooleans, 0, {DType::boolean, 8}, 1);
  EXPECT_EQ(a.text(),
            "%0 = load <8 x i8>, ptr %p0, align 64\n"
            "%1 = icmp ne <8 x i8> %0, zeroinitializer\n"
            "%2 = zext <8 x i1> %b to <8 x i8>\n"
            "store <8 x i8> %2, ptr %p0, align 64\n");
}

// The second vector begins at the last lane's neighbour, so that nothing behind the last lane is read.
TEST(MemoryEmitter, EverySecondElementComesOfTwoVectors) {
  Access a({argument(kFloats)});
  a.load(vector_load(kFloats, Affine(a.i) * 16, 8, 2));
  EXPECT_EQ(a.text(),
            "%0 = mul nsw i64 %a, 64\n"
            "%1 = getelementptr i8, ptr %p0, i64 %0\n"
            "%2 = load <8 x float>, ptr %1, align 64\n"
            "%3 = getelementptr i8, ptr %1, i64 28\n"
            "%4 = load <8 x float>, ptr %3, align 4\n"
            "%5 = shufflevector <8 x float> %2, <8 x float> %4, <8 x i32> <i32 0, i32 2, i32 4, i32 6, "
            "i32 9, i32 11, i32 13, i32 15>\n");
}

TEST(MemoryEmitter, OtherStridesAreReadLaneByLane) {
  Access a({argument(kFloats)});
  a.load(vector_load(kFloats, 40, 2, -3));
  EXPECT_EQ(a.text(),
            "%0 = getelementptr i8, ptr %p0, i64 160\n"
            "%1 = load float, ptr %0, align 32\n"
            "%2 = insertelement <2 x float> poison, float %1, i64 0\n"
            "%3 = getelementptr i8, ptr %p0, i64 148\n"
            "%4 = load float, ptr %3, align 4\n"
            "%5 = insertelement <2 x float> %2, float %4, i64 1\n");
  Access odd({argument(kFloats)});
  odd.load(vector_load(kFloats, 0, 3, 2));
  EXPECT_THAT(odd.text(), Not(HasSubstr("shufflevector")));
}

TEST(MemoryEmitter, AMaskedLoadGivesZerosElsewhere) {
  Access a({argument(kFloats)}, {{DType::boolean, 4}});
  a.load(vector_load(kFloats, 0, 4), a.f.value(1));
  EXPECT_THAT(a.text(), HasSubstr("@llvm.masked.load.v4f32.p0(ptr align 64 %p0, <4 x i1> %b, <4 x float> "
                                  "zeroinitializer)"));
  Access strided({argument(kFloats)}, {{DType::boolean, 4}});
  strided.load(vector_load(kFloats, 0, 4, 3), strided.f.value(1));
  EXPECT_THAT(strided.text(),
              HasSubstr("getelementptr i8, ptr %p0, <4 x i64> <i64 0, i64 12, i64 24, i64 36>"));
}

// A guard of all lanes moves the address instead: the buffer may end before what is not to be read.
TEST(MemoryEmitter, AGuardedLoadReadsZerosInPlaceOfTheBuffer) {
  Access a({argument(kFloats)}, {kBit});
  a.load(vector_load(kFloats, 0, 8), nullptr, {a.f.value(1), nullptr});
  EXPECT_EQ(a.text(),
            "%0 = select i1 %b, ptr %p0, ptr @table\n"
            "%1 = load <8 x float>, ptr %0, align 64\n");
  Access strided({argument(kFloats)}, {kBit});
  strided.load(vector_load(kFloats, 0, 2, 5), nullptr, {strided.f.value(1), nullptr});
  EXPECT_EQ(strided.text(),
            "%0 = select i1 %b, ptr %p0, ptr @table\n"
            "%1 = load float, ptr %0, align 64\n"
            "%2 = insertelement <2 x float> poison, float %1, i64 0\n"
            "%3 = getelementptr i8, ptr %p0, i64 20\n"
            "%4 = select i1 %b, ptr %3, ptr @table\n"
            "%5 = load float, ptr %4, align 4\n"
            "%6 = insertelement <2 x float> %2, float %5, i64 1\n");
}

TEST(MemoryEmitter, AScalarUnderAGuardOfLanesIsReadWhereAnyIsOn) {
  Access a({argument(kFloats)}, {{DType::boolean, 8}});
  a.load(lathe::load(kFloats, {0}), nullptr, {nullptr, a.f.value(1)});
  EXPECT_THAT(a.text(), HasSubstr("%0 = call i1 @llvm.vector.reduce.or.v8i1(<8 x i1> %b)\n"
                                  "%1 = select i1 %0, ptr %p0, ptr @table\n"));
}

TEST(MemoryEmitter, AMaskAndAGuardHoldTogether) {
  Access a({argument(kFloats)}, {{DType::boolean, 4}, {DType::boolean, 4}});
  a.load(vector_load(kFloats, 0, 4), a.f.value(1), {nullptr, a.f.value(2)});
  EXPECT_THAT(a.text(), HasSubstr("%0 = and <4 x i1> %c, %b\n"));
}

// Registers may be read anywhere: with a changed address LLVM could not make values of them.
TEST(MemoryEmitter, RegistersAreAlwaysReadAndThenSelected) {
  Access a({registers(kFloats)}, {kBit});
  a.load(vector_load(kFloats, 8, 8), nullptr, {a.f.value(1), nullptr});
  EXPECT_EQ(a.text(),
            "%0 = getelementptr i8, ptr %p0, i64 32\n"
            "%1 = load <8 x float>, ptr %0, align 32\n"
            "%2 = select i1 %b, <8 x float> %1, <8 x float> zeroinitializer\n");
  Access masked({registers(kFloats)}, {{DType::f32, 8}, {DType::boolean, 8}});
  masked.store(kFloats, 0, {DType::f32, 8}, 1, masked.f.value(2));
  EXPECT_EQ(masked.text(),
            "%0 = load <8 x float>, ptr %p0, align 64\n"
            "%1 = select <8 x i1> %c, <8 x float> %b, <8 x float> %0\n"
            "store <8 x float> %1, ptr %p0, align 64\n");
}

TEST(MemoryEmitter, StoresOfEveryShape) {
  Access scalar({argument(kFloats)}, {{DType::f32, 1}});
  scalar.store(kFloats, Affine(scalar.i) * 2, {DType::f32, 1}, 0);
  EXPECT_THAT(scalar.text(), HasSubstr("store float %b, ptr %1, align 8\n"));
  Access masked({argument(kFloats)}, {{DType::f32, 8}, {DType::boolean, 8}});
  masked.store(kFloats, 0, {DType::f32, 8}, 1, masked.f.value(2));
  EXPECT_THAT(masked.text(),
              HasSubstr("@llvm.masked.store.v8f32.p0(<8 x float> %b, ptr align 64 %p0, <8 x i1> %c)"));
  Access strided({argument(kFloats)}, {{DType::f32, 2}});
  strided.store(kFloats, 1, {DType::f32, 2}, 7);
  EXPECT_EQ(strided.text(),
            "%0 = extractelement <2 x float> %b, i64 0\n"
            "%1 = getelementptr i8, ptr %p0, i64 4\n"
            "store float %0, ptr %1, align 4\n"
            "%2 = extractelement <2 x float> %b, i64 1\n"
            "%3 = getelementptr i8, ptr %p0, i64 32\n"
            "store float %2, ptr %3, align 32\n");
  Access scattered({argument(kFloats)}, {{DType::f32, 2}, {DType::boolean, 2}});
  scattered.store(kFloats, 0, {DType::f32, 2}, 7, scattered.f.value(2));
  EXPECT_THAT(scattered.text(), HasSubstr("@llvm.masked.scatter.v2f32.v2p0(<2 x float> %b, <2 x ptr> "));
}

bool streams(bool streams, int lanes, const Affine& offset, bool masked = false) {
  Access a({argument(kFloats, streams)}, {{DType::f32, lanes}, {DType::boolean, lanes}});
  a.store(kFloats, offset, {DType::f32, lanes}, lanes == 1 ? 0 : 1, masked ? a.f.value(2) : nullptr);
  a.text();
  return std::ranges::any_of(a.f.function->getEntryBlock(), [](const llvm::Instruction& instruction) {
    return instruction.getMetadata(llvm::LLVMContext::MD_nontemporal) != nullptr;
  });
}

TEST(MemoryEmitter, OnlyWholeAlignedVectorsGoPastTheCaches) {
  EXPECT_TRUE(streams(true, 8, 0));
  EXPECT_TRUE(streams(true, 4, 4));
  EXPECT_FALSE(streams(false, 8, 0));
  EXPECT_FALSE(streams(true, 8, 4)) << "16 bytes of 32 are not aligned";
  EXPECT_FALSE(streams(true, 2, 0)) << "eight bytes";
  EXPECT_FALSE(streams(true, 1, 0));
  EXPECT_FALSE(streams(true, 8, 0, /*masked=*/true));
}

TEST(MemoryEmitter, PrefetchesReadTowardsTheSecondLevel) {
  Access a({argument(kFloats)});
  a.memory.prefetch({kFloats, {Affine(a.i) + 16}});
  EXPECT_THAT(a.text(), HasSubstr("call void @llvm.prefetch.p0(ptr %2, i32 0, i32 2, i32 1)\n"));
}

TEST(MemoryEmitter, ABufferWithoutABaseIsOurMistake) {
  Access a({argument(kFloats)});
  EXPECT_THROW(a.load(lathe::load(kBytes, {0})), InternalError);
  a.text();
}

}  // namespace
}  // namespace lathe::testing
