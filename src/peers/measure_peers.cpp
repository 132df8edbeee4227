#include "peers/measure_peers.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "check/problem.h"
#include "loop/loop.h"
#include "measure/pinned_thread.h"
#include "measure/timing.h"

namespace lathe {
namespace {

bool has_other_types(const Dag& dag) {
  const auto is_other = [](const Tensor& tensor) { return tensor->dtype != DType::f32; };
  return std::ranges::any_of(dag.inputs, is_other) || std::ranges::any_of(dag.outputs, is_other);
}

// A case as all peers get it.
class PeerProblem {
 public:
  static Result<PeerProblem> create(const Workload& workload, const Target& target) {
    LATHE_TRY(Task task, make_task(workload, target, false));
    LATHE_TRY(Problem problem, Problem::create(task));
    return PeerProblem(std::move(task), std::move(problem));
  }

  // Row-major, in the order of the formula; they live as long as this.
  std::vector<std::span<const float>> inputs() const { return {inputs_.begin(), inputs_.end()}; }

  size_t output_elements() const { return static_cast<size_t>(task_.dag.outputs.front().elements()); }

  // The tolerance follows what a trace rewrites, so the algorithm is put as one.
  Status check(const PeerForm& form, std::span<const float> output) {
    Trace trace;
    if (!form.algorithm.empty())
      trace.push_back(RewriteStep{form.algorithm, task_.dag.outputs.front()->name, {}});
    const std::span<const std::byte> bytes = std::as_bytes(output);
    return problem_.inputs_for(naive_, trace).check({&bytes, 1});
  }

  int cores() const { return cores_of(task_.target); }

 private:
  PeerProblem(Task task, Problem problem)
      : task_(std::move(task)), naive_(naive_program(task_)), problem_(std::move(problem)) {
    const MeasureInputs measured = problem_.inputs_for(naive_, {});
    for (size_t i = 0; i < task_.dag.inputs.size(); ++i) {
      std::vector<float>& values = inputs_.emplace_back(measured.buffers[i].bytes / sizeof(float));
      measured.buffers[i].write(std::as_writable_bytes(std::span(values)));
    }
  }

  Task task_;
  Program naive_;  // whose arguments are row-major
  Problem problem_;
  std::vector<std::vector<float>> inputs_;
};

// The first run may start threads, which inherit this one's cpus; from then on it keeps to the first of them.
Result<Measurement> measure_form(const PeerForm& form, PeerCase& opened, PeerProblem& problem,
                                 std::span<const int> cpus) {
  LATHE_TRY_STATUS(opened.run());
  const PinnedThread pinned(cpus.front());
  Status ran;
  const auto work = [&] {
    if (Status now = opened.run(); !now) ran = std::move(now);
  };
  const TimingOptions timing;
  const double estimate = warm_up(work, timing);
  std::vector<double> samples = take_samples(work, estimate, timing);
  LATHE_TRY_STATUS(std::move(ran));
  std::vector<float> output(problem.output_elements(), NAN);
  LATHE_TRY_STATUS(opened.read(output));
  LATHE_TRY_STATUS(problem.check(form, output));
  return measurement_of(std::move(samples));
}

struct OpenedForm {
  PeerForm form;
  Result<PeerCase> opened;
};

}  // namespace

struct PeersOfCase::State {
  std::span<const int> cpus;
  std::optional<PeerProblem> problem = {};
  std::vector<OpenedForm> forms = {};
};

PeersOfCase::PeersOfCase(std::unique_ptr<State> state) : state_(std::move(state)) {}
PeersOfCase::PeersOfCase(PeersOfCase&&) noexcept = default;
PeersOfCase& PeersOfCase::operator=(PeersOfCase&&) noexcept = default;
PeersOfCase::~PeersOfCase() = default;

Result<PeersOfCase> PeersOfCase::open(std::span<const Peer> peers, const Workload& workload,
                                      const Target& target, std::span<const int> cpus) {
  const Dag& dag = workload.operation.dag;
  auto state = std::make_unique<State>(State{cpus});
  std::optional<PeerProblem>& problem = state->problem;
  if (!has_other_types(dag) && dag.outputs.size() == 1) {
    LATHE_TRY(problem, PeerProblem::create(workload, with_cores(target, static_cast<int>(cpus.size()))));
  }
  const PinnedThread pinned(cpus);
  for (const Peer& peer : peers) {
    for (size_t form = 0; form < peer.forms().size(); ++form) {
      Result<PeerCase> opened =
          problem ? peer.open(form, workload.entry, problem->cores(), problem->inputs())
                  : fail(ErrorKind::unsupported,
                         "peers take cases with one output whose tensors are all of type f32");
      state->forms.push_back({peer.forms()[form], std::move(opened)});
    }
  }
  return PeersOfCase(std::move(state));
}

std::vector<PeerMeasurement> PeersOfCase::measure() {
  const PinnedThread pinned(state_->cpus);
  std::vector<PeerMeasurement> measured;
  for (auto& [form, opened] : state_->forms) {
    const Result<Measurement> result = opened ? measure_form(form, *opened, *state_->problem, state_->cpus)
                                              : std::unexpected(opened.error());
    measured.push_back(
        {form.name, result ? *result : failed_measurement(result.error().kind, result.error().to_string())});
  }
  return measured;
}

}  // namespace lathe
