#include "artifact/runtime/model_runtime.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "artifact/runtime/run_watch.h"

namespace lathe {
namespace {

constexpr int kMostCalls = 1 << 16;
constexpr size_t kMostOptionBytes = 4096;  // of any version; more is no size
// Of a caller that others may not have seen: then it looks again.
constexpr timespec kUnseenWait = {0, 1'000'000};

// Null where this processor lacks those of the model, or what its kernels have beside.
const Instructions* instructions_here(const LatheModelTables& tables) {
  const Instructions* const known = find_instructions(tables.target);
  const bool runs = known != nullptr && known->run_here();
  const char* const lacks = known == nullptr ? tables.target
                            : runs           ? known->lacking(tables.extensions)
                                             : known->needs;
  if (lacks == nullptr) return known;
  model_error("the model was compiled for processors with %s, which this one lacks", lacks);
  return nullptr;
}

// What the caller's options say, whose version knew fewer of them or more.
bool read_options(const lathe_open_options* given, lathe_open_options& options) {
  if (given == nullptr) return true;
  const char* const bytes = reinterpret_cast<const char*>(given);
  if (given->size < sizeof given->size || given->size > kMostOptionBytes ||
      std::any_of(bytes + sizeof options, bytes + std::max(given->size, sizeof options),
                  [](char byte) { return byte != 0; })) {
    return model_error("the options have the size %zu, and this library knows those of %zu bytes",
                       given->size, sizeof options);
  }
  std::memcpy(&options, given, std::min(given->size, sizeof options));
  if (options.cores < 0)
    return model_error("the number of cores is %d, it must be at least 0", options.cores);
  if (options.calls < 0 || options.calls > kMostCalls)
    return model_error("the number of calls is %d, it must be from 0 to %d", options.calls, kMostCalls);
  return true;
}

bool make_stagings(ModelArray<TensorStaging>& stagings, const LatheTensor* tensors, int32_t count,
                   const Instructions& instructions) {
  if (!stagings.create(count)) return false;
  for (int32_t i = 0; i < count; ++i) stagings[i] = TensorStaging(tensors[i], instructions);
  return true;
}

}  // namespace

bool RunningModel::open(const LatheModelTables& tables, const char* folder, const lathe_open_options* given) {
  lathe_open_options options = {};
  const Instructions* const instructions = instructions_here(tables);
  if (instructions == nullptr || !read_options(given, options)) return false;
  if (!weights_.map(tables, folder)) return false;
  shared_.weights = &weights_;
  threads_ = options.cores == 0 ? tables.threads : std::min(options.cores, tables.threads);
  start_pool();
  const int64_t cpus = std::clamp<int64_t>(sysconf(_SC_NPROCESSORS_ONLN), 1, kMostCalls);
  return make(tables, *instructions, options.calls == 0 ? cpus : options.calls);
}

bool RunningModel::open_plan(const LatheModelTables& tables, RunningModel& first) {
  first_ = &first;
  shared_.weights = first.shared_.weights;
  shared_.pool = first.shared_.pool;
  return make(tables, *find_instructions(tables.target), first.calls());
}

bool RunningModel::make(const LatheModelTables& tables, const Instructions& instructions, int64_t calls) {
  shared_.tables = &tables;
  has_process_fence_ = register_process_fence();
  generation_ = fork_generation();
  return make_stagings(shared_.inputs, tables.inputs, tables.input_count, instructions) &&
         make_stagings(shared_.outputs, tables.outputs, tables.output_count, instructions) &&
         contexts_.create(calls) && constants_.create(tables, shared_.inputs, contexts_) && add_context();
}

RunningModel::~RunningModel() {
  for (const std::atomic<CallContext*>& slot : contexts_) {
    CallContext* const context = slot;
    if (context == nullptr) continue;
    context->~CallContext();
    std::free(context);
  }
  if (pool_ != nullptr) pool_->~ThreadPool();
}

void RunningModel::start_pool() {
  if (threads_ <= 1) return;
  ThreadPool::Options options;
  options.threads = threads_;
  pool_ = new (pool_memory_) ThreadPool(options);
  shared_.pool = pool_->parallel();
}

bool RunningModel::add_context() {
  void* memory = nullptr;
  if (posix_memalign(&memory, alignof(CallContext), sizeof(CallContext)) != 0)
    return model_error("there is no memory left");
  auto* const context = new (memory) CallContext;
  if (!context->create(shared_)) {
    context->~CallContext();
    std::free(context);
    return false;
  }
  const int64_t made = made_.load(std::memory_order_relaxed);
  contexts_[made].store(context, std::memory_order_release);
  made_.store(made + 1, std::memory_order_release);
  return true;
}

// In a forked child: the parent's threads, those of its pool and those that were in a call, are not there.
void RunningModel::adopt() {
  const LockGuard guard(lock_);
  if (generation_ == fork_generation()) return;
  constants_.drop_unfinished();
  waiting_ = 0;
  if (first_ == nullptr) {
    // Gone before it is destroyed: a fork may come between, and that child destroys none a second time.
    if (ThreadPool* const old = std::exchange(pool_, nullptr)) old->~ThreadPool();
    start_pool();
  } else if (first_->generation_ != fork_generation()) {
    first_->adopt();
  }
  has_process_fence_ = register_process_fence();
  generation_.store(fork_generation(), std::memory_order_release);
}

template <class Watch>
bool RunningModel::run_watched(const void* const* inputs, void* const* outputs, Watch& watch) {
  if (outputs == nullptr || (inputs == nullptr && shared_.inputs.size() > 0))
    return model_error("the list of inputs or outputs is null");
  if (generation_.load(std::memory_order_acquire) != fork_generation()) adopt();
  CallContext* const call = take_context();
  const ThreadPool::Caller caller(pool());
  const bool done = watch.inputs([&] { return call->place(inputs, outputs); }) &&
                    watch.constants([&] { return constants_.provide(*call, inputs); }) &&
                    call->run(outputs, watch);
  give_back(*call);
  return done;
}

bool RunningModel::run(const void* const* inputs, void* const* outputs) {
  NoWatch nobody;
  return run_watched(inputs, outputs, nobody);
}

bool RunningModel::run_timed(const void* const* inputs, void* const* outputs, lathe_run_times* times) {
  if (times == nullptr || times->size != sizeof *times)
    return model_error("the times of a run have another size than the %zu bytes of this library",
                       sizeof *times);
  const int launches = shared_.tables->launch_count;
  if (times->launch_count != launches || (launches > 0 && times->launches == nullptr))
    return model_error("a run has %d launches, and there is room for the times of %d", launches,
                       times->launches == nullptr ? 0 : times->launch_count);
  if (times->part_room < 0 || (times->part_room > 0 && times->parts == nullptr))
    return model_error("the list of parts is null, or has a length below 0");
  Stopwatch stopwatch(*times, shared_.tables->launches);
  return run_watched(inputs, outputs, stopwatch);
}

CallContext* RunningModel::take_context() {
  if (CallContext* const context = free_context()) return context;
  return wait_for_context();
}

// The first one that nobody uses: a caller alone finds the same one, warm, each time.
CallContext* RunningModel::free_context() {
  const uint32_t mine = fork_generation();
  const int64_t made = made_.load(std::memory_order_acquire);
  for (int64_t i = 0; i < made; ++i) {
    CallContext* const context = contexts_[i].load(std::memory_order_relaxed);
    uint32_t user = context->user.load(std::memory_order_relaxed);
    // What a thread of the parent used at a fork is free in the child.
    if (user != mine && context->user.compare_exchange_strong(user, mine)) return context;
  }
  return nullptr;
}

// Where there is no memory for another one, those that there are must do, of which there is one at least.
CallContext* RunningModel::wait_for_context() {
  while (true) {
    {
      const LockGuard guard(lock_);
      if (CallContext* const context = free_context()) return context;
      if (made_.load(std::memory_order_relaxed) < contexts_.size() && add_context()) continue;
    }
    const uint32_t given_back = given_back_.load();
    waiting_.fetch_add(1);
    const bool is_seen = !has_process_fence_ || process_fence();
    CallContext* const context = free_context();
    if (context == nullptr) futex_wait(given_back_, given_back, is_seen ? nullptr : &kUnseenWait);
    waiting_.fetch_sub(1);
    if (context != nullptr) return context;
  }
}

// Both sides change one word and then look at the other's: the caller that waits sees the context, or this
// one sees the caller. Who waits pays for the fence between, before it looks for the last time, where the
// kernel lets it: an exchange here takes a tiny model's call a fifth of its time.
void RunningModel::give_back(CallContext& context) {
  if (has_process_fence_) {
    context.user.store(0, std::memory_order_release);
    fence_by_others();
  } else {
    context.user.exchange(0);
  }
  if (waiting_.load() == 0) return;
  given_back_.fetch_add(1);
  futex_wake(given_back_, 1);
}

}  // namespace lathe
