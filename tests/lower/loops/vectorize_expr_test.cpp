// Expressions over the iterations of a vector loop, as vectors.
#include "lower/loops/vectorize_expr.h"

#include "expr/print.h"
#include "lower/golden.h"

namespace lathe::testing {
namespace {

// A loop o in 4 around a vector loop l of 8 lanes; A has 40 elements, R 8 in registers.
class VectorizeExpr : public ::testing::Test {
 protected:
  VectorizeExpr() {
    known_.enter({o_, {Affine(4)}, LoopKind::serial, nullptr});
    sizes_.add({r_, Scope::registers, Layout::row_major(1), nullptr});
  }

  // "scalar" or the vector's text; where no lane counts, `mask` says so.
  std::string visit(const Expr& e, const Expr& mask = {}) {
    ExprVectorizer vectorizer(lanes_, sizes_, known_);
    const std::optional<Expr> value = vectorizer.visit(e, mask);
    unsafe_ = vectorizer.has_unsafe_scalar();
    return value ? to_string(*value) : "none";
  }
  Expr below(const Affine& value, int64_t bound) const { return lanes_.below(value, bound).value(); }
  Expr at(const Tensor& tensor, const Affine& offset) const { return load(tensor, {offset}); }

  const Var o_{"o"};
  const Var l_{"l"};
  const Tensor a_{"A", {40}, DType::f32};
  const Tensor r_{"R", {8}, DType::f32};
  const Lanes lanes_{l_, 8};
  StorageSizes sizes_{Program()};
  Known known_;
  bool unsafe_ = false;
};

TEST_F(VectorizeExpr, Offsets) {
  const auto offset = lanes_.split(Affine(o_) * 16 + Affine(l_) * 2 + 3);
  ASSERT_TRUE(offset.has_value());
  EXPECT_EQ(to_string(offset->base), "16*o + 3");
  EXPECT_EQ(offset->stride, 2);
  EXPECT_EQ(lanes_.split(Affine(o_))->stride, 0);
  EXPECT_FALSE(lanes_.split(floor_div(Affine(l_), 3)).has_value());
  EXPECT_FALSE(lanes_.split(modulo(Affine(l_) + Affine(o_), 3)).has_value());
}

TEST_F(VectorizeExpr, Masks) {
  EXPECT_EQ(to_string(below(Affine(o_) * 8 + Affine(l_), 29)), "ramp(8*o, 1, 8) < broadcast(29, 8)");
  EXPECT_FALSE(lanes_.below(floor_div(Affine(l_), 3), 2).has_value());
}

// Neighbours, strided and falling ones; what the lanes share stays a scalar.
TEST_F(VectorizeExpr, Loads) {
  EXPECT_EQ(visit(at(a_, Affine(o_) * 8 + Affine(l_))), "A[8*o; 8 by 1]");
  EXPECT_EQ(visit(at(a_, Affine(l_) * 3 + 1)), "A[1; 8 by 3]");
  EXPECT_EQ(visit(at(a_, Affine(l_) * -1 + 7)), "A[7; 8 by -1]");
  EXPECT_EQ(visit(at(a_, Affine(o_))), "A[o]");
  EXPECT_EQ(visit(at(a_, floor_div(Affine(l_), 2))), "none");
}

// A mask is kept where lanes that do not count may leave the buffer, and only there.
TEST_F(VectorizeExpr, LoadsUnderAMask) {
  const Expr mask = below(Affine(l_), 5);
  EXPECT_EQ(visit(at(a_, Affine(o_) * 8 + Affine(l_)), mask), "A[8*o; 8 by 1]");
  EXPECT_EQ(visit(at(a_, Affine(o_) * 8 + Affine(l_) + 9), mask),
            "A[8*o + 9; 8 by 1 if ramp(0, 1, 8) < broadcast(5, 8)]");
  EXPECT_EQ(visit(at(a_, Affine(l_) * -1 + 6), mask), "A[6; 8 by -1 if ramp(0, 1, 8) < broadcast(5, 8)]");
  // Registers have room for the tile's lanes.
  EXPECT_EQ(visit(at(r_, Affine(l_) + 4), mask), "R[4; 8 by 1]");
  EXPECT_FALSE(unsafe_);
  // A scalar has no lanes to leave out: its user must guard it.
  EXPECT_EQ(visit(at(a_, Affine(o_) * 20), mask), "A[20*o]");
  EXPECT_TRUE(unsafe_);
  EXPECT_EQ(visit(at(a_, Affine(o_)), mask), "A[o]");
  EXPECT_FALSE(unsafe_);
}

// Scalars are widened where they meet vectors, and where they do not stay as they are.
TEST_F(VectorizeExpr, Operations) {
  const Expr vector = at(a_, Affine(l_));
  const Expr scalar = at(a_, Affine(o_));
  EXPECT_EQ(visit(vector * scalar + Expr(2.0)), "A[0; 8 by 1] * broadcast(A[o], 8) + broadcast(2.0, 8)");
  EXPECT_EQ(visit(scalar * scalar), "A[o] * A[o]");
  EXPECT_EQ(visit(exp(vector)), "exp(A[0; 8 by 1])");
  EXPECT_EQ(visit(cast({DType::f64, 1}, vector)), "f64(A[0; 8 by 1])");
  EXPECT_EQ(visit(Expr(Affine(l_) * 2 + 1)), "ramp(1, 2, 8)");
  EXPECT_EQ(visit(Expr(Affine(o_))), "o");
}

// A condition that differs between lanes masks what it chooses between; one that does not stays a scalar's.
TEST_F(VectorizeExpr, Selects) {
  const Expr near = at(a_, Affine(l_) + 30);
  const Expr far = at(a_, Affine(l_) + 36);
  EXPECT_EQ(visit(select(Expr(l_) < Expr(3), far, near)),
            "select(ramp(0, 1, 8) < broadcast(3, 8), A[36; 8 by 1 if ramp(0, 1, 8) < broadcast(3, 8)], A[30; "
            "8 by 1])");
  EXPECT_EQ(visit(select(Expr(o_) < Expr(3), near, Expr(0.0))),
            "select(o < 3, A[30; 8 by 1], broadcast(0.0, 8))");
  // What a select keeps out may lie beyond the registers, too.
  EXPECT_EQ(visit(select(Expr(l_) < Expr(4), at(r_, Affine(l_) + 4), Expr(0.0))),
            "select(ramp(0, 1, 8) < broadcast(4, 8), R[4; 8 by 1 if ramp(0, 1, 8) < broadcast(4, 8)], "
            "broadcast(0.0, 8))");
  // A scalar that only some lanes may read cannot be read for all.
  EXPECT_EQ(visit(select(Expr(l_) < Expr(3), at(a_, Affine(o_) * 20), Expr(0.0))), "none");
}

}  // namespace
}  // namespace lathe::testing
