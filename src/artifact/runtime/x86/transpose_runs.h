// A plane whose elements are runs of neighbours, multiples of 16 bytes long: vectors move them as they are,
// and what matters is the order in which lines are read and written. Private to the including file, as
// transpose_vectors.h is.
#pragma once

#include <immintrin.h>

#include "artifact/runtime/copy_plane.h"
#include "artifact/runtime/x86/transpose_lines.h"
#include "artifact/runtime/x86/transpose_vectors.h"

namespace lathe {
namespace {

// Of each of the source's rows so many runs are read at once, and less than so many bytes: as many of the
// destination's rows are written in turns, and the processor reads on by itself.
constexpr int64_t kRunsInTurn = 64;
constexpr int64_t kRunsInTurnBytes = 4096;

// What goes through the caches is copied in parts of so much along and across.
constexpr int64_t kPartAlong = 2048;   // bytes
constexpr int64_t kPartAcross = 1024;  // bytes

// Whole pieces, and where these do not end with the run, one more that does.
template <int kPiece>
inline void copy_pieces(const char* from, char* into, int64_t bytes) {
  for (int64_t i = 0; i + kPiece <= bytes; i += kPiece) __builtin_memcpy(into + i, from + i, kPiece);
  if (bytes % kPiece == 0) return;
  __builtin_memcpy(into + bytes - kPiece, from + bytes - kPiece, kPiece);
}

// `bytes`, or kBytes where that is not 0.
template <int kBytes>
inline void copy_short_run(const char* from, char* into, int64_t bytes) {
  if constexpr (kBytes > 0) {
    __builtin_memcpy(into, from, kBytes);
  } else if (bytes > kLineBytes) {
    copy_pieces<kLineBytes>(from, into, bytes);
  } else {
    copy_pieces<2 * kLaneBytes>(from, into, bytes);  // shorter ones are known
  }
}

// Whole lines of the source one behind the other, so that few rows of the destination are written in turns.
template <int kBytes>
inline void copy_runs(const CopyPlane& plane, int64_t bytes) {
  const int64_t of_line = bytes < kLineBytes ? kLineBytes / bytes : 1;
  for (int64_t begin = 0; begin < plane.along; begin += of_line) {
    const int64_t end = plane.along - begin < of_line ? plane.along : begin + of_line;
    for (int64_t across = 0; across < plane.across; ++across) {
      const char* const from = plane.from + across * plane.from_step;
      char* const into = plane.into + across * bytes;
      for (int64_t along = begin; along < end; ++along)
        copy_short_run<kBytes>(from + along * bytes, into + along * plane.into_step, bytes);
    }
  }
}

// Where the lanes of the destination's lines come from, if the first line begins so many lanes behind a run's
// beginning. It comes again after as many bytes as both lines and runs have whole: 1 KB at most.
struct LinePattern {
  int64_t offsets[4 * kLongestRun / kLaneBytes];

