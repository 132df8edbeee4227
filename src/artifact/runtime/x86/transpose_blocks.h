// A plane transposed block by block: what is read is gathered first, side by side, so that neither side's
// rows displace each other where they lie a multiple of many lines apart. Private to the including file, as
// transpose_vectors.h is.
#pragma once

#include <immintrin.h>

#include "artifact/runtime/copy_plane.h"
#include "artifact/runtime/x86/transpose_lines.h"
#include "artifact/runtime/x86/transpose_vectors.h"

namespace lathe {
namespace {

// What is gathered of a block, on the stack: of each of so many of the source's rows so many bytes. Past the
// caches the processor has to read on; within them two lines do, and callers of small tensors may have small
// stacks.
template <int kBytes, LineWrites kWrites>
struct Block {
  static constexpr bool kStreams = kWrites == LineWrites::streamed;
  static constexpr int64_t kAlong = kStreams ? kBlockAlong : 2 * kLineBytes;
  static constexpr int64_t kRows = 4 * kLineBytes / kBytes;
  static constexpr int64_t kStep = kAlong + kLineBytes;  // neighbours begin in different sets
  alignas(kLineBytes) char rows[kRows * kStep];
};

// Rows of a destination that lie a power of two apart, so many bytes from the first to the last, displace
// each other's lines: from the first cache, where vectors write half lines, before the other half comes; from
// the second one, half of 1 MB, while neighbours of whole lines are fetched.
template <class Lanes>
constexpr int64_t kDisplacedBytes = Line<Lanes>::kVectorBytes < kLineBytes ? 8 * kWayBytes : 512 << 10;

// Past the caches few rows of a destination do not collide, and of less than two lines of the source's each
// there is more to gather than it gains.
template <class Lanes>
inline bool goes_in_blocks(const CopyPlane& plane, int64_t element_bytes) {
  const int64_t run = plane.along * element_bytes;
  if (plane.streams) return plane.into_step % kCollidingStep == 0 && run >= 2 * kLineBytes;
  const int64_t apart = plane.into_step & -plane.into_step;
  const bool displaces = apart >= kCollidingStep && plane.along * apart >= kDisplacedBytes<Lanes>;
  return (apart >= kWayBytes || displaces) && run >= kLineBytes;
}

// Elements across before the first whole line of each row, where rows begin alike.
template <int kBytes>
inline int64_t elements_before_line(const CopyPlane& plane) {
  return static_cast<int64_t>(-reinterpret_cast<uintptr_t>(plane.into) % kLineBytes) / kBytes;
}

// `bytes` are a multiple of 16.
template <class Lanes, class Gathered>
inline void gather_rows(const char* from, int64_t from_step, int64_t rows, int64_t bytes, Gathered& block) {
  for (int64_t row = 0; row < rows; ++row) {
    const char* const source = from + row * from_step;
    char* const target = block.rows + row * Gathered::kStep;
    int64_t i = 0;
    for (; i + kLineBytes <= bytes; i += kLineBytes) Line<Lanes>(source + i).store(target + i);
    for (; i < bytes; i += 16) __builtin_memcpy(target + i, source + i, 16);
  }
}

// The plane's part that one block holds, whole lines across. What comes `next` is fetched near meanwhile, in
// turns with the stores.
template <class Lanes, int kBytes, LineWrites kWrites>
inline void transpose_block(const CopyPlane& plane, const char* next) {
  constexpr int64_t kCount = lane_elements(kBytes);
  constexpr int64_t kLine = kLineBytes / kBytes;
  using Gathered = Block<kBytes, kWrites>;
  Gathered block;
  const int64_t bytes = plane.along * kBytes;
  gather_rows<Lanes>(plane.from, plane.from_step, plane.across, bytes, block);
  int64_t fetched = 0;
  for (int64_t along = 0; along < plane.along; along += kCount) {
    const int64_t until = (along + kCount) * Gathered::kRows / plane.along;
    for (; fetched < until; ++fetched) {
      for (int64_t i = 0; i < bytes; i += kLineBytes)
        _mm_prefetch(next + fetched * plane.from_step + i, _MM_HINT_T1);
    }
    for (int64_t across = 0; across < plane.across; across += kLine) {
      transpose_whole_lines<Lanes, kBytes, kWrites>(
          block.rows + across * Gathered::kStep + along * kBytes, Gathered::kStep,
          plane.into + along * plane.into_step + across * kBytes, plane.into_step);
    }
  }
}

template <class Lanes, int kBytes, LineWrites kWrites>
inline LinesDone transpose_blocks(const CopyPlane& plane) {
  constexpr int64_t kLine = kLineBytes / kBytes;
  constexpr int64_t kRows = Block<kBytes, kWrites>::kRows;
  constexpr int64_t kColumns = Block<kBytes, kWrites>::kAlong / kBytes;
  const LinesDone done = {plane.along / lane_elements(kBytes) * lane_elements(kBytes),
                          plane.across / kLine * kLine};
  for (int64_t along = 0; along < done.along; along += kColumns) {
    for (int64_t across = 0; across < done.across; across += kRows) {
      CopyPlane block = plane;
      block.from += across * plane.from_step + along * kBytes;
      block.into += across * kBytes + along * plane.into_step;
      block.along = done.along - along < kColumns ? done.along - along : kColumns;
      block.across = done.across - across < kRows ? done.across - across : kRows;
      const bool is_last = across + kRows >= done.across;
      const char* const next =
          is_last ? plane.from + (along + kColumns) * kBytes : block.from + kRows * plane.from_step;
      transpose_block<Lanes, kBytes, kWrites>(block, next);
    }
  }
  if constexpr (kWrites == LineWrites::streamed) _mm_sfence();
  return done;
}

}  // namespace
}  // namespace lathe
