// What intrinsics become: one instruction for all lanes, and what a target without it does.
#include "codegen/llvm/intrinsic_emitter.h"

#include <gmock/gmock.h>

#include "codegen/llvm/emit.h"
#include "codegen/lowered_builder.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// C[0 .. lanes-1] gains, for i in 8, the products of A's group i, the same in all lanes, and B's.
LoweredProgram accumulate(const Intrinsic& intrinsic, int lanes) {
  LoweredBuilder builder;
  const int group = intrinsic.group;
  const Tensor a = builder.input("A", 8 * group, intrinsic.a);
  const Tensor b = builder.input("B", int64_t{8} * group * lanes, intrinsic.b);
  const Tensor c = builder.output("C", lanes, intrinsic.result);
  const Var i("i");
  const Expr value =
      call(intrinsic.name, {vector_load(c, Affine(0), lanes), vector_load(a, Affine(i) * group, group),
                            vector_load(b, Affine(i) * (group * lanes), group * lanes)});
  builder.main(loop(i, 8, vector_store(c, Affine(0), value)));
  return builder.lowered();
}

std::string assembly(const char* name, int lanes, const char* on,
                     const std::vector<std::string>& extensions) {
  const Target target = with_extensions(generic_target(on), extensions);
  const auto text = emit_assembly(accumulate(*find_intrinsic(name), lanes), target, entry_symbols("test"));
  EXPECT_TRUE(text) << text.error().to_string();
  return text.value_or("");
}

TEST(IntrinsicEmitter, AllLanesAreOneInstruction) {
  EXPECT_THAT(assembly("dot4_u8_i8", 16, "x86-avx512", {"avx512_vnni"}),
              AllOf(HasSubstr("vpdpbusd"), HasSubstr("%zmm"), Not(HasSubstr("vpmulld"))));
  EXPECT_THAT(assembly("dot4_u8_i8", 8, "x86-avx2", {"avx_vnni"}), HasSubstr("{vex}\tvpdpbusd"));
  EXPECT_THAT(assembly("dot2_bf16", 16, "x86-avx512", {"avx512_bf16"}), HasSubstr("vdpbf16ps"));
  EXPECT_THAT(assembly("dot2_i16", 16, "x86-avx512", {"avx512_vnni"}), HasSubstr("vpdpwssd"));
}

TEST(IntrinsicEmitter, WithoutVnniWordsAreMultipliedAndAdded) {
  EXPECT_THAT(assembly("dot2_i16", 8, "x86-avx2", {}), AllOf(HasSubstr("vpmaddwd"), HasSubstr("vpaddd")));
  EXPECT_THAT(assembly("dot2_i16", 16, "x86-avx512", {}),
              AllOf(HasSubstr("vpmaddwd"), HasSubstr("vpaddd"), Not(HasSubstr("vpdpwssd"))));
}

TEST(IntrinsicEmitter, OtherNumbersOfLanesHaveNoInstruction) {
  EXPECT_THAT(assembly("dot4_u8_i8", 3, "x86-avx512", {"avx512_vnni"}), Not(HasSubstr("vpdpbusd")));
}

}  // namespace
}  // namespace lathe::testing
