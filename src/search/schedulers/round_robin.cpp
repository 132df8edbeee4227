#include "search/schedulers/round_robin.h"

#include "base/check.h"

namespace lathe {
namespace {

class RoundRobin : public TaskScheduler {
 public:
  explicit RoundRobin(size_t tasks) : used_up_(tasks, false) {}

  std::optional<int> next() override {
    for (size_t i = 0; i < used_up_.size(); ++i) {
      const size_t task = (next_ + i) % used_up_.size();
      if (used_up_[task]) continue;
      next_ = task + 1;
      return static_cast<int>(task);
    }
    return std::nullopt;
  }

  void observe(int task, double, bool used_up) override {
    LATHE_CHECK(task >= 0 && task < std::ssize(used_up_));
    if (used_up) used_up_[task] = true;
  }

 private:
  std::vector<bool> used_up_;
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<TaskScheduler> make_round_robin(const std::vector<ScheduledTask>& tasks, uint64_t) {
  return std::make_unique<RoundRobin>(tasks.size());
}

}  // namespace lathe
