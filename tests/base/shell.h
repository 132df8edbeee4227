// Commands that tests give to the shell: compilers, and Lathe's own command line.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <string>

namespace lathe {

// The exit status; -1 where the command ended otherwise. For tests alone: the shell reads every word of it.
inline int run_in_shell(const std::string& command) {
  const int status = std::system(command.c_str());  // NOLINT(bugprone-command-processor): all words are ours
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace lathe
