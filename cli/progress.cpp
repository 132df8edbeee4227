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

void ProgressLine::show_work(size_t done, size_t all, const WorkState& state) {
  constexpr double kShort = 2;
  constexpr std::chrono::seconds kPause{5};
  if (std::max(state.seconds, state.expected_seconds) < kShort) return;
  const auto now = std::chrono::steady_clock::now();
  const bool is_new = state.what != last_work_;
  if (!is_terminal_ && !is_new && now - last_told_ < kPause) return;
  last_work_ = state.what;
  last_told_ = now;
  const double left = state.expected_seconds - state.seconds;
  show(done, all,
       left > 0 ? fmt::format("{}, about {} left", state.what, told_seconds(left))
                : fmt::format("{}, {} so far", state.what, told_seconds(state.seconds)));
}

void ProgressLine::finish() {
  if (!open_) return;
  to_stderr("\n");
  open_ = false;
}

std::string told_seconds(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 60 * kMinute;
  if (seconds < 2 * kMinute) return fmt::format("{:.0f} s", seconds);
  if (seconds < 2 * kHour) return fmt::format("{:.0f} min", seconds / kMinute);
  return fmt::format("{:.1f} h", seconds / kHour);
}

}  // namespace lathe::cli
