#include "measure/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace lathe {
namespace {

// A worker that closed its socket is about to end; one that has not after this time never will.
constexpr double kLingerSeconds = 2;

// What asks the parent to end may reach every process of its terminal or group. What it means is for the
// parent to decide, and the worker ends with it: a candidate that such a signal ended would look like a
// crash.
sigset_t signals_for_the_parent() {
  sigset_t signals;
  pthread_sigmask(SIG_SETMASK, nullptr, &signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

// Keeps the two files open in the child under the same numbers (a dup2 onto itself clears close-on-exec) and
// takes the terminal away: a worker has nothing to read or print.
int spawn(const std::string& path, char* const* arguments, int socket, int memory, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, socket, socket);
  posix_spawn_file_actions_adddup2(&actions, memory, memory);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  const sigset_t blocked = signals_for_the_parent();
  posix_spawnattr_setsigmask(&attributes, &blocked);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int failure = posix_spawn(&pid, path.c_str(), &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

}  // namespace

Result<WorkerProcess> WorkerProcess::start(const std::string& path, int shared_memory,
                                           const std::vector<int>& cpus) {
  std::array<int, 2> sockets{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    return fail(ErrorKind::io, fmt::format("cannot make a socket for the worker: {}", std::strerror(errno)));
  }
  std::array<std::string, 5> texts = {path, std::to_string(sockets[1]), std::to_string(shared_memory),
                                      std::to_string(getpid()), fmt::format("{}", fmt::join(cpus, ","))};
  std::array<char*, 6> arguments{};
  for (size_t i = 0; i < texts.size(); ++i) arguments[i] = texts[i].data();

  WorkerProcess worker;
  worker.socket_ = sockets[0];
  const int failure = spawn(path, arguments.data(), sockets[1], shared_memory, worker.pid_);
  close(sockets[1]);
  if (failure != 0) {
    worker.pid_ = -1;
    close(std::exchange(worker.socket_, -1));
    return fail(ErrorKind::io, fmt::format("cannot start the worker '{}': {}", path, std::strerror(failure)));
  }
  return worker;
}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  if (this == &other) return *this;
  kill();
  pid_ = std::exchange(other.pid_, -1);
  socket_ = std::exchange(other.socket_, -1);
  return *this;
}

int WorkerProcess::wait(int options, int& status) {
  int result = 0;
  do {
    result = waitpid(pid_, &status, options);
  } while (result < 0 && errno == EINTR);
  return result;
}

int WorkerProcess::reap() {
  int status = 0;
  const double start = monotonic_seconds();
  while (wait(WNOHANG, status) == 0) {
    if (monotonic_seconds() - start > kLingerSeconds) {
      ::kill(pid_, SIGKILL);
      wait(0, status);
      break;
    }
    usleep(200);
  }
  pid_ = -1;
  close(std::exchange(socket_, -1));
  return status;
}

void WorkerProcess::kill() {
  if (!started()) return;
  ::kill(pid_, SIGKILL);
  reap();
}

}  // namespace lathe
