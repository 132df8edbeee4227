#include "measure/worker.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <thread>

#include "measure/candidate/candidate.h"
#include "measure/protocol.h"
#include "runtime/thread_pool.h"

namespace lathe {
namespace {

// How long the pool's threads look for work before they sleep: longer than the pauses between the runs of one
// candidate, so that no run is charged with waking them.
constexpr std::chrono::microseconds kPoolSpin{2000};

// Three ways to notice that the parent is gone, as a candidate may loop for ever: the system's own signal,
// the socket (the signal is tied to the thread that started us, not to the process), and a look right now for
// a parent that ended before we could ask.
Status end_with_parent(int parent, int socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return fail(ErrorKind::io, "the worker's parent has ended");
  std::thread([socket] {
    pollfd entry{.fd = socket, .events = POLLRDHUP, .revents = 0};
    while (poll(&entry, 1, -1) < 0 && errno == EINTR) continue;
    _exit(0);
  }).detach();
  return {};
}

class Worker {
 public:
  Worker(const WorkerOptions& options, WorkerStatus& status)
      : socket_(options.socket),
        status_(status),
        memory_(options.shared_memory),
        pool_({.threads = static_cast<int>(options.cpus.size()), .cpus = options.cpus, .spin = kPoolSpin}) {}

  // A parent that cannot be reached has ended, and nobody waits for a word on it.
  Status serve() {
    if (!send_message(socket_, Greeting{})) return {};
    while (true) {
      Result<Message> request = receive_message(socket_, -1);
      if (!request.has_value()) {
        const bool parent_closed = request.error().kind == ErrorKind::crash;
        return parent_closed ? Status() : std::unexpected(request.error());
      }
      if (!send_message(socket_, answer(*request)) || is_spent_) return {};
    }
  }

 private:
  // What a device has failed at once it may fail at for ever in this process.
  Message failure_of(const Error& error) {
    is_spent_ = is_on_device_ && error.kind == ErrorKind::crash;
    return Failure{error.kind, error.to_string()};
  }

  Message answer(const Message& request) {
    Message reply = Failure{ErrorKind::io, "the worker was asked for what only it may say"};
    if (const auto* trial = std::get_if<TrialRequest>(&request)) reply = start(*trial);
    if (const auto* timing = std::get_if<TimingRequest>(&request)) reply = time(*timing);
    status_.stage = TrialStage::idle;
    return reply;
  }

  Message start(const TrialRequest& request) {
    candidate_.reset();
    is_on_device_ = request.module.form != kObjectForm;
    Result<std::unique_ptr<Candidate>> candidate =
        open_candidate(request, memory_, pool_.parallel(), status_);
    if (!candidate.has_value()) return failure_of(candidate.error());
    candidate_ = std::move(*candidate);
    const Result<double> seconds = candidate_->first_run();
    if (!request.is_timed || !seconds.has_value()) candidate_.reset();
    if (!seconds.has_value()) return failure_of(seconds.error());
    return FirstRun{*seconds};
  }

  Message time(const TimingRequest& request) {
    if (candidate_ == nullptr) return Failure{ErrorKind::io, "the worker has no candidate to time"};
    Result<Samples> samples = candidate_->time(request);
    candidate_.reset();  // what it takes may be as much as the parent needs for the next
    if (!samples.has_value()) return failure_of(samples.error());
    return std::move(*samples);
  }

  int socket_;
  WorkerStatus& status_;
  CandidateMemory memory_;
  ThreadPool pool_;
  std::unique_ptr<Candidate> candidate_;
  bool is_on_device_ = false;  // the candidate
  bool is_spent_ = false;      // ends after the answer; the parent starts another
};

}  // namespace

Status run_worker(const WorkerOptions& options) {
  LATHE_TRY_STATUS(end_with_parent(options.parent, options.socket));
  const rlimit no_core = {.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &no_core);  // a candidate's crash is an everyday event
  void* page =
      mmap(nullptr, sizeof(WorkerStatus), PROT_READ | PROT_WRITE, MAP_SHARED, options.shared_memory, 0);
  if (page == MAP_FAILED) {
    return fail(ErrorKind::io, fmt::format("the worker cannot map its status: {}", std::strerror(errno)));
  }
  auto* status = static_cast<WorkerStatus*>(page);
  install_fault_handler(status);
  if (!options.cpus.empty()) pin_this_thread(options.cpus.front());
  Worker worker(options, *status);
  return worker.serve();
}

}  // namespace lathe
