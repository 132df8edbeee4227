#include "target/gpu/opencl.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace lathe {
namespace {

TEST(OpenCl, ADeviceIsThereWithItsLimitsOrNoneIs) {
  const std::optional<Target> target = detect_opencl();
  if (dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL) == nullptr) {
    EXPECT_FALSE(target);
    return;
  }
  if (!target) GTEST_SKIP() << "there is no OpenCL device";
  EXPECT_FALSE(target->machine.empty());
  EXPECT_EQ(target->machine.find('\0'), std::string::npos);
  EXPECT_GE(target->gpu().work_group_size, 1);
  EXPECT_GE(target->gpu().local_bytes, 1);
  EXPECT_GE(target->gpu().global_bytes, target->gpu().local_bytes);
}

}  // namespace
}  // namespace lathe