  LinePattern(int64_t first_lane, int64_t run_bytes, int64_t period_bytes, int64_t from_step) {
    for (int64_t lane = 0; lane < period_bytes / kLaneBytes; ++lane) {
      const int64_t place = (first_lane + lane) * kLaneBytes;
      offsets[lane] = place / run_bytes * from_step + place % run_bytes;
    }
  }
};

template <class Lanes>
inline void stream_lanes(const char* from, const int64_t* offsets, char* into) {
  for (int64_t lane = 0; lane < kLineBytes / kLaneBytes; lane += Lanes::kLanes)
    Lanes::stream(into + lane * kLaneBytes, Lanes::gather(from, offsets + lane));
}

// Bytes of one of the destination's rows, from `begin` to `end`.
inline void copy_piece(const CopyPlane& plane, int64_t along, int64_t bytes, int64_t begin, int64_t end) {
  while (begin < end) {
    const int64_t across = begin / bytes;
    const int64_t run_end = (across + 1) * bytes < end ? (across + 1) * bytes : end;
    const char* const from = plane.from + across * plane.from_step + along * bytes + begin % bytes;
    __builtin_memcpy(plane.into + along * plane.into_step + begin, from,
                     static_cast<size_t>(run_end - begin));
    begin = run_end;
  }
}

// How many bytes before the first whole line of a row of the destination.
inline int64_t bytes_before_line(const CopyPlane& plane, int64_t along) {
  const char* const row = plane.into + along * plane.into_step;
  return static_cast<int64_t>(-reinterpret_cast<uintptr_t>(row) % kLineBytes);
}

// Past the caches in whole lines; the ends of rows that do not begin and end with lines are copied.
template <class Lanes>
inline void stream_runs(const CopyPlane& plane, int64_t bytes) {
  int64_t period = bytes;
  while (period % kLineBytes != 0) period += bytes;
  const int64_t rows = period / bytes;
  const int64_t all_rows = (plane.across + rows - 1) / rows * rows;
  const LinePattern patterns[] = {{0, bytes, period, plane.from_step},
                                  {1, bytes, period, plane.from_step},
                                  {2, bytes, period, plane.from_step},
                                  {3, bytes, period, plane.from_step}};
  const int64_t most = kRunsInTurn * bytes < kRunsInTurnBytes ? kRunsInTurn : kRunsInTurnBytes / bytes;
  for (int64_t begin = 0; begin < plane.along; begin += most) {
    const int64_t end = plane.along - begin < most ? plane.along : begin + most;
    for (int64_t across = 0; across < plane.across; across += rows) {
      const char* const from = plane.from + across * plane.from_step;
      // Two ahead: a period's last line may end in the next one's first row.
      const int64_t ahead = across + 2 * rows;
      const char* const next = ahead < all_rows
                                   ? plane.from + ahead * plane.from_step
                                   : plane.from + (ahead - all_rows) * plane.from_step + most * bytes;
      for (int64_t along = begin; along < end; ++along) {
        // Each of the source's lines once.
        for (int64_t row = 0; along * bytes % kLineBytes < bytes && row < rows; ++row) {
          for (int64_t i = 0; i < bytes; i += kLineBytes)
            _mm_prefetch(next + row * plane.from_step + along * bytes + i, _MM_HINT_NTA);
        }
        const int64_t before = bytes_before_line(plane, along);
        if (before + (across + rows) * bytes > plane.across * bytes) continue;
        const LinePattern& pattern = patterns[before / kLaneBytes];
        char* const into = plane.into + along * plane.into_step + before + across * bytes;
        for (int64_t i = 0; i < period; i += kLineBytes)
          stream_lanes<Lanes>(from + along * bytes, pattern.offsets + i / kLaneBytes, into + i);
      }
    }
  }
  for (int64_t along = 0; along < plane.along; ++along) {
    const int64_t length = plane.across * bytes;
    const int64_t before =
        bytes_before_line(plane, along) < length ? bytes_before_line(plane, along) : length;
    copy_piece(plane, along, bytes, 0, before);
    copy_piece(plane, along, bytes, before + (length - before) / period * period, length);
  }
  _mm_sfence();
}

// Through the caches: small planes, and those whose destination's rows do not begin with lanes.
template <int kBytes>
inline void copy_parts(const CopyPlane& plane, int64_t bytes) {
  const int64_t columns = (kPartAlong + bytes - 1) / bytes;
  const int64_t rows = (kPartAcross + bytes - 1) / bytes;
  for (int64_t across = 0; across < plane.across; across += rows) {
    for (int64_t along = 0; along < plane.along; along += columns) {
      CopyPlane part = plane;
      part.from += across * plane.from_step + along * bytes;
      part.into += across * bytes + along * plane.into_step;
      part.along = plane.along - along < columns ? plane.along - along : columns;
      part.across = plane.across - across < rows ? plane.across - across : rows;
      copy_runs<kBytes>(part, bytes);
    }
  }
}

template <class Lanes, int kBytes>
inline void transpose_runs(const CopyPlane& plane, int64_t bytes) {
  const bool has_lanes =
      reinterpret_cast<uintptr_t>(plane.into) % kLaneBytes == 0 && plane.into_step % kLaneBytes == 0;
  if (plane.streams && has_lanes) return stream_runs<Lanes>(plane, bytes);
  copy_parts<kBytes>(plane, bytes);
}

}  // namespace
}  // namespace lathe
