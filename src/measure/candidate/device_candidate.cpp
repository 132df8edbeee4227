#include "measure/candidate/device_candidate.h"

#include <vector>

#include "measure/candidate/timed_samples.h"
#include "runtime/device.h"

namespace lathe {
namespace {

class DeviceCandidate final : public Candidate {
 public:
  DeviceCandidate(CandidateMemory& memory, WorkerStatus& status) : memory_(memory), status_(status) {}

  Status open(const TrialRequest& request);
  Result<double> first_run() override;
  Result<Samples> time(const TimingRequest& request) override;

 private:
  Result<std::span<std::byte>> shared(size_t buffer, MappedBuffer::Access access);

  CandidateMemory& memory_;
  WorkerStatus& status_;
  std::vector<ModuleBuffer> buffers_;
  std::vector<int64_t> offsets_;  // of them, in the shared memory
  std::unique_ptr<DeviceInstance> instance_;
  double first_run_seconds_ = 0;
};

Result<std::span<std::byte>> DeviceCandidate::shared(size_t buffer, MappedBuffer::Access access) {
  LATHE_TRY(const WatchedBuffer view, memory_.shared(offsets_[buffer], buffers_[buffer].bytes, access));
  auto* const data = const_cast<std::byte*>(view.mapping + view.layout.data_offset);
  return std::span(data, static_cast<size_t>(view.layout.bytes));
}

Status DeviceCandidate::open(const TrialRequest& request) {
  status_.stage = TrialStage::loading;
  watch_buffers({});
  buffers_ = request.module.buffers;
  offsets_ = request.offsets;
  memory_.make_room(buffers_.size());
  LATHE_TRY(instance_, open_on_device(request.module));
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].role != BufferRole::input && buffers_[i].role != BufferRole::constant) continue;
    LATHE_TRY(const std::span<std::byte> bytes, shared(i, MappedBuffer::Access::read));
    LATHE_TRY_STATUS(instance_->write(i, bytes));
  }
  status_.stage = TrialStage::preparing;
  LATHE_TRY_STATUS(instance_->prepare());
  return instance_->check_slack();
}

Result<double> DeviceCandidate::first_run() {
  status_.stage = TrialStage::first_run;
  LATHE_TRY(first_run_seconds_, instance_->run());
  LATHE_TRY_STATUS(instance_->check_slack());
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].role != BufferRole::output) continue;
    LATHE_TRY(const std::span<std::byte> bytes, shared(i, MappedBuffer::Access::read_write));
    LATHE_TRY_STATUS(instance_->read(i, bytes));
  }
  return first_run_seconds_;
}

Result<Samples> DeviceCandidate::time(const TimingRequest& request) {
  status_.stage = TrialStage::timing;
  Status failed;  // the first run that did, if any
  const auto work = [&] {
    if (!failed) return;
    if (const Result<double> seconds = instance_->run(); !seconds) failed = std::unexpected(seconds.error());
  };
  Samples samples = timed_samples(work, first_run_seconds_, request);
  LATHE_TRY_STATUS(failed);
  LATHE_TRY_STATUS(instance_->check_slack());
  return samples;
}

}  // namespace

Result<std::unique_ptr<Candidate>> open_device_candidate(const TrialRequest& request, CandidateMemory& memory,
                                                         WorkerStatus& status) {
  auto candidate = std::make_unique<DeviceCandidate>(memory, status);
  LATHE_TRY_STATUS(candidate->open(request));
  return candidate;
}

}  // namespace lathe
