// Numbers are handed out to threads, each once.
#include "artifact/side_by_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

namespace lathe {
namespace {

using ::testing::HasSubstr;

TEST(ThreadsSideBySide, EachNumberIsTakenOnce) {
  constexpr size_t kCount = 1000;
  std::vector<int> taken(kCount);
  const ThreadWork take = [&](const NextNumber& next) -> Status {
    while (const auto number = next()) ++taken[*number];
    return {};
  };
  ASSERT_TRUE(side_by_side(kCount, 3, take, take, [] {}));
  EXPECT_EQ(taken, std::vector<int>(kCount, 1));
}

TEST(ThreadsSideBySide, WithoutOtherThreadsTheCallingOneDoesAll) {
  std::vector<size_t> order;
  const ThreadWork here = [&](const NextNumber& next) -> Status {
    while (const auto number = next()) order.push_back(*number);
    return {};
  };
  const ThreadWork never = [](const NextNumber&) { return fail(ErrorKind::unsupported, "another thread"); };
  ASSERT_TRUE(side_by_side(5, 0, here, never, [] {}));
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(side_by_side(0, 0, here, never, [] {}));
}

TEST(ThreadsSideBySide, OnceOneFailsNothingIsBegun) {
  std::atomic<size_t> begun = 0;
  const ThreadWork here = [&](const NextNumber& next) -> Status {
    if (!next()) return {};
    ++begun;
    return fail(ErrorKind::unsupported, "the first is wrong");
  };
  const ThreadWork elsewhere = [&](const NextNumber& next) -> Status {
    while (begun == 0) std::this_thread::yield();
    // The calling thread may not have come back yet.
    for (int tried = 0; tried < 1000 && next(); ++tried)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return next() ? fail(ErrorKind::unsupported, "numbers go on") : Status();
  };
  const Status done = side_by_side(100000, 2, here, elsewhere, [] {});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("the first is wrong"));
}

TEST(ThreadsSideBySide, TheCallingThreadIsCalledWhileItWaits) {
  std::atomic<bool> was_called = false;
  const auto calling = std::this_thread::get_id();
  const ThreadWork here = [](const NextNumber&) -> Status { return {}; };
  const ThreadWork elsewhere = [&](const NextNumber&) -> Status {
    while (!was_called) std::this_thread::yield();
    return {};
  };
  ASSERT_TRUE(side_by_side(1, 1, here, elsewhere, [&] {
    EXPECT_EQ(std::this_thread::get_id(), calling);
    was_called = true;
  }));
  EXPECT_TRUE(was_called);
}

}  // namespace
}  // namespace lathe
