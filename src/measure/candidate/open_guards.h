// The page behind each of a candidate's buffers, open while it is timed. A vector of which only the lanes
// that are masked out reach into a page that faults is right, but slow: some processors (AMD's Zen 4, for
// one) take hundreds of times as long for it, and a program that reads short rows so was measured a hundred
// times as slow as it runs, for where it runs such a page is hardly ever behind a tensor. The first run,
// which is checked, finds all guards closed.
#pragma once

#include <span>
#include <vector>

#include "measure/fault_handler.h"

namespace lathe {

class OpenGuards {
 public:
  // `writable` are some of `buffers`, whose guards may be written to as well. All must outlive the object.
  OpenGuards(std::span<const WatchedBuffer> buffers, std::span<const WatchedBuffer> writable);
  ~OpenGuards();
  OpenGuards(const OpenGuards&) = delete;
  OpenGuards& operator=(const OpenGuards&) = delete;

 private:
  std::vector<std::byte*> pages_;
};

}  // namespace lathe
