#include "target/target.h"

#include <gtest/gtest.h>

#include "target/detect.h"

namespace lathe {
namespace {

Target host_of(Isa isa) {
  Target host = generic_target(isa);
  host.machine = "Test \"CPU\"";
  host.cores = 7;
  host.l2 = {.bytes = 512 << 10, .ways = 8, .line_bytes = 64};
  return host;
}

std::string error_of(std::string_view text, Isa host = Isa::avx2) {
  const Result<Target> target = parse_target(text, host_of(host));
  return target.has_value() ? "no error" : target.error().to_string();
}

TEST(Target, GenericTargetsKnowTheirRegisters) {
  EXPECT_EQ(generic_target(Isa::avx2).vector_registers, 16);
  EXPECT_EQ(generic_target(Isa::avx2).lanes(4), 8);
  EXPECT_EQ(generic_target(Isa::avx512).vector_registers, 32);
  EXPECT_EQ(generic_target(Isa::avx512).lanes(4), 16);
}

TEST(Target, PrintsAndParses) {
  for (Isa isa : {Isa::avx2, Isa::avx512}) {
    Target target = host_of(isa);
    target.l3.bytes = int64_t{300} << 30;
    const Result<Target> again = parse_target(print(target), host_of(Isa::avx512));
    ASSERT_TRUE(again.has_value()) << again.error().to_string();
    EXPECT_EQ(*again, target) << print(target);
  }
  EXPECT_EQ(print(host_of(Isa::avx2)),
            "x86-avx2 extensions=none cores=7 fma_per_cycle=2 fma_latency=4 l1=32768/8/64 l2=524288/8/64 "
            "l3=33554432/16/64 "
            "machine=\"Test \\\"CPU\\\"\"");
}

TEST(Target, NativeIsTheHost) {
  const Result<Target> target = parse_target("native", host_of(Isa::avx512));
  ASSERT_TRUE(target.has_value());
  EXPECT_EQ(*target, host_of(Isa::avx512));
}

TEST(Target, Avx2CanBeChosenOnAnAvx512Machine) {
  const Result<Target> target = parse_target("x86-avx2", host_of(Isa::avx512));
  ASSERT_TRUE(target.has_value());
  EXPECT_EQ(target->vector_bytes, 32);
  EXPECT_EQ(target->cpu, "haswell");
  EXPECT_EQ(target->l2.bytes, 512 << 10) << "the caches stay those of the machine";
  EXPECT_EQ(target->cores, 7);
}

TEST(Target, RefusesWhatTheMachineCannotRun) {
  EXPECT_EQ(error_of("x86-avx512"),
            "this machine (Test \"CPU\") cannot run x86-avx512, it lacks AVX-512 F, VL, BW and DQ; it runs "
            "x86-avx2");
}

TEST(Target, NamesWhatIsWrongInTheText) {
  EXPECT_EQ(error_of("x86-sse"), "unknown target 'x86-sse': one of native, x86-avx2, x86-avx512");
  EXPECT_EQ(error_of(""), "target:1:1: expected a target: one of native, x86-avx2, x86-avx512");
  EXPECT_EQ(error_of("native cores=0"), "target:1:15: 0 is not in 1 .. 2147483647");
  EXPECT_EQ(error_of("native l1=32768"), "target:1:16: expected '/'");
  EXPECT_EQ(error_of("native colour=3"),
            "target:1:15: unknown field 'colour' of a target: one of extensions, cores, fma_per_cycle, "
            "fma_latency, "
            "l1, l2, l3, machine");
  EXPECT_EQ(error_of("native extensions=mmx"),
            "target:1:22: 'mmx' is no extension: none or some of avx_vnni,avx512_vnni,avx512_bf16");
}

TEST(Target, ExtensionsAreWhatItsProgramsMayHave) {
  const Target host = with_extensions(host_of(Isa::avx512), {"avx512_bf16", "avx512_vnni", "avx_vnni"});
  EXPECT_EQ(host.features, "-prefer-256-bit,+avxvnni,+avx512vnni,+avx512bf16");
  EXPECT_EQ(parse_target(print(host), host).value(), host);
  const Target plain = parse_target("x86-avx512 extensions=none", host).value();
  EXPECT_TRUE(plain.extensions.empty());
  EXPECT_EQ(plain.features, "-prefer-256-bit");
  EXPECT_EQ(parse_target(print(plain), host).value(), plain);
  EXPECT_TRUE(parse_target("native extensions=avx512_vnni", host).value().has("avx512_vnni"));
  const Target narrow = parse_target("x86-avx2", host).value();
  EXPECT_EQ(print(narrow).substr(0, 28), "x86-avx2 extensions=avx_vnni");
  EXPECT_EQ(narrow.features, "+avx2,+fma,+avxvnni");
}

TEST(Target, RefusesExtensionsThatTheMachineLacks) {
  EXPECT_EQ(error_of("native extensions=avx512_vnni", Isa::avx512),
            "this machine (Test \"CPU\") cannot run avx512_vnni");
}

TEST(Target, DetectsThisMachine) {
  const Target target = detect_target();
  EXPECT_TRUE(target.name == "x86-avx2" || target.name == "x86-avx512");
  EXPECT_NE(target.machine.find("family"), std::string::npos) << target.machine;
  EXPECT_EQ(target.cores, static_cast<int>(allowed_cpus().size()));
  EXPECT_GE(target.l1.bytes, 8 << 10);
  EXPECT_LT(target.l1.bytes, target.l2.bytes);
  EXPECT_EQ(detect_target(), target) << "detection is stable";
}

}  // namespace
}  // namespace lathe
