// Lines of a C-like language, indented.
#pragma once

#include <string>

namespace lathe::c_like {

class Code {
 public:
  explicit Code(int depth = 0) : depth_(depth) {}

  void line(const std::string& text) {
    text_ += std::string(2 * static_cast<size_t>(depth_), ' ') + text + "\n";
  }
  // "head {", or "{" alone, and one level deeper.
  void open(const std::string& head = "") {
    line(head.empty() ? "{" : head + " {");
    ++depth_;
  }
  void close(const std::string& tail = "}") {
    --depth_;
    line(tail);
  }
  void append(const std::string& lines) { text_ += lines; }
  int depth() const { return depth_; }
  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_;
};

}  // namespace lathe::c_like
