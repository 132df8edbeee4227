#include "measure/candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

#include "base/code_pages.h"
#include "measure/evict.h"
#include "runtime/launch.h"
#include "runtime/thread_pool.h"

namespace lathe {
namespace {

// Mappings beyond these are dropped, the longest unused first: more than one candidate's buffers in any case.
constexpr size_t kSharedMappingsKept = 256;

// A kernel that runs longer is as fast in its first run as in any other: cold caches and pages cost under a
// millisecond.
constexpr double kLongRunSeconds = 10e-3;

// Sleeping threads are up within a tenth of a millisecond, or the machine is too busy to wait for.
constexpr std::chrono::microseconds kPatience{2000};

// Of a larger buffer a run leaves hardly anything that the next one finds in a cache.
constexpr int64_t kSelfDisplacingBytes = 256 << 20;

// The linker's code, some tens of megabytes, does not stay beside a candidate that takes so much: to map it
// again takes milliseconds, which is little beside filling that.
constexpr int64_t kMuchMemory = 64 << 20;

int64_t own_bytes(const Module& module) {
  int64_t bytes = module.workspace_bytes;
  for (const ModuleBuffer& buffer : module.buffers)
    if (buffer.role == BufferRole::prepared) bytes += buffer.bytes;
  return bytes;
}

void make_fresh(const WatchedBuffer& buffer) {
  std::byte* mapping = const_cast<std::byte*>(buffer.mapping);
  fill_slack(mapping, buffer.layout);
  std::memset(mapping + buffer.layout.data_offset, 0xff, static_cast<size_t>(buffer.layout.bytes));
}

void* data_of(const WatchedBuffer& buffer) {
  return const_cast<std::byte*>(buffer.mapping + buffer.layout.data_offset);
}

Result<WatchedBuffer> own(int64_t bytes, CandidateMemory::Views& views) {
  LATHE_TRY(GuardedBuffer buffer, GuardedBuffer::allocate(bytes));
  const WatchedBuffer watched{.mapping = buffer.data() - buffer.layout().data_offset,
                              .layout = buffer.layout()};
  views.own.push_back(std::move(buffer));
  return watched;
}

}  // namespace

Result<WatchedBuffer> CandidateMemory::shared(int64_t offset, int64_t bytes, MappedBuffer::Access access) {
  const auto known = std::find_if(shared_.begin(), shared_.end(), [&](const Shared& entry) {
    return entry.offset == offset && entry.access == access && entry.memory.layout().bytes == bytes;
  });
  if (known != shared_.end()) {
    shared_.splice(shared_.begin(), shared_, known);
  } else {
    LATHE_TRY(MappedBuffer memory, MappedBuffer::map(file_, offset, bytes, access));
    shared_.push_front({offset, access, std::move(memory)});
  }
  const MappedBuffer& memory = shared_.front().memory;
  return WatchedBuffer{.mapping = memory.mapping(), .layout = memory.layout()};
}

Result<CandidateMemory::Views> CandidateMemory::arrange(const TrialRequest& request) {
  const std::vector<ModuleBuffer>& buffers = request.module.buffers;
  const size_t kept = std::max(kSharedMappingsKept, buffers.size());
  while (shared_.size() > kept) shared_.pop_back();
  Views views;
  const auto add = [&](WatchedBuffer buffer, int32_t index, bool is_writable) {
    buffer.index = index;
    views.watched.push_back(buffer);
    if (is_writable) views.writable.push_back(buffer);
    return data_of(buffer);
  };
  LATHE_TRY(WatchedBuffer workspace, own(request.module.workspace_bytes, views));
  views.workspace = add(workspace, kWorkspaceIndex, true);
  for (size_t i = 0; i < buffers.size(); ++i) {
    const bool is_prepared = buffers[i].role == BufferRole::prepared;
    const bool is_writable = is_prepared || buffers[i].role == BufferRole::output;
    const auto access = is_writable ? MappedBuffer::Access::read_write : MappedBuffer::Access::read;
    LATHE_TRY(WatchedBuffer buffer, is_prepared ? own(buffers[i].bytes, views)
                                                : shared(request.offsets[i], buffers[i].bytes, access));
    views.pointers.push_back(add(buffer, static_cast<int32_t>(i), is_writable));
  }
  for (const WatchedBuffer& buffer : views.writable) make_fresh(buffer);
  return views;
}

Result<Candidate> Candidate::create(const TrialRequest& request, CandidateMemory& memory,
                                    const LatheParallel* pool, WorkerStatus& status) {
  status.stage = TrialStage::loading;
  Candidate candidate;
  candidate.module_ = request.module;
  candidate.pool_ = pool;
  candidate.status_ = &status;
  LATHE_TRY(candidate.code_, load_object(request.module));
  if (own_bytes(request.module) >= kMuchMemory) release_code_pages();
  LATHE_TRY(candidate.views_, memory.arrange(request));
  watch_buffers(candidate.views_.watched);
  if (candidate.code_.prepare() != nullptr) {
    status.stage = TrialStage::preparing;
    LatheParallel limited;
    LATHE_TRY_STATUS(launch(candidate.code_.prepare(), candidate.views_.pointers, candidate.views_.workspace,
                            limit_pool(candidate.module_, pool, limited)));
    LATHE_TRY_STATUS(candidate.check_slack());
  }
  return candidate;
}

Status Candidate::run() const {
  LatheParallel limited;
  return launch(code_.kernel(), views_.pointers, views_.workspace, limit_pool(module_, pool_, limited));
}

Result<double> Candidate::first_run() {
  status_->stage = TrialStage::first_run;
  // What is checked is what all threads do together.
  LatheParallel limited;
  if (const LatheParallel* pool = limit_pool(module_, pool_, limited)) wake_all(*pool, kPatience);
  const double start = monotonic_seconds();
  LATHE_TRY_STATUS(run());
  first_run_seconds_ = monotonic_seconds() - start;
  LATHE_TRY_STATUS(check_slack());
  return first_run_seconds_;
}

Result<Samples> Candidate::time(const TimingRequest& request) {
  status_->stage = TrialStage::timing;
  LatheParallel limited;
  const LatheParallel* pool = limit_pool(module_, pool_, limited);
  const auto work = [&] { code_.kernel()(views_.pointers.data(), nullptr, views_.workspace, pool); };
  double estimate = first_run_seconds_;
  std::function<void()> before;
  if (request.runs_cold) {
    before = [&] {
      take_out_of_caches();
      // The pause may have put the pool's threads to sleep: no run is charged with waking them.
      if (pool != nullptr) wake_all(*pool, kPatience);
    };
  }
  if (estimate < kLongRunSeconds) estimate = warm_up(work, request.timing, before);
  TimingOptions timing = request.timing;
  // The search has no use for a precise figure of a program that is far from the best.
  if (request.rough_seconds > 0 && estimate > request.rough_seconds)
    timing.max_samples = std::min(timing.max_samples, kFewestSamples);
  Samples samples;
  samples.timed_once = request.give_up_seconds > 0 && estimate > request.give_up_seconds;
  samples.seconds =
      samples.timed_once ? std::vector<double>{estimate} : take_samples(work, estimate, timing, before);
  LATHE_TRY_STATUS(check_slack());
  return samples;
}

void Candidate::take_out_of_caches() const {
  for (size_t i = 0; i < module_.buffers.size(); ++i) {
    const ModuleBuffer& buffer = module_.buffers[i];
    const bool has_just_been_written = buffer.role == BufferRole::input;
    if (has_just_been_written || buffer.bytes > kSelfDisplacingBytes) continue;
    evict_from_caches(views_.pointers[i], buffer.bytes);
  }
}

Status Candidate::check_slack() const {
  for (const WatchedBuffer& buffer : views_.writable) {
    const std::optional<int64_t> place = find_overwritten_slack(buffer.mapping, buffer.layout);
    if (!place) continue;
    return fail(ErrorKind::wrong_result, fmt::format("the kernel wrote outside its buffers, {} of {}",
                                                     describe_place_outside(*place, buffer.layout.bytes),
                                                     describe_buffer(buffer.index, module_)));
  }
  return {};
}

}  // namespace lathe
