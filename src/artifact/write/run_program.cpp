#include "artifact/write/run_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/abridged.h"

namespace lathe {
namespace {

// Where a program's output goes: no file of a disk, which may be full, so that what it says of that is not
// lost.
class Output {
 public:
  Output() : file_(memfd_create("output", MFD_CLOEXEC)) {}
  ~Output() {
    if (file_ >= 0) close(file_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  int file() const { return file_; }

  std::vector<std::string> lines() const {
    constexpr size_t kMost = size_t{1} << 16;
    std::string text(kMost, '\0');
    const ssize_t length = pread(file_, text.data(), text.size(), 0);
    text.resize(static_cast<size_t>(std::max<ssize_t>(length, 0)));
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);)
      if (!line.empty()) lines.push_back(line);
    return lines;
  }

 private:
  int file_;
};

// The line that says most of why a compiler failed; empty where it printed nothing. The driver's own, that
// the linker failed, says least.
std::string telling_line(const std::vector<std::string>& lines) {
  const auto is_reason = [](const std::string& line) {
    return line.find(strerror(ENOSPC)) != std::string::npos;
  };
  const auto is_more = [](const std::string& line) { return !line.starts_with("collect2: error: ld "); };
  auto found = std::ranges::find_if(lines, is_reason);
  if (found == lines.end()) found = std::ranges::find_if(lines, is_more);
  if (found != lines.end()) return *found;
  return lines.empty() ? "" : lines.front();
}

class FileActions {
 public:
  explicit FileActions(const Output& output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output.file(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output.file(), STDERR_FILENO);
  }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_ = {};
};

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Status run_program(const std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  const auto cannot_start = [&](int reason) {
    return fail(ErrorKind::io, fmt::format("'{}' cannot be started: {}", arguments[0], strerror(reason)));
  };
  const Output output;
  if (output.file() < 0) return cannot_start(errno);
  const FileActions actions(output);
  pid_t process = 0;
  const int error = posix_spawnp(&process, pointers[0], actions.get(), nullptr, pointers.data(), environ);
  if (error != 0) return cannot_start(error);
  const int status = wait_for(process);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const std::string how = WIFEXITED(status) ? fmt::format("status {}", WEXITSTATUS(status))
                                            : fmt::format("signal {}", WTERMSIG(status));
  constexpr size_t kMostOfLine = 400;
  const std::string line = telling_line(output.lines());
  return fail(ErrorKind::build, fmt::format("'{}' ended with {}{}{}", arguments[0], how,
                                            line.empty() ? "" : ": ", abridged(line, kMostOfLine)));
}

}  // namespace lathe
