// A plane transposed in vector registers: the code of copy_plane_avx2.cpp and copy_plane_avx512.cpp, for the
// widest vectors of the instructions that the including file is compiled for. Everything here is private to
// that file, so that no processor meets code that was compiled for another.
#pragma once

#include <immintrin.h>

#include "artifact/runtime/copy_plane.h"
#include "artifact/runtime/x86/transpose_blocks.h"
#include "artifact/runtime/x86/transpose_lines.h"
#include "artifact/runtime/x86/transpose_runs.h"
#include "artifact/runtime/x86/transpose_turns.h"
#include "artifact/runtime/x86/transpose_vectors.h"

namespace lathe {
namespace {

// One vector's width across, all along; a last tile that is not full begins earlier and does some again.
template <class Lanes, int kBytes>
inline void transpose_panel(const CopyPlane& plane, int64_t across) {
  constexpr int64_t kCount = lane_elements(kBytes);
  const char* const from = plane.from + across * plane.from_step;
  char* const into = plane.into + across * kBytes;
  const auto tile = [&](int64_t begin) {
    transpose_tile<Lanes, kBytes>(from + begin * kBytes, plane.from_step, into + begin * plane.into_step,
                                  plane.into_step);
  };
  int64_t along = 0;
  for (; along + kCount <= plane.along; along += kCount) tile(along);
  if (along < plane.along) tile(plane.along - kCount);
}

// The plane from `across` on, which has at least a lane's elements either way: panels of the widest vectors,
// the rest with the narrowest that hold it.
template <int kBytes, class Lanes, class... Narrower>
inline void transpose_panels(const CopyPlane& plane, int64_t across) {
  constexpr int64_t kWidth = lane_elements(kBytes) * Lanes::kLanes;
  for (; across + kWidth <= plane.across; across += kWidth) transpose_panel<Lanes, kBytes>(plane, across);
  const int64_t left = plane.across - across;
  if (left == 0) return;
  if constexpr (sizeof...(Narrower) > 0) {
    if (left <= kWidth / 2 || plane.across < kWidth)
      return transpose_panels<kBytes, Narrower...>(plane, across);
  }
  transpose_panel<Lanes, kBytes>(plane, plane.across - kWidth);
}

template <int kBytes>
inline void copy_element(const char* from, char* into) {
  __builtin_memcpy(into, from, kBytes);
}

// A plane too narrow for vectors: the longer of both dimensions is the inner loop.
template <int kBytes>
inline void transpose_elements(const CopyPlane& plane) {
  if (plane.along >= plane.across) {
    for (int64_t c = 0; c < plane.across; ++c) {
      const char* from = plane.from + c * plane.from_step;
      char* into = plane.into + c * kBytes;
      for (int64_t a = 0; a < plane.along; ++a)
        copy_element<kBytes>(from + a * kBytes, into + a * plane.into_step);
    }
  } else {
    for (int64_t a = 0; a < plane.along; ++a) {
      const char* from = plane.from + a * kBytes;
      char* into = plane.into + a * plane.into_step;
      for (int64_t c = 0; c < plane.across; ++c)
        copy_element<kBytes>(from + c * plane.from_step, into + c * kBytes);
    }
  }
}

template <int kBytes>
inline void transpose_widths(const CopyPlane& plane, int64_t across) {
#ifdef __AVX512BW__
  transpose_panels<kBytes, Lanes4, Lanes2, Lanes1>(plane, across);
#else
  transpose_panels<kBytes, Lanes2, Lanes1>(plane, across);
#endif
}

// Fewer elements along than a lane has: each row is read to the lane's end, where there is more of the plane,
// and what is not the row's is left out. Gives how far across it came.
template <class Lanes, int kBytes>
inline int64_t transpose_short_rows(const CopyPlane& plane) {
  constexpr int64_t kCount = lane_elements(kBytes);
  constexpr int64_t kWidth = kCount * Lanes::kLanes;
  const int64_t end = (plane.across - 1) * plane.from_step + plane.along * kBytes;
  int64_t across = 0;
  for (; across + kWidth <= plane.across && (across + kWidth - 1) * plane.from_step + 16 <= end;
       across += kWidth) {
    typename Lanes::Vector vectors[kCount];
    const char* const from = plane.from + across * plane.from_step;
#pragma GCC unroll 16
    for (int64_t i = 0; i < kCount; ++i)
      vectors[i] = Lanes::load(from + i * plane.from_step, kCount * plane.from_step);
    transpose_vectors<Lanes, kBytes>(vectors);
    char* const into = plane.into + across * kBytes;
#pragma GCC unroll 16
    for (int64_t i = 0; i < kCount; ++i)
      if (i < plane.along) Lanes::store(into + i * plane.into_step, vectors[i]);
  }
  return across;
}

// Fewer elements across than a lane has, and one group after another where they go: what a vector writes
// behind its group, the next one overwrites. Gives how far along it came.
template <int kBytes>
inline int64_t transpose_short_groups(const CopyPlane& plane) {
  constexpr int64_t kCount = lane_elements(kBytes);
  const int64_t end = plane.along * plane.into_step;
  int64_t along = 0;
  for (; (along + kCount - 1) * plane.into_step + 16 <= end; along += kCount) {
    Lanes1::Vector vectors[kCount];
#pragma GCC unroll 16
    for (int64_t i = 0; i < kCount; ++i) {
      const int64_t row = i < plane.across ? i : plane.across - 1;
      vectors[i] = Lanes1::load(plane.from + row * plane.from_step + along * kBytes, 0);
    }
    transpose_vectors<Lanes1, kBytes>(vectors);
    char* const into = plane.into + along * plane.into_step;
#pragma GCC unroll 16
    for (int64_t i = 0; i < kCount; ++i) Lanes1::store(into + i * plane.into_step, vectors[i]);
  }
  return along;
}

// The part of the plane that lies in whole lines across, where that is to be done block by block or line by
// line.
template <class Lanes, int kBytes>
inline LinesDone transpose_in_lines(const CopyPlane& plane) {
  constexpr int64_t kLine = kLineBytes / kBytes;
  const bool has_lines =
      reinterpret_cast<uintptr_t>(plane.into) % kLineBytes == 0 && plane.into_step % kLineBytes == 0;
  if (goes_in_blocks<Lanes>(plane, kBytes)) {
    if (!plane.streams) return transpose_blocks<Lanes, kBytes, LineWrites::stored>(plane);
    if (has_lines) return transpose_blocks<Lanes, kBytes, LineWrites::streamed>(plane);
  }
  if (plane.streams && has_lines) return transpose_lines<Lanes, kBytes, LineWrites::streamed>(plane);
  if (plane.streams && plane.along <= kKeptRows && plane.across >= kKeptLines * kLine)
    return transpose_lines<Lanes, kBytes, LineWrites::kept>(plane);
  if (rows_collide(kLine, plane.from_step)) return transpose_lines<Lanes, kBytes, LineWrites::stored>(plane);
  return {0, 0};
}

template <int kBytes>
inline void transpose_sized(const CopyPlane& plane) {
  CopyPlane rest = plane;
  if (plane.along < lane_elements(kBytes)) {
    const int64_t turned = transpose_turns<kBytes, false>(plane);
    const int64_t done = turned > 0 ? turned : transpose_short_rows<Widest, kBytes>(plane);
    rest.across -= done;
    rest.from += done * plane.from_step;
    rest.into += done * kBytes;
    transpose_elements<kBytes>(rest);
  } else if (plane.across < lane_elements(kBytes)) {
    const bool is_dense = plane.into_step == plane.across * kBytes;
    const int64_t turned = transpose_turns<kBytes, true>(plane);
    const int64_t done = turned > 0 || !is_dense ? turned : transpose_short_groups<kBytes>(plane);
    rest.along -= done;
    rest.from += done * kBytes;
    rest.into += done * plane.into_step;
    transpose_elements<kBytes>(rest);
  } else if (const int64_t head = elements_before_line<kBytes>(plane);
             plane.streams && goes_in_blocks<Widest>(plane, kBytes) && head > 0 && head < plane.across) {
    CopyPlane first = plane;
    first.across = head;
    first.streams = false;
    transpose_sized<kBytes>(first);
    rest.across -= head;
    rest.from += head * plane.from_step;
    rest.into += head * kBytes;
    transpose_sized<kBytes>(rest);
  } else {
    const LinesDone done = transpose_in_lines<Widest, kBytes>(plane);
    if (done.across > 0 && done.along < plane.along) {
      const int64_t along = plane.along - lane_elements(kBytes);
      rest.along = lane_elements(kBytes);
      rest.across = done.across;
      rest.from += along * kBytes;
      rest.into += along * plane.into_step;
      transpose_widths<kBytes>(rest, 0);
    }
    transpose_widths<kBytes>(plane, done.across);
  }
}

inline void transpose_plane(const CopyPlane& plane, int32_t element_bytes) {
  switch (element_bytes) {
    case 1: return transpose_sized<1>(plane);
    case 2: return transpose_sized<2>(plane);
    case 4: return transpose_sized<4>(plane);
    case 8: return transpose_sized<8>(plane);
    case 16: return transpose_runs<Widest, 16>(plane, element_bytes);
    case 32: return transpose_runs<Widest, 32>(plane, element_bytes);
    case 64: return transpose_runs<Widest, 64>(plane, element_bytes);
    default: return transpose_runs<Widest, 0>(plane, element_bytes);
  }
}

}  // namespace
}  // namespace lathe
