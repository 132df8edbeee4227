// Progress on stderr: one line that is drawn anew on a terminal, a line for each step otherwise. Used by one
// thread.
#pragma once

#include <chrono>
#include <string>

#include "base/watch.h"

namespace lathe::cli {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { finish(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // `done` of `all`, and what is to be said of it.
  void show(size_t done, size_t all, const std::string& text);
  // The same where work lasts: how far it is and how long it may still take. Short work is passed over, and
  // off a terminal what comes within some seconds of the last line.
  void show_work(size_t done, size_t all, const WorkState& state);
  // Leaves the line as it stands; what is shown afterwards goes on a new one.
  void finish();

 private:
  bool is_terminal_;
  bool open_ = false;
  std::string last_work_;
  std::chrono::steady_clock::time_point last_told_ = {};
};

// "40 s", "12 min", "1.5 h".
std::string told_seconds(double seconds);

}  // namespace lathe::cli
