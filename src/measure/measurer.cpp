#include "measure/measurer.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/deadline.h"
#include "measure/protocol.h"
#include "measure/shared_inputs.h"
#include "measure/shared_memory.h"
#include "measure/timing.h"
#include "measure/worker_process.h"
#include "measure/worker_status.h"
#include "target/detect.h"

namespace lathe {
namespace {

// A worker loads a linker of some size when it starts; a loaded machine may take its time.
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

struct FirstOutcome {
  double seconds = 0;
  std::optional<MeasureFailure> failure;
};

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
  Result<Message> exchange(Message request, double timeout_seconds, const MeasureInputs& candidate);
  Result<Message> begin_trial(const TrialRequest& request, double timeout_seconds,
                              const MeasureInputs& candidate);
  MeasureFailure replace_worker(const Error& error, const Module& module, double timeout_seconds);
  Result<FirstOutcome> run_first(const Module& module, const MeasureInputs& candidate, double timeout_seconds,
                                 bool is_timed);
  double timeout_of(const MeasureInputs& candidate) const;
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

Result<Message> Measurer::State::exchange(Message request, double timeout_seconds,
                                          const MeasureInputs& candidate) {
  LATHE_TRY_STATUS(worker.send(std::move(request)));
  const Deadline deadline = Deadline::in(timeout_seconds);
  bool is_first_wait = true;
  while (candidate.on_long_wait || candidate.stop) {
    const double wait = std::clamp(deadline.seconds_left(), 0.0, kLongWaitSeconds);
    if (worker.answers_within(wait) || deadline.is_past()) break;
    if (is_first_wait && candidate.on_long_wait) candidate.on_long_wait();
    is_first_wait = false;
    if (candidate.stop && candidate.stop()) return fail(ErrorKind::timeout, "stopped");
  }
  return worker.receive(std::max(0.0, deadline.seconds_left()));
}

// A worker that ended between two candidates, by whose hand ever, is replaced and asked again.
Result<Message> Measurer::State::begin_trial(const TrialRequest& request, double timeout_seconds,
                                             const MeasureInputs& candidate) {
  for (bool may_retry : {true, false}) {
    LATHE_TRY_STATUS(wait_until_ready());
    new (status) WorkerStatus;
    Result<Message> reply = exchange(request, timeout_seconds, candidate);
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
MeasureFailure Measurer::State::replace_worker(const Error& error, const Module& module,
                                               double timeout_seconds) {
  MeasureFailure failed;
  if (error.kind == ErrorKind::timeout) {
    failed = {ErrorKind::timeout, describe_timeout(status->stage.load(), timeout_seconds)};
    worker.kill();
  } else {
    const int wait_status = worker.reap();
    failed = {ErrorKind::crash, describe_crash(*status, wait_status, module)};
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

// The first run, checked: its seconds, or why it failed.
Result<FirstOutcome> Measurer::State::run_first(const Module& module, const MeasureInputs& candidate,
                                                double timeout_seconds, bool is_timed) {
  LATHE_TRY(std::vector<int64_t> offsets, inputs->share(module, candidate.buffers));
  const Result<Message> first =
      begin_trial({module, std::move(offsets), is_timed}, timeout_seconds, candidate);
  if (!first.has_value()) {
    if (!worker.started()) return std::unexpected(first.error());
    return FirstOutcome{0, replace_worker(first.error(), module, timeout_seconds)};
  }
  if (const auto* failure = std::get_if<Failure>(&*first)) {
    return FirstOutcome{0, MeasureFailure{failure->kind, failure->message}};
  }
  const auto* first_run = std::get_if<FirstRun>(&*first);
  if (first_run == nullptr) return fail(ErrorKind::io, "the worker gave another answer than was asked for");
  FirstOutcome outcome{first_run->seconds, std::nullopt};
  if (!candidate.check) return outcome;
  const Status checked = candidate.check(inputs->outputs(module));
  if (!checked.has_value())
    outcome.failure = MeasureFailure{checked.error().kind, checked.error().to_string()};
  return outcome;
}

double Measurer::State::timeout_of(const MeasureInputs& candidate) const {
  return candidate.timeout_seconds > 0 ? candidate.timeout_seconds : options.timeout_seconds;
}

Result<std::optional<MeasureFailure>> Measurer::verify(const Module& module, const MeasureInputs& inputs) {
  LATHE_TRY(const FirstOutcome outcome, state_->run_first(module, inputs, state_->timeout_of(inputs), false));
  return outcome.failure;
}

Result<Measurement> Measurer::measure(const Module& module, const MeasureInputs& inputs) {
  State& state = *state_;
  const double timeout = state.timeout_of(inputs);
  const Deadline end = Deadline::in(inputs.seconds_left);
  LATHE_TRY(const FirstOutcome first, state.run_first(module, inputs, timeout, true));
  if (first.failure) return failed_measurement(first.failure->kind, first.failure->message);

  TimingRequest request{state.options.timing, inputs.best_seconds * state.options.give_up_ratio,
                        inputs.best_seconds * state.options.rough_ratio, inputs.runs_cold};
  // One that runs so long is as fast the first time.
  if (kFewestSamples * first.seconds > end.seconds_left()) request.give_up_seconds = first.seconds / 2;
  const double timing_timeout =
      timeout + state.options.timing.budget_seconds + kRunsWhileTiming * first.seconds;
  Result<Message> timed = state.exchange(request, timing_timeout, inputs);
  if (!timed.has_value()) {
    const MeasureFailure failure = state.replace_worker(timed.error(), module, timing_timeout);
    return failed_measurement(failure.kind, failure.message);
  }
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
