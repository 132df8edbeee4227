#include "artifact/side_by_side.h"

#include <atomic>
#include <chrono>
#include <future>
#include <vector>

namespace lathe {

Status side_by_side(size_t count, size_t others, const ThreadWork& here, const ThreadWork& elsewhere,
                    const std::function<void()>& waiting) {
  constexpr std::chrono::milliseconds kBetweenCalls(100);
  std::atomic<size_t> taken = 0;
  std::atomic<bool> has_failed = false;
  const NextNumber next = [&]() -> std::optional<size_t> {
    if (has_failed) return std::nullopt;
    const size_t number = taken++;
    return number < count ? std::optional(number) : std::nullopt;
  };
  const auto run = [&](const ThreadWork& work) {
    Status done = work(next);
    if (!done) has_failed = true;
    return done;
  };
  std::vector<std::future<Status>> threads;
  for (size_t i = 0; i < others; ++i)
    threads.push_back(std::async(std::launch::async, [&] { return run(elsewhere); }));
  Status all = run(here);
  for (std::future<Status>& thread : threads) {
    while (thread.wait_for(kBetweenCalls) != std::future_status::ready) waiting();
    Status done = thread.get();
    if (all && !done) all = std::move(done);
  }
  return all;
}

}  // namespace lathe
