// Modules of OpenCL C on this machine's device, and the sentences where something is wrong with either.
#include "runtime/opencl/opencl_instance.h"

#include <gmock/gmock.h>

#include <array>

#include "target/gpu/opencl_library.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

bool has_device() {
  const OpenClLibrary* opencl = opencl_library();
  return opencl != nullptr && first_opencl_device(*opencl) != nullptr;
}

// A kernel that stores `places` numbers of A twice as large in C.
Module copying(int places) {
  Module module;
  module.form = "opencl";
  module.object =
      "__kernel void copy(__global const float* A, __global float* C) {"
      "  C[get_global_id(0)] = 2 * A[get_global_id(0)]; }";
  module.kernels = {{"copy", places, 1, {0, 1}, false}};
  module.buffers = {{"A", BufferRole::input, 16}, {"C", BufferRole::output, 16}};
  return module;
}

TEST(OpenClInstance, WithoutADeviceThereIsASentence) {
  if (has_device()) GTEST_SKIP() << "there is one";
  const auto instance = open_on_device(copying(4));
  ASSERT_FALSE(instance);
  EXPECT_EQ(instance.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(instance.error().message, "this machine has no OpenCL: no libOpenCL.so.1 with a device");
}

TEST(OpenClInstance, WritesRunsAndReads) {
  if (!has_device()) GTEST_SKIP() << "there is no OpenCL device";
  const auto instance = open_on_device(copying(4)).value();
  const std::array<float, 4> numbers = {1, 2, 3, 4};
  std::array<float, 4> got{};
  ASSERT_TRUE(instance->write(0, std::as_bytes(std::span(numbers))));
  const Result<double> seconds = instance->run();
  ASSERT_TRUE(seconds);
  EXPECT_GT(*seconds, 0);
  ASSERT_TRUE(instance->read(1, std::as_writable_bytes(std::span(got))));
  EXPECT_EQ(got, (std::array<float, 4>{2, 4, 6, 8}));
  EXPECT_TRUE(instance->check_slack());
}

TEST(OpenClInstance, AWriteBehindTheEndIsNamed) {
  if (!has_device()) GTEST_SKIP() << "there is no OpenCL device";
  const auto instance = open_on_device(copying(5)).value();
  ASSERT_TRUE(instance->run());
  const Status status = instance->check_slack();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "C was written behind its end");
}

TEST(OpenClInstance, WhatIsWrongWithAModuleIsASentence) {
  if (!has_device()) GTEST_SKIP() << "there is no OpenCL device";
  Module broken = copying(4);
  broken.object = "__kernel void copy( {";
  EXPECT_THAT(open_on_device(broken).error().message, StartsWith("OpenCL's compiler refuses the program"));
  Module unnamed = copying(4);
  unnamed.kernels[0].function = "move";
  EXPECT_THAT(open_on_device(unnamed).error().message,
              HasSubstr("clCreateKernel of OpenCL failed with status"));
  Module object = copying(4);
  object.form = kObjectForm;
  EXPECT_EQ(open_on_device(object).error().message, "no device runs modules of the form 'object'");
}

}  // namespace
}  // namespace lathe
