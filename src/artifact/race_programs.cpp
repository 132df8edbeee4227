#include "artifact/race_programs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>

#include "artifact/runtime/copy_layout.h"
#include "artifact/write/tensor_table.h"
#include "base/check.h"
#include "base/rng.h"
#include "measure/evict_buffers.h"
#include "measure/pinned_thread.h"
#include "measure/statistics.h"
#include "measure/timing.h"
#include "runtime/launch.h"
#include "runtime/thread_pool.h"
#include "target/detect.h"

namespace lathe {
namespace {

constexpr double kSampleSeconds = 1e-3;
constexpr double kSecondsOfRace = 0.3;  // in one place
constexpr int kFewestTurns = 3;
constexpr int kMostTurns = 30;
constexpr double kLongTurn = 1;
// A program that takes so long is as fast the first time.
constexpr double kLongRun = 0.1;

// An argument in another layout than the caller's, and the caller's side of it.
struct Converted {
  size_t index = 0;  // among the buffers
  bool is_output = false;
  TensorTable table;
  std::vector<std::byte> outside;
};

// A program with what an artifact's runtime does around it. Constants are as in the run before.
class Racer {
 public:
  static Result<Racer> create(const CompiledTask& program, PagePlace place, const LatheParallel* pool) {
    LATHE_TRY(Instance instance, Instance::create(program.module, place));
    Racer racer(std::move(instance), program, pool);
    LATHE_TRY_STATUS(racer.instance_.prepare(racer.pool()));
    racer.instance_.open_guards();
    return racer;
  }

  Status run() {
    for (Converted& input : converted_) {
      if (input.is_output) continue;
      copy_inside(input.table.tensor(), *instructions_, input.outside.data(),
                  instance_.buffer(input.index).data(), pool_);
    }
    LATHE_TRY_STATUS(instance_.run(pool()));
    for (Converted& output : converted_) {
      if (!output.is_output) continue;
      copy_outside(output.table.tensor(), *instructions_, instance_.buffer(output.index).data(),
                   output.outside.data(), pool_);
    }
    return {};
  }

  // Seconds of one of so many runs, without what takes its buffers out of the caches.
  Result<double> time(int runs) {
    if (runs_cold_) return time_cold(runs);
    const double begin = monotonic_seconds();
    for (int i = 0; i < runs; ++i) LATHE_TRY_STATUS(run());
    return (monotonic_seconds() - begin) / runs;
  }

  // What that took for one of the last runs.
  double seconds_aside() const { return seconds_aside_; }

 private:
  Racer(Instance instance, const CompiledTask& program, const LatheParallel* pool)
      : instance_(std::move(instance)),
        module_(&program.module),
        runs_cold_(program.task.runs_cold),
        pool_(pool),
        instructions_(find_instructions(program.task.target.name.c_str())) {
    LATHE_CHECK(instructions_ != nullptr);
    for (size_t i = 0; i < program.program.arguments.size(); ++i) {
      const Argument& argument = program.program.arguments[i];
      const std::vector<int64_t>& shape = argument.tensor->shape;
      if (!argument.is_output) fill(instance_.buffer(i), argument.tensor->dtype);
      if (argument.is_constant || is_row_major(argument.layout, shape)) continue;
      const int64_t bytes = bytes_of(argument.tensor->dtype);
      int64_t row_major_bytes = bytes;
      for (const int64_t extent : shape) row_major_bytes *= extent;
      converted_.push_back({i, argument.is_output, TensorTable(argument.layout, shape, bytes),
                            std::vector<std::byte>(static_cast<size_t>(row_major_bytes))});
      fill(converted_.back().outside, argument.tensor->dtype);
    }
  }

  // Buffers leave the caches before each run.
  Result<double> time_cold(int runs) {
    double seconds = 0;
    const double start = monotonic_seconds();
    for (int i = 0; i < runs; ++i) {
      evict_cold_buffers(*module_, [this](size_t index) { return instance_.buffer(index).data(); });
      if (const LatheParallel* awake = pool()) wake_all(*awake);
      const double begin = monotonic_seconds();
      LATHE_TRY_STATUS(run());
      seconds += monotonic_seconds() - begin;
    }
    seconds_aside_ = (monotonic_seconds() - start - seconds) / runs;
    return seconds / runs;
  }

