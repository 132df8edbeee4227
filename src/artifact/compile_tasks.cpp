#include "artifact/compile_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <numeric>
#include <shared_mutex>

#include "artifact/limit_weights.h"
#include "artifact/right_program.h"
#include "artifact/side_by_side.h"
#include "check/problem.h"
#include "measure/timing.h"
#include "target/detect.h"

namespace lathe {
namespace {

// More threads than that wait for memory, not for each other's results.
constexpr size_t kMostThreads = 8;

// Records are read by one thread: beside them there is no other.
size_t other_threads(const CompileModelOptions& options, size_t tasks) {
  if (options.records != nullptr) return 0;
  return std::min({allowed_cpus().size(), tasks, kMostThreads}) - 1;
}

// What all threads have in common, and what others have to say until the calling thread says it.
class Together {
 public:
  Together(const CompileModelOptions& options, size_t tasks) : options_(options), tasks_(tasks) {}

  // The options as the calling thread has them, and as another does.
  CompileModelOptions here() {
    CompileModelOptions own = options_;
    own.watch.stop = [this] { return is_stopped(); };
    return own;
  }
  CompileModelOptions elsewhere() {
    CompileModelOptions own = options_;
    own.watch.stop = [this] { return has_stopped_.load(); };
    own.watch.observer = {};
    own.rejected = [this](const std::string& sentence) {
      const std::scoped_lock lock(mutex_);
      rejected_.push_back(sentence);
    };
    return own;
  }

  void count_done() { ++done_; }
  // In the calling thread.
  void tell() {
    static_cast<void>(is_stopped());
    std::vector<std::string> sentences;
    {
      const std::scoped_lock lock(mutex_);
      sentences.swap(rejected_);
    }
    for (const std::string& sentence : sentences) options_.rejected(sentence);
    if (const size_t done = done_; done > told_) options_.progress(told_ = done, tasks_);
  }
  void tell_compiled(double since, size_t compiled) const {
    if (!options_.watch.observer || compiled == 0) return;
    const double seconds = monotonic_seconds() - since;
    options_.watch.observer({fmt::format("{} of {} programs are compiled", compiled, tasks_), seconds,
                             seconds * static_cast<double>(tasks_) / static_cast<double>(compiled)});
  }

 private:
  bool is_stopped() {
    if (options_.watch.stop && options_.watch.stop()) has_stopped_ = true;
    return has_stopped_;
  }

  const CompileModelOptions& options_;
  size_t tasks_;
  std::atomic<bool> has_stopped_ = false;
  std::atomic<size_t> done_ = 0;
  size_t told_ = 0;
  std::mutex mutex_;
  std::vector<std::string> rejected_;
};

// A task's program before it is compared.
struct Uncompared {
  std::optional<CompiledTask> program;
  std::vector<int64_t> wrong;  // records whose programs do not compile
};

Result<std::vector<Uncompared>> compile_first(const Network& network, const CompileModelOptions& options) {
  const std::vector<WeightedTask>& tasks = network.tasks.tasks;
  std::vector<Uncompared> first(tasks.size());
  Together together(options, tasks.size());
  std::atomic<size_t> compiled = 0;
  const double begin = monotonic_seconds();
  const auto work = [&](const CompileModelOptions& own, const NextNumber& next, bool tells) -> Status {
    while (const std::optional<size_t> number = next()) {
      Uncompared& each = first[*number];
      LATHE_TRY(each.program,
                first_program(tasks[*number].task, own, FreeLayouts::never, *number, each.wrong));
      ++compiled;
      if (tells) together.tell_compiled(begin, compiled);
    }
    return {};
  };
  LATHE_TRY_STATUS(side_by_side(
      tasks.size(), other_threads(options, tasks.size()),
      [&](const NextNumber& next) { return work(together.here(), next, true); },
      [&](const NextNumber& next) { return work(together.elsewhere(), next, false); },
      [&] { together.tell(); }));
  together.tell();
  return first;
}

// Tasks by the bytes of a comparison, most first: the time of one grows with them, and one that came last
// would run beside none.
std::vector<size_t> most_bytes_first(const std::vector<WeightedTask>& tasks) {
  std::vector<size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(),
                           [&](size_t number) { return Problem::bytes_to_compare(tasks[number].task); });
  return order;
}

// Compares programs, of which those that need much of the machine's memory do not run beside others.
class Comparer {
 public:
  Comparer(const Network& network, const CompileModelOptions& options, std::vector<Uncompared>& programs)
      : tasks_(network.tasks.tasks),
        order_(most_bytes_first(tasks_)),
        options_(options),
        programs_(programs),
        others_(options.another_runner ? other_threads(options, tasks_.size()) : 0),
        together_(options, tasks_.size()) {}

  Status compare_all() {
    const auto here = [&](const NextNumber& next) { return compare(together_.here(), next, true); };
    const auto elsewhere = [&](const NextNumber& next) -> Status {
      LATHE_TRY(const std::unique_ptr<CandidateRunner> runner, options_.another_runner());
      CompileModelOptions own = together_.elsewhere();
      own.runner = runner.get();
      return compare(own, next, false);
    };
    LATHE_TRY_STATUS(side_by_side(tasks_.size(), others_, here, elsewhere, [&] { together_.tell(); }));
    together_.tell();
    return {};
  }

 private:
  Status compare(const CompileModelOptions& own, const NextNumber& next, bool tells) {
    while (const std::optional<size_t> place = next()) {
      const size_t number = order_[*place];
      const Task& task = tasks_[number].task;
      Uncompared& each = programs_[number];
      const Room room(*this, task);
      LATHE_TRY(each.program, right_program(task, std::move(*each.program), own, FreeLayouts::never, number,
                                            std::move(each.wrong)));
      together_.count_done();
      if (tells) together_.tell();
    }
    return {};
  }

  // The memory that one comparison may take: its share of what is free, or all of it.
  class Room {
   public:
    Room(Comparer& comparer, const Task& task) {
      const auto free = static_cast<double>(free_memory_bytes());
      const auto share = free / static_cast<double>(2 * (comparer.others_ + 1));
      if (Problem::bytes_to_compare(task) > share) {
        all_ = std::unique_lock(comparer.memory_);
      } else {
        some_ = std::shared_lock(comparer.memory_);
      }
    }

   private:
    std::unique_lock<std::shared_mutex> all_;
    std::shared_lock<std::shared_mutex> some_;
  };

  const std::vector<WeightedTask>& tasks_;
  const std::vector<size_t> order_;
  const CompileModelOptions& options_;
  std::vector<Uncompared>& programs_;
  size_t others_;
  Together together_;
  std::shared_mutex memory_;
};

}  // namespace

Result<std::vector<CompiledTask>> compile_tasks(const Network& network, const CompileModelOptions& options) {
  LATHE_TRY(std::vector<Uncompared> programs, compile_first(network, options));
  std::vector<CompiledTask> compiled;
  for (Uncompared& each : programs) compiled.push_back(std::move(*each.program));
  LATHE_TRY_STATUS(limit_weights(network, options, compiled));
  for (size_t i = 0; i < compiled.size(); ++i) programs[i].program = std::move(compiled[i]);
  LATHE_TRY_STATUS(Comparer(network, options, programs).compare_all());
  for (size_t i = 0; i < compiled.size(); ++i) compiled[i] = std::move(*programs[i].program);
  return compiled;
}

}  // namespace lathe
