#include "measure/shared_inputs.h"

#include <gtest/gtest.h>

#include "measure/given_input.h"

namespace lathe {
namespace {

Module module_of(std::vector<ModuleBuffer> buffers) {
  Module module;
  module.buffers = std::move(buffers);
  return module;
}

class MeasureSharedInputs : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<SharedMemory> memory = SharedMemory::create();
    ASSERT_TRUE(memory.has_value());
    memory_ = std::move(*memory);
    ASSERT_TRUE(memory_.extend(1).has_value());  // the place of the worker's status
  }
  MeasureInput input(uint64_t id, uint64_t generation, size_t bytes) const {
    return given_input(id, generation, std::span(bytes_).first(bytes));
  }
  std::vector<int64_t> share(SharedInputs& shared, const Module& module,
                             const std::vector<MeasureInput>& inputs) {
    const Result<std::vector<int64_t>> offsets = shared.share(module, inputs);
    EXPECT_TRUE(offsets.has_value()) << offsets.error().to_string();
    return offsets.value_or(std::vector<int64_t>{});
  }

  SharedMemory memory_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(10000, std::byte{3});
};

TEST_F(MeasureSharedInputs, TheSameInputIsCopiedOnce) {
  SharedInputs shared(memory_, 1 << 20);
  const Module module = module_of({{"A", BufferRole::input, 5000}, {"W", BufferRole::constant, 100}});
  const auto first = share(shared, module, {input(1, 0, 5000), input(2, 0, 100)});
  EXPECT_EQ(shared.copies(), 2);
  EXPECT_EQ(share(shared, module, {input(1, 0, 5000), input(2, 0, 100)}), first);
  EXPECT_EQ(shared.copies(), 2);
  const auto changed = share(shared, module, {input(1, 1, 5000), input(2, 0, 100)});
  EXPECT_EQ(shared.copies(), 3);
  EXPECT_NE(changed[0], first[0]);
  EXPECT_EQ(changed[1], first[1]);
}

TEST_F(MeasureSharedInputs, TheOtherSideSeesTheBytesBetweenGuards) {
  SharedInputs shared(memory_, 1 << 20);
  const auto offsets = share(shared, module_of({{"A", BufferRole::input, 5000}}), {input(1, 0, 5000)});
  Result<MappedBuffer> view = MappedBuffer::map(memory_.file(), offsets[0], 5000, MappedBuffer::Access::read);
  ASSERT_TRUE(view.has_value());
  for (std::byte b : view->bytes()) ASSERT_EQ(b, std::byte{3});
  EXPECT_EQ(find_overwritten_slack(view->mapping(), view->layout()), std::nullopt);
}

TEST_F(MeasureSharedInputs, WithoutAnIdEachIsItsOwn) {
  SharedInputs shared(memory_, 1 << 20);
  const Module module = module_of({{"A", BufferRole::input, 5000}, {"W", BufferRole::constant, 5000}});
  const auto first = share(shared, module, {input(0, 0, 5000), input(0, 0, 5000)});
  EXPECT_EQ(shared.copies(), 2);
  EXPECT_NE(first[0], first[1]);
  share(shared, module, {input(0, 0, 5000), input(0, 0, 5000)});
  EXPECT_EQ(shared.copies(), 4);
}

TEST_F(MeasureSharedInputs, InputsUnusedForLongestAreDroppedFirst) {
  SharedInputs shared(memory_, 450);
  const Module module = module_of({{"A", BufferRole::input, 100}});
  for (uint64_t id : {1, 2, 3, 4, 1, 5}) share(shared, module, {input(id, 0, 100)});
  EXPECT_EQ(shared.copies(), 5);
  share(shared, module, {input(1, 0, 100)});
  EXPECT_EQ(shared.copies(), 5) << "1 was used after 2 and is still there";
  share(shared, module, {input(2, 0, 100)});
  EXPECT_EQ(shared.copies(), 6) << "2 had to go";
}

TEST_F(MeasureSharedInputs, ALargeCandidatesInputsAreKeptInThreeLayouts) {
  const Module module = module_of({{"A", BufferRole::input, 100}});
  for (const auto& [limit, copies] : {std::pair<int64_t, int64_t>{10, 3}, {0, 6}}) {
    SharedInputs shared(memory_, limit);
    for (uint64_t id : {1, 2, 3, 1, 2, 3}) share(shared, module, {input(id, 0, 100)});
    EXPECT_EQ(shared.copies(), copies) << limit;
  }
}

TEST_F(MeasureSharedInputs, WhatOneCandidateNeedsIsKeptWhateverTheLimit) {
  SharedInputs shared(memory_, 10);
  const Module module = module_of({{"A", BufferRole::input, 100}, {"B", BufferRole::input, 200}});
  share(shared, module, {input(1, 0, 100), input(2, 0, 200)});
  share(shared, module, {input(1, 0, 100), input(2, 0, 200)});
  EXPECT_EQ(shared.copies(), 2);
}

TEST_F(MeasureSharedInputs, OutputsKeepTheirPlaceWhileTheirSizeStays) {
  SharedInputs shared(memory_, 0);
  const Module module = module_of(
      {{"P", BufferRole::prepared, 50}, {"C", BufferRole::output, 100}, {"D", BufferRole::output, 200}});
  const auto first = share(shared, module, {{}, {}, {}});
  EXPECT_EQ(share(shared, module, {{}, {}, {}}), first);
  const auto outputs = shared.outputs(module);
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0].size(), 100u);
  EXPECT_EQ(outputs[1].size(), 200u);
  Module larger = module;
  larger.buffers[1].bytes = 300;
  const auto second = share(shared, larger, {{}, {}, {}});
  EXPECT_NE(second[1], first[1]);
  EXPECT_EQ(second[2], first[2]);
}

}  // namespace
}  // namespace lathe
