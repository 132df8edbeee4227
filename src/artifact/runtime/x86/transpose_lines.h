// A plane transposed line by line where it goes: what would displace its own lines in the first cache, and
// what goes past the caches. Private to the including file, as transpose_vectors.h is.
#pragma once

#include <immintrin.h>

#include "artifact/runtime/copy_plane.h"
#include "artifact/runtime/x86/transpose_vectors.h"

namespace lathe {
namespace {

constexpr int64_t kWayBytes = 4096;  // of the first cache
// How far along its last rows are fetched, which no others follow.
constexpr int64_t kFetchedBytes = 8 * kLineBytes;

// Whether so many rows fall on so few sets of the first cache that lines are gone before they are used up: a
// way has 4 KB, and there are at least 8.
inline bool rows_collide(int64_t rows, int64_t step) {
  const int64_t apart = (step | kWayBytes) & -(step | kWayBytes);
  return rows * apart >= 8 * kWayBytes;
}

// Lines of so many rows are read one behind the other before they are transposed: where tiles read them, each
// waits for fewer misses at once, and 64 rows took a tenth longer. Of 8 to 32 rows the copy gains nothing.
constexpr int64_t kGatheredRows = 64;

// How lines are written: where they lie, through the caches or past them; or, where rows do not begin with
// lines, past the caches by way of a piece of each row that is kept.
enum class LineWrites { stored, streamed, kept };

// One line in registers, from any address; `stream` is past the caches, to where a line begins.
template <class Lanes>
struct Line {
  static constexpr int64_t kVectorBytes = static_cast<int64_t>(sizeof(typename Lanes::Vector));
  typename Lanes::Vector vectors[kLineBytes / kVectorBytes];

