#include "target/target.h"

#include <gtest/gtest.h>

#include "target/all.h"
#include "target/detect.h"

namespace lathe {
namespace {

std::string error_of(std::string_view text) {
  const Result<Target> target = parse_target(text);
  return target.has_value() ? "no error" : target.error().to_string();
}

// Of a device that no machine of these tests is.
Target other_machine(std::string_view name) {
  Target target = generic_target(name);
  target.machine = "Test \"CPU\"";
  if (auto* cpu = std::get_if<CpuTarget>(&target.kind)) {
    cpu->cores = 7;
    cpu->l2 = {.bytes = 512 << 10, .ways = 8, .line_bytes = 64};
    cpu->l3.bytes = int64_t{300} << 30;
  }
  return target;
}

TEST(Target, EachPrintsAndParsesOnAnyMachine) {
  for (const TargetRow& row : all_targets()) {
    const Target target = other_machine(row.name);
    const Result<Target> again = parse_target(print(target));
    ASSERT_TRUE(again.has_value()) << again.error().to_string();
    EXPECT_EQ(*again, target) << print(target);
  }
}

TEST(Target, ItsTextNamesWhatItsKindHas) {
  EXPECT_EQ(print(other_machine("x86-avx2")),
            "x86-avx2 extensions=none cores=7 fma_per_cycle=2 fma_latency=4 l1=32768/8/64 l2=524288/8/64 "
            "l3=322122547200/16/64 machine=\"Test \\\"CPU\\\"\"");
  EXPECT_EQ(print(generic_target("opencl")),
            "opencl compute_units=8 work_group_size=256 sub_group_width=1 local_bytes=32768 "
            "global_bytes=2147483648 cache_bytes=1048576 machine=\"generic\"");
}

TEST(Target, ANameStandsForThisMachineOrElseForATypicalOne) {
  for (const TargetRow& row : all_targets()) {
    const Result<Target> target = parse_target(row.name);
    ASSERT_TRUE(target.has_value()) << target.error().to_string();
    EXPECT_EQ(*target, row.detect().value_or(row.generic()));
  }
}

TEST(Target, WrittenFieldsTakeThePlaceOfItsOwn) {
  const Target written = parse_target("x86-avx512 l2=4096/2/32 fma_latency=9 cores=3").value();
  EXPECT_EQ(written.cpu().l2, (CacheLevel{4096, 2, 32}));
  EXPECT_EQ(written.cpu().fma_latency_cycles, 9);
  EXPECT_EQ(written.cpu().l1, parse_target("x86-avx512")->cpu().l1);
  EXPECT_EQ(cores_of(written), 3);
}

TEST(Target, NativeIsTheProcessorOfThisMachine) {
  const Result<Target> target = parse_target("native");
  ASSERT_TRUE(target.has_value());
  EXPECT_EQ(*target, detect_target());
}

TEST(Target, OnlyProcessorsHaveCoresToShareOut) {
  EXPECT_EQ(cores_of(with_cores(generic_target("x86-avx2"), 5)), 5);
  EXPECT_EQ(with_cores(generic_target("opencl"), 5), generic_target("opencl"));
  EXPECT_EQ(cores_of(generic_target("opencl")), 1);
}

TEST(Target, WhoTakesItForAnotherKindIsWrong) {
  EXPECT_THROW(generic_target("opencl").cpu(), InternalError);
  EXPECT_THROW(generic_target("x86-avx2").gpu(), InternalError);
}

TEST(Target, NamesWhatIsWrongInTheText) {
  const std::string names = "native, x86-avx512, x86-avx2, aarch64-neon, opencl";
  EXPECT_EQ(error_of("x86-sse"), "unknown target 'x86-sse': one of " + names);
  EXPECT_EQ(error_of(""), "target:1:1: expected a target: one of " + names);
  EXPECT_EQ(error_of("native cores=0"), "target:1:15: 0 is not in 1 .. 2147483647");
  EXPECT_EQ(error_of("native l1=32768"), "target:1:16: expected '/'");
  EXPECT_EQ(error_of("native colour=3"),
            "target:1:15: unknown field 'colour' of a target: one of extensions, cores, fma_per_cycle, "
            "fma_latency, l1, l2, l3, machine");
  EXPECT_EQ(error_of("x86-avx512 extensions=mmx"),
            "target:1:26: 'mmx' is no extension: none or some of avx_vnni,avx512_vnni,avx512_bf16");
  EXPECT_EQ(error_of("opencl cores=2"),
            "target:1:14: unknown field 'cores' of a target: one of compute_units, work_group_size, "
            "sub_group_width, local_bytes, global_bytes, cache_bytes, machine");
}

TEST(Target, ExtensionsAreWhatItsProgramsMayHave) {
  const Target wide =
      with_extensions(generic_target("x86-avx512"), {"avx512_bf16", "avx512_vnni", "avx_vnni"});
  EXPECT_EQ(wide.cpu().extensions, (std::vector<std::string>{"avx_vnni", "avx512_vnni", "avx512_bf16"}));
  EXPECT_EQ(parse_target(print(wide)).value(), wide);
  const Target plain = parse_target("x86-avx512 extensions=none").value();
  EXPECT_TRUE(plain.cpu().extensions.empty());
  EXPECT_EQ(parse_target(print(plain)).value(), plain);
  EXPECT_TRUE(parse_target("x86-avx512 extensions=avx512_vnni")->cpu().has("avx512_vnni"));
  const Target narrow = with_extensions(generic_target("x86-avx2"), {"avx512_vnni", "avx_vnni"});
  EXPECT_EQ(print(narrow).substr(0, 28), "x86-avx2 extensions=avx_vnni");
}

TEST(Target, RefusesExtensionsThatNoProgramOfItsNameHas) {
  EXPECT_EQ(error_of("x86-avx2 extensions=avx512_vnni"), "programs of x86-avx2 may not have avx512_vnni");
}

}  // namespace
}  // namespace lathe
