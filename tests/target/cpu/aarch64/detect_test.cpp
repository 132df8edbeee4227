// What is read of a 64-bit Arm processor, by the code that Lathe has there, under an emulator.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/emulation.h"
#include "base/read_file.h"
#include "base/shell.h"
#include "base/temporary_folder.h"
#include "folders.h"
#include "target/cpu/aarch64/aarch64.h"

namespace lathe {
namespace {

// One file of all that detection takes. The emulator's loops are run for what they compute, not for their
// speed.
constexpr const char* kProgram = R"(
#include "base/result.cpp"
#include "base/text_cursor.cpp"
#include "measure/aarch64/evict.cpp"
#include "runtime/pause.h"
#include "target/all.cpp"
#include "target/cpu/aarch64/aarch64.cpp"
#include "target/cpu/aarch64/detect.cpp"
#include "target/cpu/aarch64/peak_loops.cpp"
#include "target/cpu/cpu_target.cpp"
#include "target/cpu/x86/detect.cpp"
#include "target/cpu/x86/peak_loops.cpp"
#include "target/cpu/x86/x86.cpp"
#include "target/detect.cpp"
#include "target/gpu/opencl.cpp"
#include "target/gpu/opencl_library.cpp"
#include "target/target.cpp"

int main() {
  using namespace lathe;
  const Target native = detect_target().value();
  const float data[64] = {1, 1, 1, 1};
  evict_from_caches(data, sizeof data);
  pause_briefly();
  const PeakLoops& peaks = *row_of(native.name).peaks;
  fmt::print("{}\n{} {}\n{}\n", print(native), peaks.fma(1000) > 0, peaks.read(data, 64) == 0x3f800000,
             check_runs_here(generic_target("x86-avx2")).error().message);
}
)";

TEST(DetectAArch64, SaysWhichProcessorItIs) {
  const Emulation emulation = aarch64_emulation();
  if (const std::string missing = missing_of(emulation); !missing.empty()) GTEST_SKIP() << missing;
  const TemporaryFolder folder;
  const std::string base = folder.path().string() + "/";
  std::ofstream(base + "detect.cpp") << kProgram;
  std::filesystem::create_directory_symlink("/usr/include/fmt", base + "fmt");
  const std::string compile = fmt::format(
      "aarch64-linux-gnu-g++ -std=gnu++23 -O1 -w -static -DFMT_HEADER_ONLY -I{0} -I{1}/src -I{1}/include "
      "{0}detect.cpp "
      "-o {0}detect",
      base, LATHE_SOURCE_DIR);
  ASSERT_EQ(run_in_shell(compile), 0);
  ASSERT_EQ(run_in_shell(fmt::format("{0} {1}detect > {1}out", emulation.emulator, base)), 0);
  EXPECT_THAT(
      read_file(base + "out").value(),
      ::testing::MatchesRegex("aarch64-neon extensions=none cores=[0-9]+ fma_per_cycle=2 fma_latency=4 l1=.* "
                              "machine=\"AArch64 \\(implementer 0x[0-9a-f]+ part 0x[0-9a-f]+ variant [0-9]+ "
                              "revision [0-9]+\\)\"\ntrue true\n"
                              "this machine \\(AArch64 .*\\) cannot run x86-avx2, it lacks AVX2 and FMA; it "
                              "runs aarch64-neon\n"));
}

}  // namespace
}  // namespace lathe
