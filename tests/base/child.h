// What a child process of the test comes to: one that may be killed, or run under limits or as another user.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

namespace lathe {

// Runs `body` in a child process, whose exit status it gives.
inline pid_t start_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return child;
}

inline int exit_status(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Writes the message into the pipe; the parent reads it to the end.
inline std::string message_of_child(const std::function<std::string()>& body) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = start_child([&] {
    const std::string message = body();
    return write(ends[1], message.data(), message.size()) == static_cast<ssize_t>(message.size()) ? 0 : 1;
  });
  close(ends[1]);
  EXPECT_EQ(exit_status(child), 0);
  std::string message(4096, '\0');
  message.resize(static_cast<size_t>(read(ends[0], message.data(), message.size())));
  close(ends[0]);
  return message;
}

// Runs `body` as a user who may not write the files of the one who runs the tests.
inline std::string message_as_stranger(const std::function<std::string()>& body) {
  return message_of_child([&]() -> std::string {
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return "no stranger";
    return body();
  });
}

}  // namespace lathe
