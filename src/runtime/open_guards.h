// The page behind a buffer, opened while a program is timed on it. A vector of which only the lanes that are
// masked out reach into a page that faults is right, but slow: some processors (AMD's Zen 4, for one) take
// hundreds of times as long for it, and a program that reads short rows so was measured a hundred times as
// slow as it runs, for where it runs such a page is hardly ever behind a tensor. What is checked finds all
// guards closed.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "runtime/guarded_layout.h"

namespace lathe {

// Closed again with this object, which goes before the buffers do.
class OpenGuards {
 public:
  OpenGuards() = default;
  ~OpenGuards() { close(); }
  OpenGuards(OpenGuards&& other) noexcept : pages_(std::exchange(other.pages_, {})) {}
  OpenGuards& operator=(OpenGuards&& other) noexcept {
    std::swap(pages_, other.pages_);
    return *this;
  }

  // Of the buffer whose pages start at `mapping`.
  void open(const std::byte* mapping, const GuardedLayout& layout);

 private:
  void close();

  std::vector<std::byte*> pages_;
};

}  // namespace lathe
