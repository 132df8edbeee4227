// Two dimensions of a copy: `along` has neighbours side by side where they come from, `across` where they go.
// Files that are compiled for some processors alone see no other header of the runtime.
#pragma once

#include <cstdint>

namespace lathe {

constexpr int64_t kLineBytes = 64;  // of the caches

// Of planes that go past the caches line by line, so many elements along at most: 128 bytes of each are kept
// on the stack, which the second-level cache holds. Longer runs are read at a better rate.
constexpr int64_t kKeptRows = 1024;

// Destination's rows a multiple of this apart share an eighth of the sets of the first cache or fewer, and of
// what lies behind it. Planes of them go past the caches in blocks, each of so much of the source's rows:
// that much side by side the processor fetches ahead by itself.
constexpr int64_t kCollidingStep = 512;  // bytes
constexpr int64_t kBlockAlong = 512;     // bytes

// An element is one of the tensor's, or a run of several that are neighbours on both sides, of so many bytes
// at most. Those that make up lanes of a vector go past the caches.
constexpr int64_t kLongestRun = 256;
constexpr int64_t kLaneBytes = 16;

struct CopyPlane {
  const char* from = nullptr;
  char* into = nullptr;
  int64_t along = 0;  // elements
  int64_t across = 0;
  int64_t from_step = 0;  // bytes from one element to the next across
  int64_t into_step = 0;  // bytes from one element to the next along
  bool streams = false;   // whole lines go past the caches: the tensor is larger than these
};

}  // namespace lathe
