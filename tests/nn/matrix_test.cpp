#include "nn/matrix.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "nn/gradients.h"

namespace lathe::nn {
namespace {

Matrix transposed(const Matrix& matrix) {
  Matrix turned = Matrix::zeros(matrix.columns, matrix.rows);
  for (size_t i = 0; i < matrix.rows; ++i)
    for (size_t j = 0; j < matrix.columns; ++j) turned.row(j)[i] = matrix.row(i)[j];
  return turned;
}

double element(const Matrix& a, const Matrix& b, size_t i, size_t j) {
  double sum = 0;
  for (size_t k = 0; k < a.columns; ++k)
    sum += static_cast<double>(a.row(i)[k]) * static_cast<double>(b.row(k)[j]);
  return sum;
}

// Of sizes that no block of rows divides.
TEST(Matrix, ProductsAddWhatTheirDefinitionSays) {
  Rng rng(1);
  for (const auto& [m, k, n] : {std::tuple(1, 1, 1), std::tuple(3, 5, 7), std::tuple(9, 17, 33)}) {
    const Matrix a = random_matrix(m, k, rng);
    const Matrix b = random_matrix(k, n, rng);
    const Matrix start = random_matrix(m, n, rng);
    Matrix plain = start;
    Matrix of_transposed = start;
    Matrix with_transposed = start;
    add_product(a, b, plain);
    add_product_of_transposed(transposed(a), b, of_transposed);
    add_product_with_transposed(a, transposed(b), with_transposed);
    for (size_t i = 0; i < plain.rows; ++i) {
      for (size_t j = 0; j < plain.columns; ++j) {
        const double expected = static_cast<double>(start.row(i)[j]) + element(a, b, i, j);
        EXPECT_NEAR(static_cast<double>(plain.row(i)[j]), expected, 1e-5);
        EXPECT_NEAR(static_cast<double>(of_transposed.row(i)[j]), expected, 1e-5);
        EXPECT_NEAR(static_cast<double>(with_transposed.row(i)[j]), expected, 1e-5);
      }
    }
  }
}

TEST(Matrix, ShapesThatDoNotFitAreOurBug) {
  Matrix result = Matrix::zeros(2, 2);
  EXPECT_THROW(add_product(Matrix::zeros(2, 3), Matrix::zeros(2, 2), result), InternalError);
}

}  // namespace
}  // namespace lathe::nn
