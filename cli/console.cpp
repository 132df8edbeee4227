#include "cli/console.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace lathe::cli {
namespace {

int stdout_error = 0;  // errno's value when something first could not be written; 0: all has been
bool pipes_end_us = false;

void note_stdout_error() {
  if (stdout_error == 0) stdout_error = errno;
}

// A file that is opened while one of the three is closed would take its number, and then what is printed.
// For reading alone, so that what is printed there is an error.
void hold_closed_streams() {
  int descriptor = STDIN_FILENO;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = open("/dev/null", O_RDONLY);
  if (descriptor > STDERR_FILENO) close(descriptor);
}

// What is to be written once a reader has gone is lost, the command's work is not. A handler, unlike SIG_IGN,
// is not what programs started by this one begin with.
void outlive_readers() {
  pipes_end_us = std::signal(SIGPIPE, [](int) {}) == SIG_DFL;
  if (!pipes_end_us) std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

void prepare_console() {
  hold_closed_streams();
  outlive_readers();
  // Line by line also into a file, which may be stderr's too: no message comes amid a table's row.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
}

void write_to_stdout(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) note_stdout_error();
}

void write_to_stderr(std::string_view text) {
  [[maybe_unused]] const size_t written = std::fwrite(text.data(), 1, text.size(), stderr);
}

Status finish_stdout() {
  if (std::fflush(stdout) != 0) note_stdout_error();
  if (stdout_error == 0) return {};
  if (stdout_error == EPIPE && pipes_end_us) {
    std::signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
  }
  return fail(ErrorKind::io,
              fmt::format("standard output cannot be written: {}", std::strerror(stdout_error)));
}

}  // namespace lathe::cli
