#include "artifact/run_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace lathe {
namespace {

constexpr size_t kNotes = 10;

std::vector<std::string> first_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; lines.size() < kNotes && std::getline(file, line);) lines.push_back(line);
  return lines;
}

class FileActions {
 public:
  explicit FileActions(const std::string& output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0644);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
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

Status run_program(const std::vector<std::string>& arguments, const std::string& output) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  const FileActions actions(output);
  pid_t process = 0;
  const int error = posix_spawnp(&process, pointers[0], actions.get(), nullptr, pointers.data(), environ);
  if (error != 0) {
    return fail(ErrorKind::io,
                fmt::format("the program '{}' cannot be started: {}", arguments[0], strerror(error)));
  }
  const int status = wait_for(process);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const std::string how = WIFEXITED(status) ? fmt::format("status {}", WEXITSTATUS(status))
                                            : fmt::format("signal {}", WTERMSIG(status));
  return std::unexpected(Error{ErrorKind::build,
                               fmt::format("the program '{}' ended with {}", arguments[0], how),
                               {},
                               first_lines(output)});
}

}  // namespace lathe
