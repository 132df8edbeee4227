// Lowered programs written by hand: for tests of code generators that need no lowering.
#pragma once

#include <string>
#include <vector>

#include "lower/lower.h"

namespace lathe::testing {

class LoweredBuilder {
 public:
  Tensor input(const std::string& name, int64_t elements, DType dtype = DType::f32);
  Tensor output(const std::string& name, int64_t elements, DType dtype = DType::f32);
  Tensor prepared(const std::string& name, int64_t elements);
  // A buffer in that arena; `scoped` makes its Alloc.
  Tensor buffer(const std::string& name, int64_t elements, Arena arena);
  // Another buffer on the same bytes.
  Tensor overlapping(const std::string& name, const Tensor& other);
  Stmt scoped(const Tensor& tensor, Stmt body) const;
  void main(Stmt stmt) { lowered_.program.main = std::move(stmt); }
  void prepare(Stmt stmt) { lowered_.program.prepare = std::move(stmt); }
  const LoweredProgram& lowered() const { return lowered_; }

 private:
  Tensor argument(const std::string& name, int64_t elements, DType dtype, bool is_output);
  LoweredProgram lowered_;
};

Stmt loop(const Var& var, Affine extent, Stmt body, LoopKind kind = LoopKind::serial);
Stmt store(const Tensor& tensor, Affine offset, Expr value);
Stmt vector_store(const Tensor& tensor, Affine offset, Expr value, int64_t stride = 1, Expr mask = {});
Expr vector_load(const Tensor& tensor, Affine offset, int lanes, int64_t stride = 1, Expr mask = {});
Expr ramp(Affine base, int lanes, int64_t stride = 1);
// The lanes whose number from `first` on is below `bound`.
Expr lanes_below(Affine first, int64_t bound, int lanes);

// C[M, N] = A[M, K] * B[K, N]; B comes packed in panels of `vectors * lanes` columns. The register tile is
// rows x vectors, the reduction loop rolled; tails of rows are a smaller tile, of columns a masked store.
// `parallel` makes the loop over panels parallel.
struct GemmShape {
  int64_t m, n, k;
  int rows, vectors, lanes;
  bool parallel = false;
};
LoweredProgram gemm(const GemmShape& shape);
// The offset of B[r, j] in its panels.
int64_t packed_offset(const GemmShape& shape, int64_t r, int64_t j);

}  // namespace lathe::testing