  // Of other types 0, which leads no index outside. It is written: pages that nobody wrote to are all one
  // page of zeros, which a Zen 4 reads at half the speed (docs/notes/code_places.md).
  static void fill(std::span<std::byte> bytes, DType dtype) {
    std::memset(bytes.data(), 0, bytes.size());
    if (dtype != DType::f32) return;
    Rng rng(1);
    for (size_t at = 0; at + sizeof(float) <= bytes.size(); at += sizeof(float)) {
      const auto value = static_cast<float>(2 * rng.uniform() - 1);
      std::memcpy(&bytes[at], &value, sizeof value);
    }
  }

  const LatheParallel* pool() { return limit_pool(*module_, pool_, limited_); }

  Instance instance_;
  const Module* module_;
  bool runs_cold_;
  double seconds_aside_ = 0;
  const LatheParallel* pool_;
  LatheParallel limited_ = {};
  const Instructions* instructions_;
  std::vector<Converted> converted_;
};

int turns_within(double turn, const Deadline& deadline) {
  const int fewest = turn > kLongTurn ? 1 : kFewestTurns;
  const double most = std::clamp(kSecondsOfRace / turn, double(fewest), double{kMostTurns});
  return static_cast<int>(std::clamp(deadline.seconds_left() / turn, 0.0, most));
}

// What a run takes, roughly; the first prepares constants and meets every page anew.
Result<double> time_first(Racer& racer) {
  LATHE_TRY(const double first, racer.time(1));
  if (first > kLongRun) return first;
  return racer.time(1);
}

// The seconds of each with its buffers at one place of their pages; none where there is no time for that.
Result<std::optional<std::vector<double>>> race_in(PagePlace place, std::span<const CompiledTask> programs,
                                                   const LatheParallel* pool, const Deadline& deadline) {
  std::vector<Racer> racers;
  std::vector<int> runs;
  std::vector<double> seconds;
  double turn = 0;
  for (const CompiledTask& program : programs) {
    const double last = seconds.empty() ? 0 : seconds.back();
    if (deadline.seconds_left() <= last) return std::nullopt;
    LATHE_TRY(Racer racer, Racer::create(program, place, pool));
    LATHE_TRY(const double estimate, time_first(racer));
    runs.push_back(std::clamp(static_cast<int>(std::ceil(kSampleSeconds / estimate)), 1, 100000));
    turn += runs.back() * (estimate + racer.seconds_aside());
    seconds.push_back(estimate);
    racers.push_back(std::move(racer));
  }
  const int turns = turns_within(turn, deadline);
  if (turns == 0) return seconds;
  std::vector<std::vector<double>> samples(programs.size());
  for (int i = 0; i < turns; ++i) {
    for (size_t k = 0; k < racers.size(); ++k) {
      LATHE_TRY(const double taken, racers[k].time(runs[k]));
      samples[k].push_back(taken);
    }
  }
  for (size_t k = 0; k < samples.size(); ++k) seconds[k] = robust_centre(samples[k]);
  return seconds;
}

}  // namespace

Result<std::optional<std::vector<double>>> race_programs(std::span<const CompiledTask> programs,
                                                         const Deadline& deadline) {
  std::optional<ThreadPool> pool;
  int threads = 1;
  for (const CompiledTask& program : programs) threads = std::max(threads, cores_of(program.task.target));
  if (threads > 1) {
    ThreadPool::Options options;
    options.threads = threads;
    pool.emplace(options);
  }
  const PinnedThread pinned(allowed_cpus().front());
  const LatheParallel* const parallel = pool ? pool->parallel() : nullptr;
  LATHE_TRY(auto seconds, race_in(PagePlace::end, programs, parallel, deadline));
  // Of programs that take so long, or wait for memory, neither place shows.
  const bool runs_cold = std::ranges::any_of(programs, [](const auto& each) { return each.task.runs_cold; });
  if (!seconds || runs_cold || std::ranges::max(*seconds, {}) > kLongRun) return seconds;
  LATHE_TRY(const auto others, race_in(PagePlace::begin, programs, parallel, deadline));
  if (!others) return seconds;
  for (size_t k = 0; k < seconds->size(); ++k) (*seconds)[k] = ((*seconds)[k] + (*others)[k]) / 2;
  return seconds;
}

}  // namespace lathe
