// Progress on stderr: one line that is drawn anew on a terminal, a line for each step otherwise. Used by one
// thread.
#pragma once

#include <string>

namespace lathe::cli {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { finish(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // `done` of `all`, and what is to be said of it.
  void show(size_t done, size_t all, const std::string& text);
  // Leaves the line as it stands; what is shown afterwards goes on a new one.
  void finish();

 private:
  bool is_terminal_;
  bool open_ = false;
};

}  // namespace lathe::cli
