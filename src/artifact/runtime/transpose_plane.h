// A plane transposed in vector registers: the code of copy_plane_avx2.cpp and copy_plane_avx512.cpp, for the
// widest vectors of the instructions that the including file is compiled for. Everything here is private to
// that file, so that no processor meets code that was compiled for another.
#pragma once

#include <immintrin.h>

#include "artifact/runtime/copy_plane.h"

namespace lathe {
namespace {

// A vector is a row of lanes of 16 bytes. `load` fills each lane from another row; `low` and `high` take
// elements in turns from the lower or upper halves of two vectors' lanes; `stream` is a store past the caches
// where a vector is a whole line, at its address.
struct Lanes1 {
  using Vector = __m128i;
  static constexpr int64_t kLanes = 1;
  static Vector load(const char* from, int64_t) {
    return _mm_loadu_si128(reinterpret_cast<const Vector*>(from));
  }
  static void stream(char* into, Vector value) { store(into, value); }
  static void store(char* into, Vector value) { _mm_storeu_si128(reinterpret_cast<Vector*>(into), value); }
  template <int kBytes>
  static Vector low(Vector a, Vector b) {
    if constexpr (kBytes == 1) return _mm_unpacklo_epi8(a, b);
    if constexpr (kBytes == 2) return _mm_unpacklo_epi16(a, b);
    if constexpr (kBytes == 4) return _mm_unpacklo_epi32(a, b);
    if constexpr (kBytes == 8) return _mm_unpacklo_epi64(a, b);
  }
  template <int kBytes>
  static Vector high(Vector a, Vector b) {
    if constexpr (kBytes == 1) return _mm_unpackhi_epi8(a, b);
    if constexpr (kBytes == 2) return _mm_unpackhi_epi16(a, b);
    if constexpr (kBytes == 4) return _mm_unpackhi_epi32(a, b);
    if constexpr (kBytes == 8) return _mm_unpackhi_epi64(a, b);
  }
};

struct Lanes2 {
  using Vector = __m256i;
  static constexpr int64_t kLanes = 2;
  static Vector load(const char* from, int64_t step) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(Lanes1::load(from, 0)),
                                   Lanes1::load(from + step, 0), 1);
  }
  static void stream(char* into, Vector value) { store(into, value); }
  static void store(char* into, Vector value) { _mm256_storeu_si256(reinterpret_cast<Vector*>(into), value); }
  template <int kBytes>
  static Vector low(Vector a, Vector b) {
    if constexpr (kBytes == 1) return _mm256_unpacklo_epi8(a, b);
    if constexpr (kBytes == 2) return _mm256_unpacklo_epi16(a, b);
    if constexpr (kBytes == 4) return _mm256_unpacklo_epi32(a, b);
    if constexpr (kBytes == 8) return _mm256_unpacklo_epi64(a, b);
  }
  template <int kBytes>
  static Vector high(Vector a, Vector b) {
    if constexpr (kBytes == 1) return _mm256_unpackhi_epi8(a, b);
    if constexpr (kBytes == 2) return _mm256_unpackhi_epi16(a, b);
    if constexpr (kBytes == 4) return _mm256_unpackhi_epi32(a, b);
    if constexpr (kBytes == 8) return _mm256_unpackhi_epi64(a, b);
  }
};

#ifdef __AVX512BW__
struct Lanes4 {
  using Vector = __m512i;
  static constexpr int64_t kLanes = 4;
  static Vector load(const char* from, int64_t step) {
    const Vector one =
        _mm512_inserti32x4(_mm512_castsi128_si512(Lanes1::load(from, 0)), Lanes1::load(from + step, 0), 1);
    const Vector two = _mm512_inserti32x4(one, Lanes1::load(from + 2 * step, 0), 2);
    return _mm512_inserti32x4(two, Lanes1::load(from + 3 * step, 0), 3);
  }
  static void stream(char* into, Vector value) {
    _mm512_stream_si512(reinterpret_cast<Vector*>(into), value);
  }
  static void store(char* into, Vector value) { _mm512_storeu_si512(into, value); }
  template <int kBytes>
  static Vector low(Vector a, Vector b) {
    if constexpr (kBytes == 1) return _mm512_unpacklo_epi8(a, b);
    if constexpr (kBytes == 2) return _mm512_unpacklo_epi16(a, b);
    if constexpr (kBytes == 4) return _mm512_unpacklo_epi32(a, b);
    if constexpr (kBytes == 8) return _mm512_unpacklo_epi64(a, b);
  }
  template <int kBytes>
  static Vector high(Vector a, Vector b) {
    if constexpr (kBytes == 1) return _mm512_unpackhi_epi8(a, b);
    if constexpr (kBytes == 2) return _mm512_unpackhi_epi16(a, b);
    if constexpr (kBytes == 4) return _mm512_unpackhi_epi32(a, b);
    if constexpr (kBytes == 8) return _mm512_unpackhi_epi64(a, b);
  }
};
#endif

