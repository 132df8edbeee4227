// Two to four rows whose elements go side by side in turns, as the channels of an image, and such elements
// back to rows. Private to the including file, as transpose_vectors.h is.
#pragma once

#include <immintrin.h>

#include "artifact/runtime/copy_plane.h"
#include "artifact/runtime/x86/transpose_vectors.h"

namespace lathe {
namespace {

// As many vectors of one side as there are rows hold the same elements as those of the other: each byte of a
// vector comes from one byte of one of them. Masks of each vector for each that it takes bytes from.
template <int kRows>
struct TurnMasks {
  alignas(16) unsigned char bytes[kRows][kRows][16] = {};
};

constexpr unsigned char kNoByte = 0x80;

template <int kBytes, int kRows, bool kIntoTurns>
constexpr TurnMasks<kRows> turn_masks() {
  TurnMasks<kRows> masks;
  for (int vector = 0; vector < kRows; ++vector) {
    for (int byte = 0; byte < 16; ++byte) {
      const int place = kIntoTurns ? (vector * 16 + byte) / kBytes : byte / kBytes * kRows + vector;
      const int other = kIntoTurns ? place % kRows : place * kBytes / 16;
      const int begin = kIntoTurns ? place / kRows * kBytes : place * kBytes % 16;
      for (int i = 0; i < kRows; ++i)
        masks.bytes[vector][i][byte] =
            i == other ? static_cast<unsigned char>(begin + byte % kBytes) : kNoByte;
    }
  }
  return masks;
}

// Vectors `step` bytes apart to others, `count` times.
template <int kBytes, int kRows, bool kIntoTurns>
inline void shuffle_turns(const char* from, int64_t from_step, char* into, int64_t into_step, int64_t count) {
  static constexpr TurnMasks<kRows> kMasks = turn_masks<kBytes, kRows, kIntoTurns>();
  constexpr int64_t kInTurns = 16 * kRows;
  for (int64_t n = 0; n < count; ++n) {
    __m128i vectors[kRows];
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) vectors[i] = Lanes1::load(from + i * from_step, 0);
#pragma GCC unroll 4
    for (int vector = 0; vector < kRows; ++vector) {
      __m128i all = _mm_setzero_si128();
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) {
        const auto* const mask = reinterpret_cast<const __m128i*>(kMasks.bytes[vector][i]);
        all = _mm_or_si128(all, _mm_shuffle_epi8(vectors[i], _mm_load_si128(mask)));
      }
      Lanes1::store(into + vector * into_step, all);
    }
    from += kIntoTurns ? 16 : kInTurns;
    into += kIntoTurns ? kInTurns : 16;
  }
}

// Gives how far along it came, where elements are in turns where they go, or else across.
template <int kBytes, bool kIntoTurns>
inline int64_t transpose_turns(const CopyPlane& plane) {
  constexpr int64_t kCount = lane_elements(kBytes);
  const int64_t rows = kIntoTurns ? plane.across : plane.along;
  if ((kIntoTurns ? plane.into_step : plane.from_step) != rows * kBytes) return 0;
  const int64_t count = (kIntoTurns ? plane.along : plane.across) / kCount;
  const int64_t from_step = kIntoTurns ? plane.from_step : 16;
  const int64_t into_step = kIntoTurns ? 16 : plane.into_step;
  switch (rows) {
    case 2: shuffle_turns<kBytes, 2, kIntoTurns>(plane.from, from_step, plane.into, into_step, count); break;
    case 3: shuffle_turns<kBytes, 3, kIntoTurns>(plane.from, from_step, plane.into, into_step, count); break;
    case 4: shuffle_turns<kBytes, 4, kIntoTurns>(plane.from, from_step, plane.into, into_step, count); break;
    default: return 0;
  }
  return count * kCount;
}

}  // namespace
}  // namespace lathe
