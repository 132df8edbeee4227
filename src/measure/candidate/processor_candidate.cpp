#include "measure/candidate/processor_candidate.h"

#include <fmt/format.h>

#include <functional>
#include <optional>

#include "base/code_pages.h"
#include "measure/candidate/timed_samples.h"
#include "measure/evict_buffers.h"
#include "runtime/launch.h"
#include "runtime/loader.h"
#include "runtime/open_guards.h"
#include "runtime/thread_pool.h"

namespace lathe {
namespace {

// The linker's code, some tens of megabytes, does not stay beside a candidate that takes so much: to map it
// again takes milliseconds, which is little beside filling that.
constexpr int64_t kMuchMemory = 64 << 20;

int64_t own_bytes(const Module& module) {
  int64_t bytes = module.workspace_bytes;
  for (const ModuleBuffer& buffer : module.buffers)
    if (buffer.role == BufferRole::prepared) bytes += buffer.bytes;
  return bytes;
}

class ProcessorCandidate final : public Candidate {
 public:
  Status open(const TrialRequest& request, CandidateMemory& memory, const LatheParallel* pool,
              WorkerStatus& status);
  Result<double> first_run() override;
  Result<Samples> time(const TimingRequest& request) override;

 private:
  Status run() const;
  Status check_slack() const;

  Module module_;
  LoadedModule code_;
  CandidateMemory::Views views_;
  const LatheParallel* pool_ = nullptr;
  WorkerStatus* status_ = nullptr;
  double first_run_seconds_ = 0;
};

}  // namespace

Status ProcessorCandidate::open(const TrialRequest& request, CandidateMemory& memory,
                                const LatheParallel* pool, WorkerStatus& status) {
  status.stage = TrialStage::loading;
  module_ = request.module;
  pool_ = pool;
  status_ = &status;
  LATHE_TRY(code_, load_object(request.module));
  if (own_bytes(request.module) >= kMuchMemory) release_code_pages();
  LATHE_TRY(views_, memory.arrange(request));
  watch_buffers(views_.watched);
  if (code_.prepare() != nullptr) {
    status.stage = TrialStage::preparing;
    LatheParallel limited;
    LATHE_TRY_STATUS(
        launch(code_.prepare(), views_.pointers, views_.workspace, limit_pool(module_, pool, limited)));
    LATHE_TRY_STATUS(check_slack());
  }
  return {};
}

Status ProcessorCandidate::run() const {
  LatheParallel limited;
  return launch(code_.kernel(), views_.pointers, views_.workspace, limit_pool(module_, pool_, limited));
}

Result<double> ProcessorCandidate::first_run() {
  status_->stage = TrialStage::first_run;
  // What is checked is what all threads do together.
  LatheParallel limited;
  if (const LatheParallel* pool = limit_pool(module_, pool_, limited)) wake_all(*pool);
  const double start = monotonic_seconds();
  LATHE_TRY_STATUS(run());
  first_run_seconds_ = monotonic_seconds() - start;
  LATHE_TRY_STATUS(check_slack());
  return first_run_seconds_;
}

Result<Samples> ProcessorCandidate::time(const TimingRequest& request) {
  status_->stage = TrialStage::timing;
  LatheParallel limited;
  const LatheParallel* pool = limit_pool(module_, pool_, limited);
  const auto work = [&] { code_.kernel()(views_.pointers.data(), nullptr, views_.workspace, pool); };
  std::function<void()> before;
  if (request.runs_cold) {
    before = [&] {
      evict_cold_buffers(module_, [this](size_t i) { return views_.pointers[i]; });
      // The pause may have put the pool's threads to sleep: no run is charged with waking them.
      if (pool != nullptr) wake_all(*pool);
    };
  }
  OpenGuards guards;
  for (const WatchedBuffer& buffer : views_.watched) guards.open(buffer.mapping, buffer.layout);
  Samples samples = timed_samples(work, first_run_seconds_, request, before);
  LATHE_TRY_STATUS(check_slack());
  return samples;
}

Status ProcessorCandidate::check_slack() const {
  for (const WatchedBuffer& buffer : views_.writable) {
    const std::optional<int64_t> place = find_overwritten_slack(buffer.mapping, buffer.layout);
    if (!place) continue;
    return fail(ErrorKind::wrong_result, fmt::format("the kernel wrote outside its buffers, {} of {}",
                                                     describe_place_outside(*place, buffer.layout.bytes),
                                                     describe_buffer(buffer.index, module_)));
  }
  return {};
}

Result<std::unique_ptr<Candidate>> open_processor_candidate(const TrialRequest& request,
                                                            CandidateMemory& memory,
                                                            const LatheParallel* pool, WorkerStatus& status) {
  auto candidate = std::make_unique<ProcessorCandidate>();
  LATHE_TRY_STATUS(candidate->open(request, memory, pool, status));
  return candidate;
}

}  // namespace lathe
