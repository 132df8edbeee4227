#include "artifact/open/run_apart.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "measure/timing.h"

namespace lathe {
namespace {

constexpr double kFirstPause = 1e-4;
constexpr double kLongestPause = 5e-3;
constexpr int kRan = 0;
constexpr int kFailed = 1;

// What it throws ends the child: nothing of the parent is to be unwound there.
[[noreturn]] void run_as_child(LoadedArtifact& artifact) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_DFL);  // not as the parent has them
  _exit(artifact.run() ? kRan : kFailed);
}

// The child's status; an Error of kind timeout where it had to be ended.
Result<int> wait_for(pid_t child, const Deadline& deadline) {
  int status = 0;
  for (double pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return fail(ErrorKind::io, "the process that runs it was lost");
    if (deadline.is_past()) break;
    std::this_thread::sleep_for(std::chrono::duration<double>(pause));
  }
  kill(child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return fail(ErrorKind::timeout, "its run was not done in time");
}

}  // namespace

Result<double> run_apart(LoadedArtifact& artifact, const Deadline& deadline) {
  const double start = monotonic_seconds();
  const pid_t child = fork();
  if (child < 0) return fail(ErrorKind::io, "no process could be started to run it");
  if (child == 0) run_as_child(artifact);
  LATHE_TRY(const int status, wait_for(child, deadline));
  if (WIFSIGNALED(status))
    return fail(ErrorKind::crash, fmt::format("its run ended by signal {}", WTERMSIG(status)));
  if (WEXITSTATUS(status) == kFailed) LATHE_TRY_STATUS(artifact.run());  // says why
  return monotonic_seconds() - start;
}

}  // namespace lathe
