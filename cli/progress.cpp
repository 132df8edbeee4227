#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "cli/console.h"

namespace lathe::cli {
namespace {

constexpr size_t kBarWidth = 24;

size_t terminal_width() {
  winsize size = {};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

ProgressLine::ProgressLine() : is_terminal_(isatty(STDERR_FILENO) != 0) {}

void ProgressLine::show(size_t done, size_t all, const std::string& text) {
  if (!is_terminal_) {
    to_stderr("[{}/{}] {}\n", done, all, text);
    return;
  }
  const size_t filled = all == 0 ? kBarWidth : std::min(kBarWidth, kBarWidth * done / all);
  std::string line = fmt::format("[{}{}] {}/{} {}", std::string(filled, '#'),
                                 std::string(kBarWidth - filled, '.'), done, all, text);
  line.resize(std::min(line.size(), terminal_width() - 1));
  // Back to the line's beginning, then whatever is left of the line before is cleared.
  to_stderr("\r{}\x1b[K", line);
  open_ = true;
}

void ProgressLine::finish() {
  if (!open_) return;
  to_stderr("\n");
  open_ = false;
}

}  // namespace lathe::cli
