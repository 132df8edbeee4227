// The parent's handle of one worker process: starts it, talks to it, ends it. Owns the process: it is killed
// and reaped with this object, and it ends by itself when its parent does. The system ties a worker to the
// thread that started it, so that thread should live as long as the worker. Movable; not thread-safe.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "measure/protocol.h"

namespace lathe {

class WorkerProcess {
 public:
  // Starts the executable at `path` as `path SOCKET MEMORY PARENT CPUS` and returns at once: the worker's
  // Greeting tells when it is ready. An io error where the system cannot start it.
  static Result<WorkerProcess> start(const std::string& path, int shared_memory,
                                     const std::vector<int>& cpus);

  WorkerProcess() = default;
  ~WorkerProcess() { kill(); }
  WorkerProcess(WorkerProcess&& other) noexcept { *this = std::move(other); }
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;

  bool started() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }

  // See protocol.h.
  Status send(Message message) { return send_message(socket_, std::move(message)); }
  Result<Message> receive(double timeout_seconds) { return receive_message(socket_, timeout_seconds); }
  bool answers_within(double seconds) const { return is_readable_within(socket_, seconds); }

  // Waits for a process that closed its socket, kills it if it lingers, and returns its wait status.
  int reap();
  // Ends it now. Nothing to do where it has ended.
  void kill();

 private:
  int wait(int options, int& status);

  pid_t pid_ = -1;
  int socket_ = -1;
};

}  // namespace lathe
