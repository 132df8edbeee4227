// Squares of elements transposed in vector registers. Everything here is private to the including file, so
// that no processor meets code that was compiled for another.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace lathe {
namespace {

// A vector is a row of lanes of 16 bytes. `load` fills each lane from another row; `low` and `high` take
// elements in turns from the lower or upper halves of two vectors' lanes; `read` and `store` are of
// neighbours at any address, `gather` of a lane from each of so many places, `stream` is a store past the
// caches at a multiple of the vector's size.
struct Lanes1 {
  using Vector = __m128i;
  static constexpr int64_t kLanes = 1;
  static Vector load(const char* from, int64_t) {
    return _mm_loadu_si128(reinterpret_cast<const Vector*>(from));
  }
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
  static Vector gather(const char* from, const int64_t* offsets) {
    return load(from + offsets[0], offsets[1] - offsets[0]);
  }
  static Vector read(const char* from) { return _mm256_loadu_si256(reinterpret_cast<const Vector*>(from)); }
  static void stream(char* into, Vector value) {
    _mm256_stream_si256(reinterpret_cast<Vector*>(into), value);
  }
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
  static Vector gather(const char* from, const int64_t* offsets) {
    const Vector one = _mm512_castsi256_si512(Lanes2::gather(from, offsets));
    return _mm512_inserti64x4(one, Lanes2::gather(from, offsets + 2), 1);
  }
  static Vector read(const char* from) { return _mm512_loadu_si512(from); }
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

// A tile's rows of where it goes, in registers.
template <class Lanes, int kBytes>
inline void load_tile(const char* from, int64_t from_step,
                      typename Lanes::Vector (&vectors)[lane_elements(kBytes)]) {
  constexpr int64_t kCount = lane_elements(kBytes);
#pragma GCC unroll 16
  for (int64_t i = 0; i < kCount; ++i) vectors[i] = Lanes::load(from + i * from_step, kCount * from_step);
  transpose_vectors<Lanes, kBytes>(vectors);
}

template <class Lanes, int kBytes>
inline void transpose_tile(const char* from, int64_t from_step, char* into, int64_t into_step) {
  constexpr int64_t kCount = lane_elements(kBytes);
  typename Lanes::Vector vectors[kCount];
  load_tile<Lanes, kBytes>(from, from_step, vectors);
#pragma GCC unroll 16
  for (int64_t i = 0; i < kCount; ++i) Lanes::store(into + i * into_step, vectors[i]);
}

#ifdef __AVX512BW__
using Widest = Lanes4;
#else
using Widest = Lanes2;
#endif

}  // namespace
}  // namespace lathe
