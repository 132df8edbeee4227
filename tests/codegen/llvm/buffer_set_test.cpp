#include "codegen/llvm/buffer_set.h"

#include <gtest/gtest.h>
#include <llvm/IR/Constants.h>

#include "base/check.h"
#include "codegen/llvm/ir_function.h"

namespace lathe::testing {
namespace {

using llvm_backend::BufferSet;

BufferUse in_arena(const char* name, Storage storage, int64_t offset, int64_t bytes) {
  return {.tensor = Tensor(name, {bytes / 4}), .storage = storage, .offset = offset, .bytes = bytes};
}

// Of a load from each buffer: whether LLVM may take accesses to one buffer and to another as apart.
class Aliasing {
 public:
  explicit Aliasing(const std::vector<BufferUse>& uses) : f_({}, 1), set_(f_.module, uses) {
    for (const BufferUse& use : uses) {
      auto* load = f_.builder.CreateLoad(f_.builder.getFloatTy(), f_.pointer(0));
      set_.annotate(load, use.tensor);
      loads_.push_back(load);
    }
  }
  bool has_scope(size_t i) const { return scope(i) != nullptr; }
  bool apart(size_t i, size_t j) const {
    const llvm::MDNode* others = loads_[i]->getMetadata(llvm::LLVMContext::MD_noalias);
    if (others == nullptr || scope(j) == nullptr) return false;
    for (const llvm::MDOperand& other : others->operands()) {
      if (other == scope(j)->getOperand(0)) return true;
    }
    return false;
  }

 private:
  const llvm::MDNode* scope(size_t i) const {
    return loads_[i]->getMetadata(llvm::LLVMContext::MD_alias_scope);
  }
  IrFunction f_;
  BufferSet set_;
  std::vector<llvm::Instruction*> loads_;
};

TEST(BufferSet, ArgumentsAndArenasLieApart) {
  const Aliasing a({{.tensor = Tensor("in", {4}), .argument = 0},
                    {.tensor = Tensor("out", {4}), .argument = 1},
                    in_arena("shared", Storage::workspace, 0, 64),
                    in_arena("own", Storage::thread, 0, 64)});
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(a.has_scope(i));
    for (size_t j = 0; j < 4; ++j) EXPECT_EQ(a.apart(i, j), i != j) << i << " and " << j;
  }
}

// Buffers of disjoint lifetimes share bytes; what touches at an end does not.
TEST(BufferSet, BuffersOnTheSameBytesDoNot) {
  const Aliasing a(
      {in_arena("first", Storage::workspace, 0, 128), in_arena("inside", Storage::workspace, 64, 64),
       in_arena("behind", Storage::workspace, 128, 64), in_arena("own", Storage::thread, 0, 128)});
  EXPECT_FALSE(a.apart(0, 1));
  EXPECT_FALSE(a.apart(1, 0));
  EXPECT_TRUE(a.apart(0, 2));
  EXPECT_TRUE(a.apart(1, 2));
  EXPECT_TRUE(a.apart(0, 3));
  EXPECT_TRUE(a.apart(3, 0));
}

TEST(BufferSet, RegistersAndTablesNeedNoScope) {
  const Aliasing a({in_arena("tile", Storage::registers, 0, 64),
                    {.tensor = Tensor::literal("table", {2}, {1, 2}), .storage = Storage::literal},
                    {.tensor = Tensor("out", {4}), .argument = 0}});
  EXPECT_FALSE(a.has_scope(0));
  EXPECT_FALSE(a.has_scope(1));
  EXPECT_TRUE(a.has_scope(2));
  EXPECT_FALSE(a.apart(2, 0));
  EXPECT_FALSE(a.apart(0, 2));
}

TEST(BufferSet, BuffersAreFoundByTheirTensor) {
  IrFunction f;
  const Tensor in("in", {4}), out("in", {4});  // of one name
  const BufferSet set(f.module, {{.tensor = in, .argument = 3}, {.tensor = out, .argument = 5}});
  EXPECT_EQ(set.uses().size(), 2U);
  EXPECT_EQ(set.find(in).argument, 3);
  EXPECT_EQ(set.find(out).argument, 5);
}

TEST(BufferSet, TablesHoldTheirValues) {
  IrFunction f;
  const Tensor table = Tensor::literal("table", {2}, {0.5, -2});
  BufferSet set(f.module, {{.tensor = table, .storage = Storage::literal}});
  EXPECT_EQ(text_of(llvm::cast<llvm::GlobalVariable>(set.literal(table))->getInitializer()),
            "[2 x float] [float 5.000000e-01, float -2.000000e+00]");
}

TEST(BufferSet, ATableIsMadeOnceAndAligned) {
  IrFunction f;
  const Tensor one = Tensor::literal("one", {1}, {1}), other = Tensor::literal("other", {1}, {1});
  BufferSet set(f.module, {{.tensor = one, .storage = Storage::literal},
                           {.tensor = other, .storage = Storage::literal}});
  llvm::Constant* table = set.literal(one);
  EXPECT_EQ(set.literal(one), table);
  EXPECT_NE(set.literal(other), table);
  EXPECT_EQ(f.module.global_size(), 2U);
  const auto* variable = llvm::cast<llvm::GlobalVariable>(table);
  EXPECT_TRUE(variable->isConstant() && variable->hasInternalLinkage());
  EXPECT_EQ(variable->getAlign(), llvm::Align(64));
}

// What a switched-off load reads: room for the widest of them, one for all.
TEST(BufferSet, ZerosAreShared) {
  IrFunction f;
  BufferSet set(f.module, {});
  llvm::Constant* zeros = set.zeros(4);
  EXPECT_EQ(set.zeros(256), zeros);
  const auto* variable = llvm::cast<llvm::GlobalVariable>(zeros);
  EXPECT_EQ(text_of(variable->getInitializer()), "[256 x i8] zeroinitializer");
  EXPECT_THROW(set.zeros(257), InternalError);
}

}  // namespace
}  // namespace lathe::testing
