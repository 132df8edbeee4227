#include "measure/measurer.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "measure/protocol.h"
#include "measure/shared_inputs.h"
#include "measure/shared_memory.h"
#include "measure/worker_process.h"
#include "measure/worker_status.h"
#include "target/detect.h"

namespace lathe {
namespace {

// A worker loads the LLVM library when it starts; a loaded machine may take its time.
constexpr double kStartSeconds = 30;

// Timing takes the budget, warm-up, and a few runs as long as the first one: this many at most.
constexpr double kRunsWhileTiming = 16;

Result<std::vector<int>> choose_cpus(const MeasureOptions& options) {
  std::vector<int> cpus = options.cpus.empty() ? allowed_cpus() : options.cpus;
  const int available = static_cast<int>(cpus.size());
  if (options.cores < 1 || options.cores > available) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("cannot measure on {} cores: this process may use {} of the machine's cpus",
                            options.cores, available));
  }
  cpus.resize(static_cast<size_t>(options.cores));
  return cpus;
}

}  // namespace

struct Measurer::State {
  MeasureOptions options;
  std::vector<int> cpus;
  SharedMemory memory;
  MappedBuffer status_page;
  WorkerStatus* status = nullptr;
  std::unique_ptr<SharedInputs> inputs;
  WorkerProcess worker;
  bool is_ready = false;  // the worker has sent its greeting

  Status start_worker();
  Status wait_until_ready();
  Result<Message> exchange(Message request, double timeout_seconds);
  Result<Message> begin_trial(const TrialRequest& request, double timeout_seconds);
  Measurement replace_worker(const Error& error, const Module& module, double timeout_seconds);
};

Status Measurer::State::start_worker() {
  is_ready = false;
  LATHE_TRY(worker, WorkerProcess::start(options.worker_path, memory.file(), cpus));
  return {};
}

Status Measurer::State::wait_until_ready() {
  if (!worker.started()) LATHE_TRY_STATUS(start_worker());
  if (is_ready) return {};
  const Result<Message> greeting = worker.receive(kStartSeconds);
  const Greeting* hello = greeting.has_value() ? std::get_if<Greeting>(&*greeting) : nullptr;
  if (hello != nullptr && hello->version == kProtocolVersion) {
    is_ready = true;
    return {};
  }
  worker.kill();
  return fail(ErrorKind::io,
              fmt::format("'{}' does not answer as this version's worker", options.worker_path));
}

Result<Message> Measurer::State::exchange(Message request, double timeout_seconds) {
  LATHE_TRY_STATUS(worker.send(std::move(request)));
  return worker.receive(timeout_seconds);
}

// A worker that ended between two candidates, by whose hand ever, is replaced and asked again.
Result<Message> Measurer::State::begin_trial(const TrialRequest& request, double timeout_seconds) {
  for (bool may_retry : {true, false}) {
    LATHE_TRY_STATUS(wait_until_ready());
    new (status) WorkerStatus;
    Result<Message> reply = exchange(request, timeout_seconds);
    const bool ended = !reply.has_value() && reply.error().kind != ErrorKind::timeout;
    const bool had_begun = status->stage.load() != TrialStage::idle;
    if (!ended || had_begun || !may_retry) return reply;
    worker.kill();
  }
  return fail(ErrorKind::io, "no worker could be asked");
}

// The failure of a candidate that ended the worker or has to be ended with it. The next worker starts at
// once, so that it is there when the next candidate is; if it cannot start, the next candidate's measurement
// says so.
Measurement Measurer::State::replace_worker(const Error& error, const Module& module,
                                            double timeout_seconds) {
  Measurement failed;
  if (error.kind == ErrorKind::timeout) {
    failed = failed_measurement(ErrorKind::timeout, describe_timeout(status->stage.load(), timeout_seconds));
    worker.kill();
  } else {
    const int wait_status = worker.reap();
    failed = failed_measurement(ErrorKind::crash, describe_crash(*status, wait_status, module));
  }
  if (!start_worker().has_value()) worker.kill();
  return failed;
}

Measurer::Measurer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Measurer::Measurer(Measurer&&) noexcept = default;
Measurer& Measurer::operator=(Measurer&&) noexcept = default;
Measurer::~Measurer() = default;

Result<Measurer> Measurer::start(const MeasureOptions& options) {
  auto state = std::make_unique<State>();
  state->options = options;
  LATHE_TRY(state->cpus, choose_cpus(options));
  LATHE_TRY(state->memory, SharedMemory::create());
  LATHE_TRY(int64_t page, state->memory.extend(sizeof(WorkerStatus)));
  LATHE_TRY(state->status_page, MappedBuffer::map(state->memory.file(), page, sizeof(WorkerStatus),
                                                  MappedBuffer::Access::read_write));
  state->status = new (state->status_page.mapping()) WorkerStatus;
  state->inputs = std::make_unique<SharedInputs>(state->memory, options.input_bytes);
  LATHE_TRY_STATUS(state->wait_until_ready());
  return Measurer(std::move(state));
}

Result<Measurement> Measurer::measure(const Module& module, const MeasureInputs& inputs) {
  State& state = *state_;
  const double timeout = inputs.timeout_seconds > 0 ? inputs.timeout_seconds : state.options.timeout_seconds;
  LATHE_TRY(std::vector<int64_t> offsets, state.inputs->share(module, inputs.buffers));

  const Result<Message> first = state.begin_trial({module, std::move(offsets)}, timeout);
  if (!first.has_value()) {
    if (!state.worker.started()) return std::unexpected(first.error());
    return state.replace_worker(first.error(), module, timeout);
  }
  if (const auto* failure = std::get_if<Failure>(&*first)) {
    return failed_measurement(failure->kind, failure->message);
  }
  const auto* first_run = std::get_if<FirstRun>(&*first);
  if (first_run == nullptr) return fail(ErrorKind::io, "the worker gave another answer than was asked for");
  if (inputs.check) {
    const Status checked = inputs.check(state.inputs->outputs(module));
    if (!checked.has_value()) return failed_measurement(checked.error().kind, checked.error().to_string());
  }

  const double give_up = inputs.best_seconds * state.options.give_up_ratio;
  const double timing_timeout =
      timeout + state.options.timing.budget_seconds + kRunsWhileTiming * first_run->seconds;
  Result<Message> timed = state.exchange(TimingRequest{state.options.timing, give_up}, timing_timeout);
  if (!timed.has_value()) return state.replace_worker(timed.error(), module, timing_timeout);
  if (const auto* failure = std::get_if<Failure>(&*timed)) {
    return failed_measurement(failure->kind, failure->message);
  }
  auto* samples = std::get_if<Samples>(&*timed);
  if (samples == nullptr || samples->seconds.empty()) {
    return fail(ErrorKind::io, "the worker gave another answer than was asked for");
  }
  Measurement measurement = measurement_of(std::move(samples->seconds));
  measurement.timed_once = samples->timed_once;
  return measurement;
}

const std::vector<int>& Measurer::cpus() const { return state_->cpus; }
int Measurer::worker_pid() const { return state_->worker.pid(); }

}  // namespace lathe