  explicit Line(const char* from) {
    for (int64_t i = 0; i * kVectorBytes < kLineBytes; ++i) vectors[i] = Lanes::read(from + i * kVectorBytes);
  }
  void store(char* into) const {
    for (int64_t i = 0; i * kVectorBytes < kLineBytes; ++i) Lanes::store(into + i * kVectorBytes, vectors[i]);
  }
  void stream(char* into) const {
    for (int64_t i = 0; i * kVectorBytes < kLineBytes; ++i)
      Lanes::stream(into + i * kVectorBytes, vectors[i]);
  }
};

// A row's last two pieces, each as long as a line: what is written of them is read so long after it came that
// it lies in a cache. Vectors read from what the processor has yet to store there would wait for all stores
// before, and those past the caches take long: that halved the rate.
constexpr int64_t kKeptBytes = 2 * kLineBytes;
constexpr int64_t kKeptLines = 8;  // of fewer, those that are not written whole take as long

// Of so many pieces of a row, which go up to `end`: writes the last line that they fill, or what the first
// one has of the line that it begins in; makes place for the next piece.
template <class Lanes>
inline void write_line(char* kept, char* end, int64_t pieces) {
  if (pieces == 0) return;
  const int64_t left = static_cast<int64_t>(reinterpret_cast<uintptr_t>(end) % kLineBytes);
  const Line<Lanes> last(kept + kLineBytes);
  if (pieces == 1 && left > 0) {
    __builtin_memcpy(end - kLineBytes, kept + kLineBytes, static_cast<size_t>(kLineBytes - left));
  } else {
    Line<Lanes>(kept + kLineBytes - left).stream(end - kLineBytes - left);
  }
  last.store(kept);
}

// The last line, and what the last piece has of the next one.
template <class Lanes>
inline void write_end(char* kept, char* end, int64_t pieces) {
  write_line<Lanes>(kept, end, pieces);
  const int64_t left = static_cast<int64_t>(reinterpret_cast<uintptr_t>(end) % kLineBytes);
  __builtin_memcpy(end - left, kept + kKeptBytes - left, static_cast<size_t>(left));
}

// How far lines were written: along to less than a lane's elements before the end.
struct LinesDone {
  int64_t along;
  int64_t across;
};

// So many lines as a lane has elements, each written whole. They do not go by way of memory where the
// registers hold them: what is stored there waits for the stores past the caches before it.
template <class Lanes, int kBytes, LineWrites kWrites>
inline void transpose_whole_lines(const char* from, int64_t from_step, char* into, int64_t into_step) {
  constexpr int64_t kCount = lane_elements(kBytes);
  constexpr int64_t kWidth = kCount * Lanes::kLanes;
  constexpr int64_t kParts = kLineBytes / kBytes / kWidth;
  typename Lanes::Vector parts[kParts][kCount];
#pragma GCC unroll 4
  for (int64_t part = 0; part < kParts; ++part)
    load_tile<Lanes, kBytes>(from + part * kWidth * from_step, from_step, parts[part]);
#pragma GCC unroll 16
  for (int64_t i = 0; i < kCount; ++i) {
#pragma GCC unroll 4
    for (int64_t part = 0; part < kParts; ++part) {
      char* const target = into + i * into_step + part * kWidth * kBytes;
      if constexpr (kWrites == LineWrites::streamed) {
        Lanes::stream(target, parts[part][i]);
      } else {
        Lanes::store(target, parts[part][i]);
      }
    }
  }
}

// As many elements across as a line holds, `count` of them along, from and to where the plane begins. Where
// it `gathers`, lines are first read whole, side by side. Each is fetched near while the one `ahead` of it,
// in bytes, is written: so many rows at once the processor does not fetch by itself.
template <class Lanes, int kBytes, LineWrites kWrites>
inline void transpose_line(const CopyPlane& plane, int64_t count, bool gathers, int64_t ahead, char* kept,
                           int64_t pieces) {
  constexpr int64_t kCount = lane_elements(kBytes);
  constexpr int64_t kWidth = kCount * Lanes::kLanes;
  constexpr int64_t kLine = kLineBytes / kBytes;
  alignas(kLineBytes) char lines[kLine * kLineBytes];
  const char* from = plane.from;
  int64_t from_step = plane.from_step;
  if (gathers && count == kLine) {
    for (int64_t i = 0; i < kLine; ++i) Line<Lanes>(from + i * from_step).store(lines + i * kLineBytes);
    from = lines;
    from_step = kLineBytes;
  }
  for (int64_t k = 0; k < count; k += kCount) {
    char* into = plane.into + k * plane.into_step;
    if constexpr (kWrites != LineWrites::stored) {
      for (int64_t i = 0; i < kCount; ++i)
        _mm_prefetch(plane.from + (k + i) * plane.from_step + ahead, _MM_HINT_T1);
    }
    if constexpr (kWrites == LineWrites::kept) {
      char* const row = kept + k * kKeptBytes;
      for (int64_t i = 0; i < kCount; ++i)
        write_line<Lanes>(row + i * kKeptBytes, into + i * plane.into_step, pieces);
      for (int64_t i = 0; i < kLine; i += kWidth)
        transpose_tile<Lanes, kBytes>(from + i * from_step + k * kBytes, from_step,
                                      row + kLineBytes + i * kBytes, kKeptBytes);
    } else if constexpr (kWrites == LineWrites::streamed) {
      transpose_whole_lines<Lanes, kBytes, kWrites>(from + k * kBytes, from_step, into, plane.into_step);
    } else {
      for (int64_t i = 0; i < kLine; i += kWidth)
        transpose_tile<Lanes, kBytes>(from + i * from_step + k * kBytes, from_step, into + i * kBytes,
                                      plane.into_step);
    }
  }
}

template <class Lanes, int kBytes, LineWrites kWrites>
inline LinesDone transpose_lines(const CopyPlane& plane) {
  constexpr int64_t kCount = lane_elements(kBytes);
  constexpr int64_t kLine = kLineBytes / kBytes;
  constexpr bool kKeeps = kWrites == LineWrites::kept;
  alignas(kLineBytes) char kept[kKeeps ? kKeptRows * kKeptBytes : 1];
  const bool gathers = kLine >= kGatheredRows || rows_collide(kLine, plane.from_step);
  const LinesDone done = {plane.along / kCount * kCount, plane.across / kLine * kLine};
  CopyPlane line = plane;
  for (int64_t across = 0; across < done.across; across += kLine) {
    const int64_t ahead = across + kLine < done.across ? kLine * plane.from_step : kFetchedBytes;
    for (int64_t along = 0; along < done.along; along += kLine) {
      line.from = plane.from + across * plane.from_step + along * kBytes;
      line.into = plane.into + across * kBytes + along * plane.into_step;
      const int64_t count = done.along - along < kLine ? done.along - along : kLine;
      transpose_line<Lanes, kBytes, kWrites>(line, count, gathers, ahead,
                                             kept + (kKeeps ? along * kKeptBytes : 0), across / kLine);
    }
  }
  if constexpr (kKeeps) {
    char* const end = plane.into + done.across * kBytes;
    for (int64_t along = 0; along < done.along; ++along)
      write_end<Lanes>(kept + along * kKeptBytes, end + along * plane.into_step, done.across / kLine);
  }
  if constexpr (kWrites != LineWrites::stored) _mm_sfence();
  return done;
}

}  // namespace
}  // namespace lathe