// How many elements of a size a lane holds: a tile has so many along, and so many times the lanes across.
constexpr int64_t lane_elements(int bytes) { return 16 / bytes; }

// Elements across become neighbours. Vector i has in lane l what row i + l * (elements of a lane) has along;
// its elements meet those of the other vectors in as many rounds as halve the lane to single elements.
template <class Lanes, int kBytes>
inline void transpose_vectors(typename Lanes::Vector (&vectors)[lane_elements(kBytes)]) {
  constexpr int64_t kCount = lane_elements(kBytes);
#pragma GCC unroll 4
  for (int64_t rest = kCount; rest > 1; rest /= 2) {
    typename Lanes::Vector mixed[kCount];
#pragma GCC unroll 8
    for (int64_t i = 0; i < kCount / 2; ++i) {
      mixed[2 * i] = Lanes::template low<kBytes>(vectors[i], vectors[i + kCount / 2]);
      mixed[2 * i + 1] = Lanes::template high<kBytes>(vectors[i], vectors[i + kCount / 2]);
    }
#pragma GCC unroll 16
    for (int64_t i = 0; i < kCount; ++i) vectors[i] = mixed[i];
  }
}

template <class Lanes, int kBytes, bool kStreams = false>
inline void transpose_tile(const char* from, int64_t from_step, char* into, int64_t into_step) {
  constexpr int64_t kCount = lane_elements(kBytes);
  typename Lanes::Vector vectors[kCount];
#pragma GCC unroll 16
  for (int64_t i = 0; i < kCount; ++i) vectors[i] = Lanes::load(from + i * from_step, kCount * from_step);
  transpose_vectors<Lanes, kBytes>(vectors);
#pragma GCC unroll 16
  for (int64_t i = 0; i < kCount; ++i) {
    if constexpr (kStreams) {
      Lanes::stream(into + i * into_step, vectors[i]);
    } else {
      Lanes::store(into + i * into_step, vectors[i]);
    }
  }
}

constexpr int64_t kLineBytes = 64;
constexpr int64_t kWayBytes = 4096;  // of the first cache

// Whether so many rows fall on so few sets of the first cache that lines are gone before they are used up: a
// way has 4 KB, and there are at least 8.
inline bool rows_collide(int64_t rows, int64_t step) {
  const int64_t apart = (step | kWayBytes) & -(step | kWayBytes);
  return rows * apart >= 8 * kWayBytes;
}

// One vector's width across, all along; a last tile that is not full begins earlier and does some again.
template <class Lanes, int kBytes, bool kStreams = false>
inline void transpose_panel(const CopyPlane& plane, int64_t across) {
  constexpr int64_t kCount = lane_elements(kBytes);
  const char* const from = plane.from + across * plane.from_step;
  char* const into = plane.into + across * kBytes;
  const auto tile = [&](int64_t begin) {
    transpose_tile<Lanes, kBytes, kStreams>(from + begin * kBytes, plane.from_step,
                                            into + begin * plane.into_step, plane.into_step);
  };
  int64_t along = 0;
  for (; along + kCount <= plane.along; along += kCount) tile(along);
  if (along < plane.along) tile(plane.along - kCount);
}

