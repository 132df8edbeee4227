#include "codegen/llvm/x86/single_lane_stores.h"

#include <gtest/gtest.h>
#include <llvm/IR/MDBuilder.h>

#include "codegen/llvm/ir_function.h"

namespace lathe::testing {
namespace {

using llvm_backend::scalarize_single_lane_stores;

// A store of a through such a mask, mended.
class MaskedStore {
 public:
  explicit MaskedStore(Type type) : f({type, {DType::boolean, type.lanes}}, 1), lanes_(type.lanes) {}

  llvm::Instruction* store(llvm::Value* mask) {
    return f.builder.CreateMaskedStore(f.value(0), f.pointer(0), llvm::Align(4), mask);
  }
  llvm::Constant* mask(const std::vector<int>& on) {
    std::vector<llvm::Constant*> bits;
    for (int lane = 0; lane < lanes_; ++lane)
      bits.push_back(f.builder.getInt1(std::ranges::find(on, lane) != on.end()));
    return llvm::ConstantVector::get(bits);
  }
  std::string mended() {
    f.builder.CreateRetVoid();
    scalarize_single_lane_stores(f.module);
    EXPECT_EQ(f.faults(), "");
    return f.text();
  }

  IrFunction f;

 private:
  int lanes_;
};

TEST(SingleLaneStores, OneKnownLaneIsStoredAlone) {
  MaskedStore third({DType::i32, 4});
  third.store(third.mask({2}));
  EXPECT_EQ(third.mended(),
            "%0 = extractelement <4 x i32> %a, i64 2\n"
            "%1 = getelementptr i32, ptr %p0, i64 2\n"
            "store i32 %0, ptr %1, align 4\n"
            "ret void\n");
  MaskedStore bytes({DType::i8, 16});
  bytes.store(bytes.mask({15}));
  EXPECT_EQ(bytes.mended(),
            "%0 = extractelement <16 x i8> %a, i64 15\n"
            "%1 = getelementptr i8, ptr %p0, i64 15\n"
            "store i8 %0, ptr %1, align 1\n"
            "ret void\n");
}

TEST(SingleLaneStores, AllOthersStayAsTheyAre) {
  for (const std::vector<int>& on : {std::vector<int>{}, {0, 1}, {0, 3}, {0, 1, 2, 3}}) {
    MaskedStore several({DType::i32, 4});
    several.store(several.mask(on));
    const std::string text = several.mended();
    EXPECT_NE(text.find("@llvm.masked.store"), std::string::npos) << on.size();
    EXPECT_EQ(text.find("extractelement"), std::string::npos) << on.size();
  }
  MaskedStore unknown({DType::i32, 4});
  unknown.store(unknown.f.value(1));
  EXPECT_NE(unknown.mended().find("@llvm.masked.store"), std::string::npos);
}

TEST(SingleLaneStores, SeveralInOneBlockAreAllMended) {
  MaskedStore both({DType::f32, 8});
  both.store(both.mask({0}));
  both.store(both.mask({1, 2}));
  both.store(both.mask({7}));
  const std::string text = both.mended();
  EXPECT_NE(text.find("extractelement <8 x float> %a, i64 0"), std::string::npos) << text;
  EXPECT_NE(text.find("extractelement <8 x float> %a, i64 7"), std::string::npos) << text;
  EXPECT_EQ(text.find("@llvm.masked.store"), text.rfind("@llvm.masked.store"));
}

// What does not alias stays known.
TEST(SingleLaneStores, TheStoreKeepsItsScopes) {
  MaskedStore one({DType::i32, 4});
  llvm::MDBuilder metadata(one.f.context);
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain();
  llvm::MDNode* scope = llvm::MDNode::get(one.f.context, {metadata.createAnonymousAliasScope(domain)});
  one.store(one.mask({1}))->setMetadata(llvm::LLVMContext::MD_noalias, scope);
  one.mended();
  const llvm::BasicBlock& block = one.f.function->getEntryBlock();
  const auto found = std::ranges::find_if(
      block, [](const llvm::Instruction& instruction) { return llvm::isa<llvm::StoreInst>(instruction); });
  ASSERT_NE(found, block.end());
  EXPECT_EQ(found->getMetadata(llvm::LLVMContext::MD_noalias), scope);
}

}  // namespace
}  // namespace lathe::testing
