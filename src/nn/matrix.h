// Dense matrices of single precision, row after row, and the products that forward and backward passes
// consist of. One thread; sums are taken in one order on every machine of the same vectors.
#pragma once

#include <cstddef>
#include <vector>

namespace lathe::nn {

struct Matrix {
  size_t rows = 0;
  size_t columns = 0;
  std::vector<float> values;  // rows * columns

  static Matrix zeros(size_t rows, size_t columns) {
    return {rows, columns, std::vector<float>(rows * columns)};
  }
  float* row(size_t i) { return values.data() + i * columns; }
  const float* row(size_t i) const { return values.data() + i * columns; }
};

// c += a b;  [m, k] [k, n] -> [m, n].
void add_product(const Matrix& a, const Matrix& b, Matrix& c);
// c += a^T b;  [k, m] [k, n] -> [m, n].
void add_product_of_transposed(const Matrix& a, const Matrix& b, Matrix& c);
// c += a b^T;  [m, k] [n, k] -> [m, n].
void add_product_with_transposed(const Matrix& a, const Matrix& b, Matrix& c);

}  // namespace lathe::nn