// As many elements across as a line holds, all along: lines are read whole, side by side, before any is
// transposed, and written whole.
template <class Lanes, int kBytes, bool kStreams>
inline void transpose_lines(const CopyPlane& plane, int64_t across) {
  constexpr int64_t kCount = lane_elements(kBytes);
  constexpr int64_t kWidth = kCount * Lanes::kLanes;
  constexpr int64_t kLine = kLineBytes / kBytes;
  int64_t along = 0;
  for (; along + kLine <= plane.along; along += kLine) {
    alignas(kLineBytes) char lines[kLine * kLineBytes];
    const char* const from = plane.from + across * plane.from_step + along * kBytes;
    for (int64_t i = 0; i < kLine; ++i)
      __builtin_memcpy(lines + i * kLineBytes, from + i * plane.from_step, kLineBytes);
    char* const into = plane.into + across * kBytes + along * plane.into_step;
    for (int64_t k = 0; k < kLine; k += kCount) {
      for (int64_t i = 0; i < kLine; i += kWidth) {
        transpose_tile<Lanes, kBytes, kStreams>(lines + i * kLineBytes + k * kBytes, kLineBytes,
                                                into + i * kBytes + k * plane.into_step, plane.into_step);
      }
    }
  }
  if (along == plane.along) return;
  if (along + kCount > plane.along) along = plane.along - kCount;
  const CopyPlane rest = {plane.from + along * kBytes,
                          plane.into + along * plane.into_step,
                          plane.along - along,
                          plane.across,
                          plane.from_step,
                          plane.into_step,
                          false};
  for (int64_t i = 0; i < kLine; i += kWidth) transpose_panel<Lanes, kBytes>(rest, across + i);
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

// The part of the plane that lies in whole lines where it goes, where that must be done line by line; gives
// how far across it came.
template <int kBytes, class Lanes>
inline int64_t transpose_in_lines(const CopyPlane& plane) {
  constexpr int64_t kLine = kLineBytes / kBytes;
  const bool writes_lines = sizeof(typename Lanes::Vector) == kLineBytes &&
                            reinterpret_cast<uintptr_t>(plane.into) % kLineBytes == 0 &&
                            plane.into_step % kLineBytes == 0;
  const bool streams = plane.streams && writes_lines;
  const bool collides = rows_collide(kLine, plane.from_step);
  int64_t across = 0;
  if (!streams && !collides) return across;
  for (; across + kLine <= plane.across; across += kLine) {
    if (streams && collides) {
      transpose_lines<Lanes, kBytes, true>(plane, across);
    } else if (streams) {
      transpose_panel<Lanes, kBytes, true>(plane, across);
    } else {
      transpose_lines<Lanes, kBytes, false>(plane, across);
    }
  }
  return across;
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

#ifdef __AVX512BW__
using Widest = Lanes4;
#else
using Widest = Lanes2;
#endif

template <int kBytes>
inline void transpose_sized(const CopyPlane& plane) {
  CopyPlane rest = plane;
  if (plane.along < lane_elements(kBytes)) {
    const int64_t done = transpose_short_rows<Widest, kBytes>(plane);
    rest.across -= done;
    rest.from += done * plane.from_step;
    rest.into += done * kBytes;
    transpose_elements<kBytes>(rest);
  } else if (plane.across < lane_elements(kBytes)) {
    const bool is_dense = plane.into_step == plane.across * kBytes;
    const int64_t done = is_dense ? transpose_short_groups<kBytes>(plane) : 0;
    rest.along -= done;
    rest.from += done * kBytes;
    rest.into += done * plane.into_step;
    transpose_elements<kBytes>(rest);
  } else {
    const int64_t done = transpose_in_lines<kBytes, Widest>(plane);
#ifdef __AVX512BW__
    transpose_panels<kBytes, Lanes4, Lanes2, Lanes1>(plane, done);
    if (plane.streams) _mm_sfence();
#else
    transpose_panels<kBytes, Lanes2, Lanes1>(plane, done);
#endif
  }
}

inline void transpose_plane(const CopyPlane& plane, int32_t element_bytes) {
  switch (element_bytes) {
    case 1: return transpose_sized<1>(plane);
    case 2: return transpose_sized<2>(plane);
    case 4: return transpose_sized<4>(plane);
    default: return transpose_sized<8>(plane);
  }
}

}  // namespace
}  // namespace lathe
