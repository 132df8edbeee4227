#include "runtime/launch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "runtime/c_object.h"
#include "runtime/thread_pool.h"

namespace lathe {
namespace {

float& element(Instance& instance, size_t buffer, size_t index) {
  return reinterpret_cast<float*>(instance.buffer(buffer).data())[index];
}

// A: constant, B: output, P: prepared from A.
Module prepared_module() {
  Module module =
      unary_module("for (int i = 0; i < 8; ++i) B[i] = ((float*)buffers[2])[i] + 1;", 8,
                   "int prepare(void* const* buffers, const int64_t* sizes, void* workspace,\n"
                   "            const LatheParallel* pool) {\n"
                   "  for (int i = 0; i < 8; ++i) ((float*)buffers[2])[i] = 2 * ((float*)buffers[0])[i];\n"
                   "  return 0;\n}\n");
  module.prepare_symbol = "prepare";
  module.buffers[0].role = BufferRole::constant;
  module.buffers.push_back({"P", BufferRole::prepared, 32});
  return module;
}

TEST(Launch, PreparesOnceAndRuns) {
  Result<Instance> instance = Instance::create(prepared_module());
  ASSERT_TRUE(instance.has_value()) << instance.error().to_string();
  for (size_t i = 0; i < 8; ++i) element(*instance, 0, i) = static_cast<float>(i);
  EXPECT_TRUE(std::isnan(element(*instance, 1, 0)));
  ASSERT_TRUE(instance->prepare().has_value());
  ASSERT_TRUE(instance->run().has_value());
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(element(*instance, 1, i), 2.0f * static_cast<float>(i) + 1.0f);
  EXPECT_TRUE(instance->check_slack().has_value());
}

TEST(Launch, GivesNoMoreThreadsThanTheWorkspaceHasRoomFor) {
  ThreadPool pool({.threads = 3});
  Module module = unary_module("B[0] = pool ? pool->threads : 0;", 1);
  for (int threads : {1, 2, 3, 8}) {
    module.threads = threads;
    Result<Instance> instance = Instance::create(module);
    ASSERT_TRUE(instance.has_value());
    ASSERT_TRUE(instance->run(pool.parallel()).has_value());
    EXPECT_EQ(element(*instance, 1, 0), threads == 1 ? 0.0f : static_cast<float>(std::min(threads, 3)));
  }
}

TEST(Launch, NamesAKernelThatFails) {
  Result<Instance> instance = Instance::create(unary_module("return 7;", 1));
  ASSERT_TRUE(instance.has_value());
  const Status status = instance->run();
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().kind, ErrorKind::invalid_program);
  EXPECT_EQ(status.error().message, "the kernel ended with status 7 in place of 0");
}

TEST(Launch, NamesTheBufferThatWasOverrun) {
  Result<Instance> instance = Instance::create(unary_module("B[3] = 0;", 3));
  ASSERT_TRUE(instance.has_value());
  ASSERT_TRUE(instance->run().has_value());
  const Status status = instance->check_slack();
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().kind, ErrorKind::wrong_result);
  EXPECT_EQ(status.error().message,
            "the kernel wrote outside its buffers, 1 byte past the end of buffer 'B'");
}

TEST(Launch, NamesTheWorkspaceThatWasOverrun) {
  Module module = unary_module("((char*)workspace)[11] = 0;", 1);
  module.workspace_bytes = 10;
  Result<Instance> instance = Instance::create(module);
  ASSERT_TRUE(instance.has_value());
  ASSERT_TRUE(instance->run().has_value());
  ASSERT_FALSE(instance->check_slack().has_value());
  EXPECT_EQ(instance->check_slack().error().message,
            "the kernel wrote outside its buffers, 2 bytes past the end of the workspace");
}

}  // namespace
}  // namespace lathe
