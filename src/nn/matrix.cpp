#include "nn/matrix.h"

#include <cstring>

#include "base/check.h"

namespace lathe::nn {
namespace {

// Where `a` of a product is walked: its rows, or its columns where it is transposed.
struct Walk {
  const float* from = nullptr;
  size_t row = 0;   // to the next row of the result
  size_t term = 0;  // to the next term of its sums
  size_t terms = 0;
};

template <class Vector>
constexpr size_t kLanes = sizeof(Vector) / sizeof(float);

// c[rows][2 vectors] += a b of `rows` rows of the result. The sum of an element takes its terms in order,
// multiplied and then added, whatever the vectors: so that a search is the same on every machine. (matrix.cpp
// is compiled without fused multiply-adds.)
template <class Vector, size_t rows>
[[gnu::always_inline]] inline void add_tile(const Walk& a, const float* b, size_t columns, float* c) {
  Vector sums[rows][2];
  for (size_t i = 0; i < rows; ++i)
    for (size_t v = 0; v < 2; ++v)
      std::memcpy(&sums[i][v], c + i * columns + v * kLanes<Vector>, sizeof(Vector));
  for (size_t p = 0; p < a.terms; ++p) {
    Vector first;
    Vector second;
    std::memcpy(&first, b + p * columns, sizeof(Vector));
    std::memcpy(&second, b + p * columns + kLanes<Vector>, sizeof(Vector));
    for (size_t i = 0; i < rows; ++i) {
      const float factor = a.from[i * a.row + p * a.term];
      sums[i][0] += factor * first;
      sums[i][1] += factor * second;
    }
  }
  for (size_t i = 0; i < rows; ++i)
    for (size_t v = 0; v < 2; ++v)
      std::memcpy(c + i * columns + v * kLanes<Vector>, &sums[i][v], sizeof(Vector));
}

template <size_t rows>
[[gnu::always_inline]] inline void add_single(const Walk& a, const float* b, size_t columns, float* c) {
  for (size_t i = 0; i < rows; ++i) {
    float sum = c[i * columns];
    for (size_t p = 0; p < a.terms; ++p) sum += a.from[i * a.row + p * a.term] * b[p * columns];
    c[i * columns] = sum;
  }
}

template <class Vector, size_t rows>
[[gnu::always_inline]] inline void add_rows(const Walk& a, const Matrix& b, float* c) {
  constexpr size_t kTile = 2 * kLanes<Vector>;
  size_t j = 0;
  for (; j + kTile <= b.columns; j += kTile) add_tile<Vector, rows>(a, b.values.data() + j, b.columns, c + j);
  for (; j < b.columns; ++j) add_single<rows>(a, b.values.data() + j, b.columns, c + j);
}

template <class Vector>
[[gnu::always_inline]] inline void add_all(Walk a, const Matrix& b, Matrix& c) {
  constexpr size_t kRows = 4;  // of the result at once: each row of b that is read serves so many
  size_t i = 0;
  for (; i + kRows <= c.rows; i += kRows, a.from += kRows * a.row) add_rows<Vector, kRows>(a, b, c.row(i));
  for (; i < c.rows; ++i, a.from += a.row) add_rows<Vector, 1>(a, b, c.row(i));
}

using Add = void (*)(Walk, const Matrix&, Matrix&);
using Vector16 [[gnu::vector_size(16)]] = float;
void add_by_16(Walk a, const Matrix& b, Matrix& c) { add_all<Vector16>(a, b, c); }

#ifdef __x86_64__
using Vector32 [[gnu::vector_size(32)]] = float;
using Vector64 [[gnu::vector_size(64)]] = float;
[[gnu::target("avx2")]] void add_by_32(Walk a, const Matrix& b, Matrix& c) { add_all<Vector32>(a, b, c); }
[[gnu::target("avx512f")]] void add_by_64(Walk a, const Matrix& b, Matrix& c) { add_all<Vector64>(a, b, c); }
#endif

Add widest() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return add_by_64;
  if (__builtin_cpu_supports("avx2")) return add_by_32;
#endif
  return add_by_16;
}

void add(const Walk& a, const Matrix& b, Matrix& c) {
  static const Add by_widest = widest();
  by_widest(a, b, c);
}

}  // namespace

void add_product(const Matrix& a, const Matrix& b, Matrix& c) {
  LATHE_CHECK(a.columns == b.rows && c.rows == a.rows && c.columns == b.columns);
  add({a.values.data(), a.columns, 1, a.columns}, b, c);
}

void add_product_of_transposed(const Matrix& a, const Matrix& b, Matrix& c) {
  LATHE_CHECK(a.rows == b.rows && c.rows == a.columns && c.columns == b.columns);
  add({a.values.data(), 1, a.columns, a.rows}, b, c);
}

void add_product_with_transposed(const Matrix& a, const Matrix& b, Matrix& c) {
  LATHE_CHECK(a.columns == b.columns && c.rows == a.rows && c.columns == b.rows);
  Matrix turned = Matrix::zeros(b.columns, b.rows);
  for (size_t i = 0; i < b.rows; ++i)
    for (size_t j = 0; j < b.columns; ++j) turned.row(j)[i] = b.row(i)[j];
  add_product(a, turned, c);
}

}  // namespace lathe::nn
